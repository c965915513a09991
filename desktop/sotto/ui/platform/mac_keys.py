"""A global shortcut on macOS, by Carbon: the one call for keys that asks the person for no permission.

It is plain C, so ctypes is enough for it.
"""

import ctypes
from collections.abc import Callable, Mapping
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_int32, c_uint8, c_uint16, c_uint32, c_ulong, c_void_p

from PySide6.QtCore import Qt

from sotto.ui.toolkit.translation import tr

# With what it loads in turn: Core Foundation, too.
_CARBON = "/System/Library/Frameworks/Carbon.framework/Carbon"
_Modifier = Qt.KeyboardModifier
# Qt calls the command key Control, and the control key Meta.
_MODIFIERS = (
    (_Modifier.ControlModifier, 0x0100),
    (_Modifier.ShiftModifier, 0x0200),
    (_Modifier.AltModifier, 0x0800),
    (_Modifier.MetaModifier, 0x1000),
)
# What is on the keys of an American keyboard, by their numbers.
_LETTERS = "asdfhgzxcv\0bqweryt123465=97-80]ou[ip\0lj'k;\\,/nm.\0 `"
_CODES = {letter: code for code, letter in enumerate(_LETTERS) if letter != "\0"} | {"\r": 36, "\t": 48}
_NAMED = {Qt.Key.Key_Return: "\r", Qt.Key.Key_Tab: "\t"}
_KEYBOARD, _HOT_KEY_PRESSED = int.from_bytes(b"keyb"), 5
_SIGNATURE = int.from_bytes(b"Stto")
# Of `UCKeyTranslate`: what a key shows, without waiting for a letter after an accent.
_SHOWN, _NO_ACCENTS = 3, 1


class _EventType(Structure):
    _fields_ = (("event_class", c_uint32), ("kind", c_uint32))


class _HotKey(Structure):
    _fields_ = (("signature", c_uint32), ("id", c_uint32))


_Handler = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)


def code(key: int, layout: Mapping[str, int] = _CODES) -> int | None:
    """Return the number of a key of Qt's on a keyboard; None for one that is not known here.

    Args:
        key: The key.
        layout: The numbers of the keys, by what they type.
    """
    letter = next((letter for known, letter in _NAMED.items() if known == key), "")
    return layout.get(letter or (chr(key).lower() if key < 0x80 else ""))


class MacKeys:
    """A key that the system sends here and nowhere else."""

    def __init__(self, pressed: Callable[[], object]) -> None:
        """Call `pressed` when it is."""
        self._pressed = pressed
        self._carbon = carbon = _load()
        self._target = carbon.GetApplicationEventTarget()
        self._taken = c_void_p()
        # Kept: the system calls it as long as the app runs.
        self._handler = _Handler(self._handle)
        kind = _EventType(_KEYBOARD, _HOT_KEY_PRESSED)
        carbon.InstallEventHandler(self._target, self._handler, 1, byref(kind), None, None)

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Take a key with modifiers; return nothing, or a sentence with a place for the keys that says why not."""
        number = code(key, _CODES | _layout(self._carbon))
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


def _load() -> ctypes.CDLL:
    """Return Carbon with the types of what is called here."""
    carbon = ctypes.CDLL(_CARBON)
    carbon.GetApplicationEventTarget.restype = c_void_p
    carbon.InstallEventHandler.argtypes = [
        *(c_void_p, _Handler, c_ulong),
        *(POINTER(_EventType), c_void_p, c_void_p),
    ]
    carbon.RegisterEventHotKey.argtypes = [c_uint32, c_uint32, _HotKey, c_void_p, c_uint32, POINTER(c_void_p)]
    carbon.UnregisterEventHotKey.argtypes = [c_void_p]
    carbon.TISCopyCurrentASCIICapableKeyboardLayoutInputSource.restype = c_void_p
    carbon.TISGetInputSourceProperty.argtypes = [c_void_p, c_void_p]
    carbon.TISGetInputSourceProperty.restype = c_void_p
    carbon.CFDataGetBytePtr.argtypes = [c_void_p]
    carbon.CFDataGetBytePtr.restype = c_void_p
    carbon.CFRelease.argtypes = [c_void_p]
    carbon.CFRelease.restype = None
    carbon.LMGetKbdType.restype = c_uint8
    carbon.UCKeyTranslate.argtypes = [
        *(c_void_p, c_uint16, c_uint16, c_uint32, c_uint32, c_uint32),
        *(POINTER(c_uint32), c_ulong, POINTER(c_ulong), POINTER(c_uint16)),
    ]
    return carbon


def _layout(carbon: ctypes.CDLL) -> dict[str, int]:
    """Return the numbers of the person's keys by what they type, or nothing if the layout cannot be read.

    Of people who also write without Latin letters, it is the layout for those.
    """
    source = carbon.TISCopyCurrentASCIICapableKeyboardLayoutInputSource()
    if not source:
        return {}
    try:
        name = c_void_p.in_dll(carbon, "kTISPropertyUnicodeKeyLayoutData")
        data = carbon.TISGetInputSourceProperty(source, name)
        found: dict[str, int] = {}
        typed, length, accent = (c_uint16 * 4)(), c_ulong(), c_uint32()
        for number in range(len(_LETTERS) if data else 0):
            status = carbon.UCKeyTranslate(
                *(carbon.CFDataGetBytePtr(data), number, _SHOWN, 0, carbon.LMGetKbdType(), _NO_ACCENTS),
                *(byref(accent), len(typed), byref(length), typed),
            )
            if status == 0 and length.value == 1:
                found.setdefault(chr(typed[0]), number)
        return found
    finally:
        carbon.CFRelease(source)
