"""A screen for programs on a Debian in a folder, and pictures of it."""

import struct
from pathlib import Path

from PySide6.QtGui import QImage

from bare_debian import Debian

# Starts a screen, and then a program for some seconds; the screen's content is a file.
ON_A_SCREEN = """
export DISPLAY=:7 XDG_RUNTIME_DIR=/tmp/runtime
mkdir -p -m 700 $XDG_RUNTIME_DIR /tmp/screen
rm -f /tmp/.X7-lock /tmp/.X11-unix/X7
Xvfb :7 -screen 0 1280x900x24 -fbdir /tmp/screen > /tmp/screen/log 2>&1 &
for _ in $(seq 200); do [ -S /tmp/.X11-unix/X7 ] && break; sleep 0.1; done
[ -S /tmp/.X11-unix/X7 ] || {{ cat /tmp/screen/log >&2; exit 1; }}
{command} > /tmp/said 2>&1 &
sleep 10
xwininfo -root -tree
cp /tmp/screen/Xvfb_screen0 /tmp/picture.xwd
cat /tmp/said >&2
test ! -s /tmp/said
"""


def picture(debian: Debian, target: Path) -> QImage:
    """Return what was on the screen, which is an X window dump, and keep it as a PNG."""
    content = (debian.root / "tmp" / "picture.xwd").read_bytes()
    header = struct.unpack(">25I", content[:100])
    start = header[0] + 12 * header[19]
    image = QImage(content[start:], header[4], header[5], header[12], QImage.Format.Format_RGB32).copy()
    assert image.save(str(target))
    return image


def colours(image: QImage) -> int:
    """Return how many colours some of the picture's points have."""
    return len({image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)})
