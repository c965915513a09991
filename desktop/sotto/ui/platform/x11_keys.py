"""Global shortcuts on an X server."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier, Qt, Slot

from sotto.ui.platform.xcb import Server
from sotto.ui.toolkit.translation import tr

_Modifier = Qt.KeyboardModifier
_MODIFIERS = (
    (_Modifier.ShiftModifier, 1),
    (_Modifier.ControlModifier, 4),
    (_Modifier.AltModifier, 8),
    (_Modifier.MetaModifier, 64),
)
# Without locks, with Caps Lock, with Num Lock, and with both: to the server these are different shortcuts.
_LOCKS = (0, 2, 16, 18)
_F1 = 0xFFBE
_SYMBOLS = {
    Qt.Key.Key_Backspace: 0xFF08,
    Qt.Key.Key_Tab: 0xFF09,
    Qt.Key.Key_Return: 0xFF0D,
    Qt.Key.Key_Pause: 0xFF13,
    Qt.Key.Key_Escape: 0xFF1B,
    Qt.Key.Key_Home: 0xFF50,
    Qt.Key.Key_Left: 0xFF51,
    Qt.Key.Key_Up: 0xFF52,
    Qt.Key.Key_Right: 0xFF53,
    Qt.Key.Key_Down: 0xFF54,
    Qt.Key.Key_PageUp: 0xFF55,
    Qt.Key.Key_PageDown: 0xFF56,
    Qt.Key.Key_End: 0xFF57,
    Qt.Key.Key_Print: 0xFF61,
    Qt.Key.Key_Insert: 0xFF63,
    Qt.Key.Key_Menu: 0xFF67,
    Qt.Key.Key_Enter: 0xFF8D,
    Qt.Key.Key_Delete: 0xFFFF,
}


def symbol(key: int) -> int:
    """Return the keysym of a Qt key; 0 where X11 has none."""
    if key < 0x100:
        return ord(chr(key).lower())
    if Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35:
        return _F1 + key - Qt.Key.Key_F1
    return next((number for known, number in _SYMBOLS.items() if known == key), 0)


class X11Keys(QObject):
    """A shortcut that the server sends to this program alone."""

    def __init__(self, pressed: Callable[[], object], parent: QObject) -> None:
        """Call `pressed` whenever the shortcut is pressed.

        Raises:
            OSError: There is no X server.
        """
        super().__init__(parent)
        self._pressed = pressed
        self._server = Server()
        self._grabbed: list[tuple[int, int]] = []
        self._released = -1
        self._notifier = QSocketNotifier(self._server.descriptor, QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._look)

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Register a key with modifiers; see `Keys.take`."""
        codes = self._server.codes(symbol(key)) if symbol(key) else []
        if not codes:
            return tr("There is no {keys} on this keyboard: choose other keys for the quick prompt.")
        mask = sum(bit for modifier, bit in _MODIFIERS if modifiers & modifier)
        for code in codes:
            for locks in _LOCKS:
                if not self._server.grab(code, mask | locks):
                    self.release()
                    return tr(
                        "{keys} is already used by another program: choose another shortcut for the quick prompt."
                    )
                self._grabbed.append((code, mask | locks))
        return ""

    def release(self) -> None:
        """Unregister it."""
        for code, mask in self._grabbed:
            self._server.ungrab(code, mask)
        self._grabbed.clear()

    @Slot()
    def _look(self) -> None:
        for down, when in self._server.presses():
            if not down:
                self._released = when
            elif when != self._released:
                # Auto-repeat releases a held key and presses it again at the same time stamp.
                self._pressed()
