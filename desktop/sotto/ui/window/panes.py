"""The central widget: the sidebar beside the pane in view, or over it as a drawer where there is no room for both."""

from collections.abc import Callable

import shiboken6
from PySide6.QtCore import Property, QEasingCurve, QPropertyAnimation, QRect, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget

from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.toolkit import motion, theme
from sotto.ui.toolkit.pane import Pane
from sotto.ui.window.sidebar import Sidebar

# Width that a pane needs beside the sidebar, at 13 px text.
_PANE_WIDTH = 470
# Width of the pane that stays visible beside the drawer.
_UNCOVERED = 48
_SLIDE_MS = 160
_SHADE_ALPHA = 110
# The stretch factors limit the sidebar to 9/20 of the width; otherwise it has the width that it asks for.
_SIDEBAR_STRETCH, _PANE_STRETCH = 9, 11


class Panes(QWidget):
    """Shows the sidebar and one of the panes.

    The user hides and shows the sidebar. Where it is a drawer, that is closed by Esc, by a click beside it, and by
    whatever moves the focus into the pane.

    Signals:
        pane_changed: Another pane has come into view (`Pane`).

    Attributes:
        pane: The pane in view.
        drawer_open: Whether the sidebar is over the pane.
    """

    pane_changed = Signal(object)

    def __init__(self, sidebar: Sidebar, chat: Pane, preferences: PreferenceStore) -> None:
        """Show the sidebar and the chat.

        Args:
            sidebar: The sidebar.
            chat: The pane that is in view unless another one is wanted.
            preferences: Say whether the sidebar is hidden, and store it.
        """
        super().__init__()
        self._sidebar, self._chat, self._preferences = sidebar, chat, preferences
        self.pane = chat
        self.drawer_open = self._narrow = False
        # What had the focus before the drawer was opened.
        self._before: QWidget | None = None
        # How far the drawer is out, from 0 to 1.
        self._reach = 0.0
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addWidget(sidebar, _SIDEBAR_STRETCH)
        self._shade = _Shade(self)
        self._slide = QPropertyAnimation(self, b"reach", self)
        self._slide.setDuration(_SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._add(chat)
        sidebar.hide_button.clicked.connect(self.toggle_sidebar)
        sidebar.left.connect(self.leave_sidebar)
        preferences.changed.connect(self._arrange)
        theme.current().changed.connect(self._arrange)
        QApplication.instance().focusChanged.connect(self._close_unfocused)  # type: ignore[union-attr]
        self._arrange()

    # Panes

    def _add(self, pane: Pane) -> None:
        self._layout.addWidget(pane, _PANE_STRETCH)
        pane.sidebar_button.clicked.connect(self.show_sidebar)

    def show_pane(self, pane: Pane) -> None:
        """Bring a pane into view, with the focus, and close the drawer."""
        if pane is not self.pane:
            if self._layout.indexOf(pane) < 0:
                self._add(pane)
            self.pane.hide()
            self.pane = pane
            pane.show()
            self._arrange()
            self.pane_changed.emit(pane)
        self._set_open(False)
        pane.take_focus()

    def show_chat(self) -> None:
        """Bring the chat into view, unless it is in view already, and close the drawer."""
        if self.pane is not self._chat or self.drawer_open:
            self.show_pane(self._chat)

    def in_chat(self, act: Callable[[], object]) -> Callable[[], None]:
        """Return a function that does something in the chat, which comes into view first."""

        def show_and_act() -> None:
            self.show_chat()
            act()

        return show_and_act

    def step_back(self) -> bool:
        """Close the drawer, or what is open in the pane, or leave the pane; return whether there was anything."""
        if self.drawer_open:
            self.close_drawer()
            return True
        return self.pane.step_back()

    # The sidebar

    def toggle_sidebar(self) -> None:
        """Hide the sidebar, or show it again."""
        if self._narrow and self.drawer_open:
            self.close_drawer()
        elif self._narrow or self._preferences.values.sidebar_hidden:
            self.search()
        else:
            self._preferences.change(sidebar_hidden=True)
            self.pane.take_focus()

    def show_sidebar(self) -> None:
        """Show the sidebar; as a drawer, it takes the focus."""
        if not self._narrow:
            self._preferences.change(sidebar_hidden=False)
        elif not self.drawer_open:
            self._before = QApplication.focusWidget()
            self._set_open(True)
            self._sidebar.search.setFocus()

    def search(self) -> None:
        """Let the user search the chats and models."""
        self.show_sidebar()
        self._sidebar.search.setFocus()

    def show_models(self) -> None:
        """Bring the list of models into view."""
        self.show_sidebar()
        self._sidebar.sections.unfold("models")

    def go_to_models(self) -> None:
        """Move the focus to the list of models."""
        self.show_models()
        self._sidebar.models.focus_selected()

    def leave_sidebar(self) -> None:
        """Move the focus from the sidebar to the pane."""
        self._set_open(False)
        self.pane.take_focus()

    def close_drawer(self) -> None:
        """Close the drawer, and return the focus to where it was before."""
        before = self._before
        self._set_open(False)
        if before is not None and shiboken6.isValid(before) and before.isVisible() and self.pane.isAncestorOf(before):
            before.setFocus()
        else:
            self.pane.take_focus()

    def _set_open(self, open_: bool) -> None:
        if open_ == self.drawer_open:
            return
        self.drawer_open = open_
        if open_:
            self._arrange()
            for widget in (self._shade, self._sidebar):
                widget.raise_()
        else:
            self._before = None
        self._slide.stop()
        if motion.is_reduced():
            self._set_reach(float(open_))
        else:
            self._slide.setEndValue(float(open_))
            self._slide.start()

    def _close_unfocused(self, before: QWidget | None, now: QWidget | None) -> None:
        if self.drawer_open and now is not None and self.pane.isAncestorOf(now):
            self._set_open(False)

    # Geometry

    def _get_reach(self) -> float:
        return self._reach

    def _set_reach(self, reach: float) -> None:
        self._reach = reach
        self._arrange()

    reach = Property(float, _get_reach, _set_reach)

    def _arrange(self) -> None:
        """Put the sidebar beside the pane, or over it."""
        wanted = self._sidebar.maximumWidth()
        narrow = self.width() < wanted + max(_PANE_WIDTH, theme.current().scaled(_PANE_WIDTH))
        if narrow != self._narrow:
            self._set_narrow(narrow)
        if narrow:
            out = self.drawer_open or self._reach > 0
            width = min(wanted, self.width() - _UNCOVERED)
            left = round((self._reach - 1) * width)
            if self.isRightToLeft():
                left = self.width() - width - left
            self._sidebar.setGeometry(QRect(left, 0, width, self.height()))
            self._shade.show_strength(self._reach)
            self._shade.setGeometry(self.rect())
            self._shade.setVisible(out)
            self._sidebar.setVisible(out)
        else:
            self._sidebar.setHidden(self._preferences.values.sidebar_hidden)
        self.pane.sidebar_button.setVisible(narrow or self._sidebar.isHidden())

    def _set_narrow(self, narrow: bool) -> None:
        focus = QApplication.focusWidget()
        self._slide.stop()
        self._narrow, self._reach = narrow, 0.0
        self.drawer_open, self._before = False, None
        self._shade.hide()
        if narrow:
            self._layout.removeWidget(self._sidebar)
            if focus is not None and self._sidebar.isAncestorOf(focus):
                self.pane.take_focus()
        else:
            self._layout.insertWidget(0, self._sidebar, _SIDEBAR_STRETCH)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the sidebar where there is room for it."""
        super().resizeEvent(event)
        self._arrange()


class _Shade(QWidget):
    """Darkens the pane beside the drawer, which a click closes."""

    def __init__(self, panes: Panes) -> None:
        super().__init__(panes)
        self._panes, self._strength = panes, 0.0
        self.hide()

    def show_strength(self, strength: float) -> None:
        self._strength = strength
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(0, 0, 0, round(_SHADE_ALPHA * self._strength)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._panes.close_drawer()
