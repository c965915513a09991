"""What the window needs from a Linux system, and the Debian packages that contain it: libraries and fonts."""

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass

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
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""Further libraries for windows on an X display."""


@dataclass(frozen=True, slots=True)
class _Script:
    """Letters or symbols that need a font of their own.

    Attributes:
        name: What they are.
        sample: A few of them, which old fonts lack.
        package: The Debian package of a font that has them.
    """

    name: str
    sample: str
    package: str


_SCRIPTS = (
    _Script("emoji", "🚀🎉🤖", "fonts-noto-color-emoji"),
    _Script("Chinese, Japanese and Korean", "漢か한", "fonts-noto-cjk"),
)


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


def fonts() -> str:
    """Return one line about the fonts of this machine; empty where that is unknown, or is of no concern."""
    # Other systems bring such fonts.
    if not sys.platform.startswith("linux"):
        return ""
    try:
        has = _fontconfig()
    except OSError:
        return ""
    lacking = [script for script in _SCRIPTS if not all(map(has, script.sample))]
    if not lacking:
        return ", ".join(script.name for script in _SCRIPTS)
    names = " or for ".join(script.name for script in lacking)
    return f"no font for {names}: {install_line([script.package for script in lacking])}"


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _fontconfig() -> Callable[[str], bool]:
    """Return a function that says whether any font has a character.

    Raises:
        OSError: Fontconfig is not installed.
    """
    library = ctypes.CDLL("libfontconfig.so.1")
    for name in ("FcPatternCreate", "FcCharSetCreate", "FcObjectSetCreate", "FcFontList"):
        getattr(library, name).restype = ctypes.c_void_p

    def has(char: str) -> bool:
        pattern, chars, objects = (
            ctypes.c_void_p(make())
            for make in (library.FcPatternCreate, library.FcCharSetCreate, library.FcObjectSetCreate)
        )
        library.FcCharSetAddChar(chars, ord(char))
        library.FcPatternAddCharSet(pattern, b"charset", chars)
        found = ctypes.c_void_p(library.FcFontList(None, pattern, objects))
        # The first field of the list is its length.
        count = ctypes.cast(found, ctypes.POINTER(ctypes.c_int))[0] if found else 0
        if found:
            library.FcFontSetDestroy(found)
        library.FcObjectSetDestroy(objects)
        library.FcCharSetDestroy(chars)
        library.FcPatternDestroy(pattern)
        return count > 0

    return has
