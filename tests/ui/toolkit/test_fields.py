"""Fields for numbers and for text look alike, and their text keeps clear of the border."""

import pytest
from PySide6.QtCore import Qt

from sotto.ui.toolkit.form_rows import ValueField
from sotto.ui.toolkit.number import Inherited, Number, Origin
from sotto.ui.toolkit.number_field import NumberField

PORT = Number("port", "Port", 1, 65535, 1, 0, "A port", "Default")


def unset():
    return NumberField(PORT)


def inherited():
    field = NumberField(PORT)
    field.show_inherited(Inherited(8888, Origin.MODEL, "8888"))
    return field


def placeholder():
    field = ValueField("Address", str)
    field.setPlaceholderText("Default")
    return field


def filled():
    field = ValueField("Address", str)
    field.show_text("8888")
    return field


def ink(field):
    """Return the first and the last column with text, as distances from the nearer edge."""
    image = field.grab().toImage()
    ground = image.pixelColor(image.width() // 2, 4)
    columns = [
        x
        for x in range(3, image.width() - 3)
        if any(image.pixelColor(x, y) != ground for y in range(5, image.height() - 5))
    ]
    return columns[0], image.width() - 1 - columns[-1]


@pytest.mark.parametrize("zoom", [1.0, 2.0])
@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_text_keeps_clear_of_the_border(qtbot, dressed, directed, direction, zoom):
    directed(direction)
    dressed.set_appearance("light", zoom)
    gaps, heights = [], set()
    for make in (unset, inherited, placeholder, filled):
        field = make()
        qtbot.addWidget(field)
        field.resize(200, field.sizeHint().height())
        field.ensurePolished()
        gaps.append(min(ink(field)))
        heights.add(field.sizeHint().height())
    assert min(gaps) >= 10
    assert max(gaps) <= 20
    assert len(heights) == 1
