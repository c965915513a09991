"""Fields for numbers and for text look alike, and their text keeps clear of the border."""

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.ui.toolkit.form_rows import ValueField
from sotto.ui.toolkit.number import Inherited, Number, Origin
from sotto.ui.toolkit.number_field import NumberField
from sotto.ui.toolkit.paged_window import PagedWindow
from sotto.ui.toolkit.widgets import Label

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


@pytest.fixture
def spoken():
    """Yield a function that sets the conventions for numbers, and restore them."""
    yield lambda code: QLocale.setDefault(QLocale(code))
    QLocale.setDefault(QLocale.system())


@pytest.mark.parametrize(
    ("code", "shown", "typed"),
    [
        ("en", "32,768", ["32,768", "32768", "32 768"]),
        ("de", "32.768", ["32.768", "32768"]),
        ("fr", "32\u202f768", ["32 768", "32\u202f768"]),
        ("de_CH", f"32{QLocale('de_CH').groupSeparator()}768", ["32'768", "32’768"]),
    ],
)
def test_thousands_are_separated_as_in_the_language(qtbot, dressed, spoken, code, shown, typed):
    spoken(code)
    field = NumberField(Number("context", "Context", 1, 10**6, 1, 0, "In tokens"))
    qtbot.addWidget(field)
    field.show_number(32768)
    assert field.text() == shown
    for text in typed:
        field.show_number(None)
        field.setValue(field.valueFromText(text))
        assert (field.number, field.text()) == (32768, shown)
    # Not in what is rather a name.
    port = NumberField(Number("port", "Port", 1, 65535, 1, 0, "A port", grouped=False))
    qtbot.addWidget(port)
    port.show_number(11434)
    assert port.text() == "11434"


@pytest.mark.parametrize("code", ["en", "de"])
def test_decimal_places_are_no_thousands(qtbot, dressed, spoken, code):
    spoken(code)
    field = NumberField(Number("share", "Share", 0, 2, 0.01, 3, "A share"))
    qtbot.addWidget(field)
    for text in ("1,125", "1.125"):
        assert field.valueFromText(text) == 1.125


def test_a_number_and_its_unit_stay_in_one_line(qtbot, dressed):
    label = Label("at 82.6 tok/s, 15.8 GB of 34 MB/s and 30 %, in 2 min", wrap=True)
    qtbot.addWidget(label)
    assert label.text() == "at 82.6 tok/s, 15.8 GB of 34 MB/s and 30 %, in 2 min"
    one_line = Label("82.6 tok/s", wrap=True)
    qtbot.addWidget(one_line)
    assert one_line.heightForWidth(one_line.sizeHint().width() // 2) == one_line.heightForWidth(400)


class _Window(PagedWindow):
    """A window with a page."""

    def show_page(self, row):
        """Show nothing."""


def test_a_window_gets_its_width_back_with_its_text_size(qtbot, dressed):
    parent = QWidget()
    qtbot.addWidget(parent)
    window = _Window(parent, "Pages", ["one"], (620, 400), 500)
    window.list.addItem("One")
    content = QWidget()
    QVBoxLayout(content).addWidget(Label("Text"))
    window.set_content(content)
    window.open()
    before = window.width()
    dressed.set_appearance("light", 2.0)
    assert window.width() > before
    dressed.set_appearance("light", 1.0)
    assert window.width() == before
    # What the person chose meanwhile stays.
    dressed.set_appearance("light", 2.0)
    window.resize(1100, 500)
    dressed.set_appearance("light", 1.0)
    assert window.width() == 1100
