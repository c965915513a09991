"""Let a panel have the keyboard on macOS while the program before it stays the active one."""

import ctypes
import ctypes.util
from ctypes import c_ulong, c_void_p

_NON_ACTIVATING = 1 << 7


def keep_others_active(view: int) -> None:
    """Give the window of a view, which is a panel, the style that activates nothing."""
    objc = ctypes.CDLL(ctypes.util.find_library("objc"))
    objc.sel_registerName.restype, objc.sel_registerName.argtypes = c_void_p, [ctypes.c_char_p]
    address = ctypes.cast(objc.objc_msgSend, c_void_p).value
    assert address is not None
    window = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p)(address)(view, objc.sel_registerName(b"window"))
    style = ctypes.CFUNCTYPE(c_ulong, c_void_p, c_void_p)(address)(window, objc.sel_registerName(b"styleMask"))
    ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_ulong)(address)(
        window, objc.sel_registerName(b"setStyleMask:"), style | _NON_ACTIVATING
    )
