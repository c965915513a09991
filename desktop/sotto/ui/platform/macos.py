"""What macOS alone does: keys of a program's own, and panels that leave the program before them active.

Carbon's call for keys is the one that asks the person for no permission; it is plain C, so ctypes is enough for it.
"""

import ctypes
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_int32, c_uint32, c_ulong, c_void_p

from PySide6.QtCore import Qt

from sotto.ui.toolkit.translation import tr

_CARBON = "/System/Library/Frameworks/Carbon.framework/Carbon"
_Modifier = Qt.KeyboardModifier
# Qt calls the command key Control, and the control key Meta.
_MODIFIERS = (
    (_Modifier.ControlModifier, 0x0100),
    (_Modifier.ShiftModifier, 0x0200),
    (_Modifier.AltModifier, 0x0800),
    (_Modifier.MetaModifier, 0x1000),
)
_LETTERS = "asdfhgzxcv\0bqweryt123465=97-80]ou[ip\0lj'k;\\,/nm.\0 `"
_CODES = {letter: code for code, letter in enumerate(_LETTERS) if letter != "\0"} | {"\r": 36, "\t": 48}
_NAMED = {Qt.Key.Key_Return: "\r", Qt.Key.Key_Tab: "\t"}
_KEYBOARD, _HOT_KEY_PRESSED = int.from_bytes(b"keyb"), 5
_SIGNATURE = int.from_bytes(b"Stto")
# `NSWindowStyleMaskNonactivatingPanel`
_NON_ACTIVATING = 1 << 7


class _EventType(Structure):
    _fields_ = (("event_class", c_uint32), ("kind", c_uint32))


class _HotKey(Structure):
    _fields_ = (("signature", c_uint32), ("id", c_uint32))


_Handler = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)


def code(key: int) -> int | None:
    """Return the number of a key of Qt's on an Apple keyboard; None for one that is not known here."""
    named = next((letter for known, letter in _NAMED.items() if known == key), "")
    return _CODES.get(named or (chr(key).lower() if key < 0x80 else ""))


def keep_others_active(view: int) -> None:
    """Let a panel have the keyboard while the program before it stays the active one.

    Args:
        view: The address of the panel's NSView, as Qt's `winId` gives it.
    """
    from rubicon.objc.runtime import objc_id, send_message
    from rubicon.objc.types import NSUInteger

    window = send_message(objc_id(view), "window", restype=objc_id, argtypes=[])
    style = send_message(window, "styleMask", restype=NSUInteger, argtypes=[])
    send_message(window, "setStyleMask:", style | _NON_ACTIVATING, restype=None, argtypes=[NSUInteger])


class MacKeys:
    """A key that the system sends here and nowhere else."""

    def __init__(self, pressed: Callable[[], object]) -> None:
        """Call `pressed` when it is."""
        self._pressed = pressed
        self._carbon = carbon = ctypes.CDLL(_CARBON)
        carbon.GetApplicationEventTarget.restype = c_void_p
        carbon.InstallEventHandler.argtypes = [
            *(c_void_p, _Handler, c_ulong),
            *(POINTER(_EventType), c_void_p, c_void_p),
        ]
        carbon.RegisterEventHotKey.argtypes = [c_uint32, c_uint32, _HotKey, c_void_p, c_uint32, POINTER(c_void_p)]
        carbon.UnregisterEventHotKey.argtypes = [c_void_p]
        self._target = carbon.GetApplicationEventTarget()
        self._taken = c_void_p()
        # Kept: the system calls it as long as the app runs.
        self._handler = _Handler(self._handle)
        kind = _EventType(_KEYBOARD, _HOT_KEY_PRESSED)
        carbon.InstallEventHandler(self._target, self._handler, 1, byref(kind), None, None)

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Take a key with modifiers; return nothing, or a sentence with a place for the keys that says why not."""
        number = code(key)
        if number is None:
            return tr("{keys} cannot be taken: choose a letter, a digit or Space with Cmd, Ctrl or Option.")
        mask = sum(bit for modifier, bit in _MODIFIERS if modifiers & modifier)
        status = self._carbon.RegisterEventHotKey(
            number, mask, _HotKey(_SIGNATURE, 1), self._target, 0, byref(self._taken)
        )
        if status != 0:
            self._taken = c_void_p()
            return tr("{keys} is already used by another program: choose another shortcut for the quick prompt.")
        return ""

    def release(self) -> None:
        """Give it back."""
        if self._taken:
            self._carbon.UnregisterEventHotKey(self._taken)
            self._taken = c_void_p()

    def _handle(self, chain: int, event: int, data: int) -> int:
        self._pressed()
        return 0
