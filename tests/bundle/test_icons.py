"""The app icon's bitmaps, which are drawn from one drawing."""

import struct

import pytest
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer

import icons

# Edges are smoothed a little differently by each version of Qt.
MOST_DIFFERENCE = 24


@pytest.fixture
def renderer(qapp):
    return QSvgRenderer(str(icons.ICONS / "sotto.svg"))


def pixels(image):
    return bytes(image.convertToFormat(QImage.Format.Format_RGBA8888).constBits())


@pytest.mark.parametrize("size", icons.LINUX_SIZES)
def test_bitmaps_are_those_of_the_drawing(renderer, size):
    drawn, there = QImage.fromData(icons.png(renderer, size)), QImage(str(icons.ICONS / f"sotto-{size}.png"))
    assert (drawn.width(), drawn.height()) == (there.width(), there.height()) == (size, size)
    assert max(abs(one - other) for one, other in zip(pixels(drawn), pixels(there), strict=True)) <= MOST_DIFFERENCE


def test_every_chunk_of_the_icon_for_macos_is_a_picture_of_its_size(renderer):
    content = icons.icns(renderer)
    assert (content[:4], struct.unpack(">I", content[4:8])) == (b"icns", (len(content),))
    at, found = 8, {}
    while at < len(content):
        name, length = struct.unpack(">4sI", content[at : at + 8])
        found[name] = QImage.fromData(content[at + 8 : at + length]).width()
        at += length
    assert found == icons.ICNS_SIZES
