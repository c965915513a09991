"""The global shortcut of the quick prompt, where the system lets a program have one."""

import os
import sys
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence

from sotto.ui.platform.shortcut_messages import BIND
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_Modifier = Qt.KeyboardModifier


class Keys(Protocol):
    """How a system grants a program a global shortcut."""

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Register a key with modifiers.

        Returns:
            Empty on success, else a sentence that says why not, with the placeholder `{keys}`.
        """

    def release(self) -> None:
        """Unregister it."""


class GlobalShortcut(QObject):
    """The global shortcut of the quick prompt.

    Signals:
        pressed: The person pressed it; the activation token for the compositor, or empty.
        changed: `problem` or `note` has changed.

    Attributes:
        problem: Why the shortcut does not work; empty where it does, or where none is wanted.
        note: What to know about it where the desktop decides on the keys; empty elsewhere.
    """

    pressed = Signal(str)
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Start without a shortcut, and ask nothing of the system."""
        super().__init__(parent)
        self.problem = self.note = ""
        self._wanted = ""
        self._tasks: AsyncTasks | None = None
        self._keys: Keys | None = None

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to wait for desktops that have to be asked."""
        self._tasks = tasks

    @property
    def certain(self) -> str:
        """The keys, where it is certain that exactly these are in force; else empty."""
        return "" if self.problem or self.note else self._wanted

    def set_keys(self, wanted: str) -> None:
        """Change the keys, written as `Ctrl+Alt+Space`; empty for none."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self.close()
        self.problem = self.note = ""
        self.problem = self._take(wanted) if wanted else ""
        self.changed.emit()

    def close(self) -> None:
        """Unregister the shortcut."""
        if self._keys is not None:
            self._keys.release()

    def _tell(self, problem: str, note: str) -> None:
        """Record what the desktop has decided."""
        state = problem.format(keys=self._wanted), note
        if state != (self.problem, self.note):
            self.problem, self.note = state
            self.changed.emit()

    def _take(self, wanted: str) -> str:
        sequence = QKeySequence.fromString(wanted, QKeySequence.SequenceFormat.PortableText)
        pressed: QKeyCombination | None = sequence[0] if sequence.count() == 1 else None  # type: ignore[index]
        if pressed is None or pressed.key() == Qt.Key.Key_unknown:
            return tr("{keys} is not a key that could be pressed: write it as Ctrl+Alt+Space.").format(keys=wanted)
        key, modifiers = pressed.key(), pressed.keyboardModifiers()
        if not modifiers & ~_Modifier.ShiftModifier and not Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35:
            return tr(
                "{keys} alone would stop working in all other programs: combine it with Ctrl, Alt or Meta."
            ).format(keys=wanted)
        if self._keys is None:
            self._keys = self._of_system()
        if self._keys is None:
            return tr(BIND).format(keys=wanted)
        return self._keys.take(key.value, modifiers).format(keys=wanted)

    def _press(self) -> None:
        self.pressed.emit("")

    def _of_system(self) -> Keys | None:
        """Return how this system grants shortcuts; None where programs cannot have any."""
        if _wayland():
            if self._tasks is None:
                return None
            from sotto.ui.platform.portal_keys import PortalKeys

            return PortalKeys(self._tasks, self.pressed.emit, self._tell)
        if QGuiApplication.platformName() == "xcb":
            from sotto.ui.platform.x11_keys import X11Keys

            try:
                return X11Keys(self._press, self)
            except OSError:
                return None
        if sys.platform == "darwin":
            from sotto.ui.platform.mac_keys import MacKeys

            return MacKeys(self._press)
        return None


def _wayland() -> bool:
    """Return whether a Wayland compositor owns the keyboard; X11 clients only get their own keys there."""
    return QGuiApplication.platformName().startswith("wayland") or bool(os.environ.get("WAYLAND_DISPLAY"))
