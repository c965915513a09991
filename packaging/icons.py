"""Draw the app icon's bitmaps from `resources/icons/sotto.svg`: PNGs for Linux and one ICNS for macOS.

Run it after changing the drawing: `python packaging/icons.py`.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ICONS = Path(__file__).resolve().parent.parent / "resources" / "icons"
LINUX_SIZES = (16, 32, 64, 128, 256, 512)
# Chunk names of Apple's icon container, each a PNG of this many pixels.
ICNS_SIZES = {
    b"icp4": 16,
    b"icp5": 32,
    b"ic07": 128,
    b"ic08": 256,
    b"ic09": 512,
    b"ic10": 1024,
    b"ic11": 32,
    b"ic12": 64,
    b"ic13": 256,
    b"ic14": 512,
}


def png(renderer: QSvgRenderer, size: int) -> bytes:
    """Return the drawing as a square PNG of `size` pixels."""
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # The format as bytes, which is what the types ask for, is refused.
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(content.data())


def icns(renderer: QSvgRenderer) -> bytes:
    """Return an ICNS file, whose chunks are a name, the length of the chunk including these 8 bytes, and a PNG."""
    chunks = b""
    for name, size in ICNS_SIZES.items():
        content = png(renderer, size)
        chunks += name + struct.pack(">I", len(content) + 8) + content
    return b"icns" + struct.pack(">I", len(chunks) + 8) + chunks


def main() -> int:
    """Write every bitmap beside the drawing, and return 0."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication([])
    renderer = QSvgRenderer(str(ICONS / "sotto.svg"))
    for size in LINUX_SIZES:
        (ICONS / f"sotto-{size}.png").write_bytes(png(renderer, size))
    (ICONS / "sotto.icns").write_bytes(icns(renderer))
    del application
    return 0


if __name__ == "__main__":
    sys.exit(main())
