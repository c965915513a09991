"""Shows the buttons of a message only while the pointer or the keyboard is at it, without moving anything."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QMenu, QWidget

from sotto.ui.toolkit.widgets import IconButton

_EVENTS = (QEvent.Type.Enter, QEvent.Type.Leave, QEvent.Type.FocusIn, QEvent.Type.FocusOut)


class MessageActions(QObject):
    """The buttons of a message. They are only not drawn: the keyboard and screen readers reach them at any time."""

    def __init__(self, message: QWidget, buttons: Sequence[IconButton]) -> None:
        """Show `buttons` while the pointer is over `message`, which owns this object, or one of them has the focus."""
        super().__init__(message)
        self._message, self._buttons = message, buttons
        self._always = self._held = False
        for widget in (message, *buttons):
            widget.installEventFilter(self)
        self._update()

    @property
    def shown(self) -> bool:
        """Whether the buttons are drawn."""
        at_it = self._message.underMouse() or any(button.hasFocus() for button in self._buttons)
        return self._always or self._held or at_it

    def show_always(self, always: bool) -> None:
        """Show the buttons whether or not the pointer is there, as for the last message."""
        self._always = always
        self._update()

    def show_during(self, menu: QMenu) -> None:
        """Show the buttons as long as a menu of the message is open."""
        self._held = True
        self._update()
        menu.aboutToHide.connect(self._release)

    def _release(self) -> None:
        self._held = False
        self._update()

    def _update(self) -> None:
        for button in self._buttons:
            button.set_veiled(not self.shown)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the pointer and the focus."""
        if event.type() in _EVENTS:
            self._update()
        return super().eventFilter(watched, event)
