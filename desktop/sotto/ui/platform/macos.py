"""What macOS alone does with windows: panels that leave the program before them active, and the icon in the Dock."""

from ctypes import c_bool

# `NSWindowStyleMaskNonactivatingPanel`
_NON_ACTIVATING = 1 << 7
# `NSApplicationActivationPolicyRegular` and `NSApplicationActivationPolicyAccessory`
_REGULAR, _ACCESSORY = 0, 1


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


def show_in_dock(shown: bool) -> None:
    """Give the app its icon in the Dock, its menus and its place in ⌘-Tab, or take them away.

    The system draws the menus of an app that comes back only once it is activated.
    """
    from rubicon.objc.runtime import get_class, objc_id, send_message
    from rubicon.objc.types import NSInteger

    app = send_message(get_class("NSApplication"), "sharedApplication", restype=objc_id, argtypes=[])
    policy = _REGULAR if shown else _ACCESSORY
    send_message(app, "setActivationPolicy:", policy, restype=c_bool, argtypes=[NSInteger])
    if shown:
        send_message(app, "activateIgnoringOtherApps:", True, restype=None, argtypes=[c_bool])
