"""The app icon's bitmaps, which are drawn from one drawing."""

import struct

import pytest
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer

import icons


@pytest.fixture
def renderer(qapp):
    return QSvgRenderer(str(icons.ICONS / "sotto.svg"))


@pytest.mark.parametrize("size", icons.LINUX_SIZES)
def test_bitmaps_are_those_of_the_drawing(renderer, size):
    drawn = QImage.fromData(icons.png(renderer, size))
    assert (drawn.width(), drawn.height()) == (size, size)
    assert drawn == QImage(str(icons.ICONS / f"sotto-{size}.png"))


def test_every_chunk_of_the_icon_for_macos_is_a_picture_of_its_size(renderer):
    content = icons.icns(renderer)
    assert (content[:4], struct.unpack(">I", content[4:8])) == (b"icns", (len(content),))
    at, found = 8, {}
    while at < len(content):
        name, length = struct.unpack(">4sI", content[at : at + 8])
        found[name] = QImage.fromData(content[at + 8 : at + length]).width()
        at += length
    assert found == icons.ICNS_SIZES
