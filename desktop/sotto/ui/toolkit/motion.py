"""Whether things may move by themselves. One place asks the system; tests put another answer into `provider`."""

import ctypes
import ctypes.util
import functools
import sys
from collections.abc import Callable

from PySide6.QtGui import QGuiApplication


def system_wants_less() -> bool:
    """Tell whether the person asked the system for less motion."""
    hints = QGuiApplication.styleHints()  # kept in a variable: what hangs on it goes when its wrapper goes
    accessibility = hints.accessibility() if hasattr(hints, "accessibility") else None
    preference = getattr(accessibility, "motionPreference", None)  # from Qt 6.12 on
    if preference is not None:
        return getattr(preference(), "name", "NoPreference") != "NoPreference"
    return sys.platform == "darwin" and _mac_wants_less()


provider: Callable[[], bool] = system_wants_less
"""What is asked."""


def is_reduced() -> bool:
    """Tell whether nothing is to move by itself."""
    return provider()


def _mac_wants_less() -> bool:
    objc = _objc()
    if objc is None:
        return False
    send = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(("objc_msgSend", objc))
    asks = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)(("objc_msgSend", objc))
    workspace = send(objc.objc_getClass(b"NSWorkspace"), objc.sel_registerName(b"sharedWorkspace"))
    return bool(asks(workspace, objc.sel_registerName(b"accessibilityDisplayShouldReduceMotion")))


@functools.cache
def _objc() -> ctypes.CDLL | None:
    """Return the runtime of Objective-C; AppKit is there already, as Qt draws with it."""
    path = ctypes.util.find_library("objc")
    if path is None:
        return None
    objc = ctypes.CDLL(path)
    for name in ("objc_getClass", "sel_registerName"):
        getattr(objc, name).restype = ctypes.c_void_p
        getattr(objc, name).argtypes = [ctypes.c_char_p]
    return objc
