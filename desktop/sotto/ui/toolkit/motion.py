"""Whether animations are allowed; tests replace `provider`."""

import sys
from collections.abc import Callable

from PySide6.QtGui import QGuiApplication


def system_reduces_motion() -> bool:
    """Return whether the user has set the system to reduce motion."""
    # WORKAROUND: kept in a variable, because PySide6 destroys what belongs to the wrapper together with it.
    hints = QGuiApplication.styleHints()
    accessibility = hints.accessibility() if hasattr(hints, "accessibility") else None
    preference = getattr(accessibility, "motionPreference", None)  # from Qt 6.12 on
    if preference is not None:
        return getattr(preference(), "name", "NoPreference") != "NoPreference"
    return sys.platform == "darwin" and _mac_reduces_motion()


provider: Callable[[], bool] = system_reduces_motion
"""Returns whether motion should be reduced."""


def is_reduced() -> bool:
    """Return whether animations should be left out."""
    return provider()


def _mac_reduces_motion() -> bool:
    # Qt has loaded AppKit already.
    from ctypes import c_bool

    from rubicon.objc.runtime import get_class, objc_id, send_message

    workspace = send_message(get_class("NSWorkspace"), "sharedWorkspace", restype=objc_id, argtypes=[])
    return bool(send_message(workspace, "accessibilityDisplayShouldReduceMotion", restype=c_bool, argtypes=[]))
