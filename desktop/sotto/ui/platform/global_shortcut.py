"""Keys that the quick prompt answers to wherever a person is, where the system lets a program have such keys."""

import os
import sys
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence

from sotto.ui.platform.shortcut_messages import BIND

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import Flows

_Modifier = Qt.KeyboardModifier


class Keys(Protocol):
    """A system's way to let a program have keys."""

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Take a key with modifiers; return nothing, or a sentence with a place for the keys that says why not."""

    def release(self) -> None:
        """Give it back."""


class GlobalShortcut(QObject):
    """The keys of the quick prompt.

    Signals:
        pressed: The person has pressed them; with what proves that to a compositor, or an empty text.
        changed: What is told of them is something else now.

    Attributes:
        problem: Why they are not in force; empty where they are, or where none are wanted.
        note: What to know about them where it is the desktop that decides on them; empty elsewhere.
    """

    pressed = Signal(str)
    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin without keys; nothing is asked of the system."""
        super().__init__(parent)
        self.problem = self.note = ""
        self._wanted = ""
        self._flows: Flows | None = None
        self._keys: Keys | None = None

    def begin(self, flows: "Flows") -> None:
        """Wait on `flows` for a desktop that has to be asked."""
        self._flows = flows

    @property
    def certain(self) -> str:
        """The keys, where it is known that these and no others are in force."""
        return "" if self.problem or self.note else self._wanted

    def set_keys(self, wanted: str) -> None:
        """Answer to other keys, written as `Ctrl+Alt+Space`, or to none."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self.close()
        self.problem = self.note = ""
        self.problem = self._take(wanted) if wanted else ""
        self.changed.emit()

    def close(self) -> None:
        """Give the keys back."""
        if self._keys is not None:
            self._keys.release()

    def _tell(self, problem: str, note: str) -> None:
        """Take note of what the desktop has decided."""
        told = problem.format(keys=self._wanted), note
        if told != (self.problem, self.note):
            self.problem, self.note = told
            self.changed.emit()

    def _take(self, wanted: str) -> str:
        sequence = QKeySequence.fromString(wanted, QKeySequence.SequenceFormat.PortableText)
        pressed: QKeyCombination | None = sequence[0] if sequence.count() == 1 else None  # type: ignore[index]
        if pressed is None or pressed.key() == Qt.Key.Key_unknown:
            return f"{wanted} is no key that could be pressed: write it as Ctrl+Alt+Space."
        key, modifiers = pressed.key(), pressed.keyboardModifiers()
        if not modifiers & ~_Modifier.ShiftModifier and not Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35:
            return f"{wanted} alone would be lost to every other program: hold Ctrl, Alt or Meta with it."
        if self._keys is None:
            self._keys = self._of_system()
        if self._keys is None:
            return BIND.format(keys=wanted)
        return self._keys.take(key.value, modifiers).format(keys=wanted)

    def _press(self) -> None:
        self.pressed.emit("")

    def _of_system(self) -> Keys | None:
        """Return what this system has; None where programs cannot have keys."""
        if _wayland():
            if self._flows is None:
                return None
            from sotto.ui.platform.portal_keys import PortalKeys

            return PortalKeys(self._flows, self.pressed.emit, self._tell)
        if QGuiApplication.platformName() == "xcb":
            from sotto.ui.platform.x11_keys import X11Keys

            try:
                return X11Keys(self._press, self)
            except OSError:
                return None
        if sys.platform == "darwin":
            from sotto.ui.platform.macos import MacKeys

            return MacKeys(self._press)
        return None


def _wayland() -> bool:
    """Tell whether a Wayland compositor has the keyboard; through X11 nothing is heard there of keys for others."""
    return QGuiApplication.platformName().startswith("wayland") or bool(os.environ.get("WAYLAND_DISPLAY"))
