"""Keys that the quick prompt answers to wherever a person is, where the system lets a program have such keys."""

import sys
from typing import Protocol

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence

_Modifier = Qt.KeyboardModifier
_BIND = (
    "Programs cannot have keys of their own here: bind `sotto --toggle` to {keys} in the settings of your desktop, "
    "which does the same."
)


class Keys(Protocol):
    """A system's way to let a program have keys."""

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Take a key with modifiers; return nothing, or a sentence with a place for the keys that says why not."""

    def release(self) -> None:
        """Give it back."""


class GlobalShortcut(QObject):
    """The keys of the quick prompt.

    Signals:
        pressed: The person has pressed them.

    Attributes:
        problem: Why they are not in force; empty where they are, or where none are wanted.
    """

    pressed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin without keys; nothing is asked of the system."""
        super().__init__(parent)
        self.problem = ""
        self._wanted = ""
        self._keys: Keys | None = None

    def set_keys(self, wanted: str) -> bool:
        """Answer to other keys, written as `Ctrl+Alt+Space`, or to none; return whether something changed."""
        if wanted == self._wanted:
            return False
        self._wanted = wanted
        self.close()
        self.problem = self._take(wanted) if wanted else ""
        return True

    def close(self) -> None:
        """Give the keys back."""
        if self._keys is not None:
            self._keys.release()

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
            return _BIND.format(keys=wanted)
        return self._keys.take(key.value, modifiers).format(keys=wanted)

    def _of_system(self) -> Keys | None:
        """Return what this system has; None where programs cannot have keys, as on Wayland."""
        if QGuiApplication.platformName() == "xcb":
            from sotto.ui.x11_keys import X11Keys

            try:
                return X11Keys(self.pressed.emit, self)
            except OSError:
                return None
        if sys.platform == "darwin":
            from sotto.ui.mac_keys import MacKeys

            return MacKeys(self.pressed.emit)
        return None
