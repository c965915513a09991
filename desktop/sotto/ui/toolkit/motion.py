"""Whether things may move by themselves. One place asks the system; tests put another answer into `provider`."""

import sys
from collections.abc import Callable

from PySide6.QtGui import QGuiApplication


def system_wants_less() -> bool:
    """Return whether the person asked the system for less motion."""
    hints = QGuiApplication.styleHints()  # kept in a variable: what hangs on it goes when its wrapper goes
    accessibility = hints.accessibility() if hasattr(hints, "accessibility") else None
    preference = getattr(accessibility, "motionPreference", None)  # from Qt 6.12 on
    if preference is not None:
        return getattr(preference(), "name", "NoPreference") != "NoPreference"
    return sys.platform == "darwin" and _mac_wants_less()


provider: Callable[[], bool] = system_wants_less
"""What is asked."""


def is_reduced() -> bool:
    """Return whether nothing is to move by itself."""
    return provider()


def _mac_wants_less() -> bool:
    # AppKit is there already: Qt draws with it.
    from ctypes import c_bool

    from rubicon.objc.runtime import get_class, objc_id, send_message

    workspace = send_message(get_class("NSWorkspace"), "sharedWorkspace", restype=objc_id, argtypes=[])
    return bool(send_message(workspace, "accessibilityDisplayShouldReduceMotion", restype=c_bool, argtypes=[]))
