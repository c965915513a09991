"""The system libraries that Qt's wheels need on Linux, and the Debian packages that contain them."""

import ctypes
import sys

DRAWING = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""Libraries for drawing, with or without a display: file to package."""

WINDOWS = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""Further libraries for windows on an X display."""


def missing(*, windows: bool) -> dict[str, str]:
    """Return the libraries that cannot be loaded here, each with its Debian package.

    Args:
        windows: Whether real windows are needed, not only offscreen drawing.
    """
    if not sys.platform.startswith("linux"):
        return {}
    wanted = DRAWING | WINDOWS if windows else DRAWING
    return {library: package for library, package in wanted.items() if not _loads(library)}


def install_line(packages: list[str]) -> str:
    """Return the command that installs `packages` on Debian and Ubuntu."""
    return "sudo apt-get install --no-install-recommends " + " ".join(packages)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
