"""The window in a language that is written from right to left, and texts in such a language in any window."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider

from pseudo_language import RIGHT_TO_LEFT
from sotto.chats.chat_records import Role, State, Turn
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts
from sotto.ui.toolkit import icons, theme
from sotto.ui.toolkit.style_sheet import mirrored
from sotto.ui.toolkit.translation import figure, isolated
from sotto.ui.toolkit.widgets import ElidedLabel, Label
from sotto.ui.transcript.user_message import UserMessage

ARABIC = "كيف حالك؟"


@pytest.fixture
def spoken(speak, right_to_left, qapp):
    assert speak(RIGHT_TO_LEFT, folder=right_to_left) == RIGHT_TO_LEFT
    assert qapp.layoutDirection() is Qt.LayoutDirection.RightToLeft


@pytest.fixture
def shown(qtbot, destroyed):
    """Return a function that shows a widget of a size, and destroys it after the test."""
    made = []

    def show(widget, width, height):
        made.append(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)
        return widget

    yield show
    destroyed(*made)


def inked(widget):
    """Return the rectangle of what a widget draws on its ground."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    empty = image.pixelColor(0, 0)
    found = QRect()
    for y in range(image.height()):
        for x in range(image.width()):
            if image.pixelColor(x, y) != empty:
                found |= QRect(x, y, 1, 1)
    return found


def place(widget, window):
    return QRect(widget.mapTo(window, QPoint()), widget.size())


def test_the_window_is_mirrored(spoken, around, qtbot, loop):
    around.load(qtbot)
    window = around.shell.window
    around.shell.open_window()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: window.sidebar.isVisible() and window.width() == 1280)
    chat, composer = place(window.chat, window), window.chat.composer
    assert place(window.sidebar, window).left() >= chat.right()
    attach = place(composer.clip, window)
    assert place(composer.button, window).right() < attach.left()
    row = window.models.panel.rows[0]
    assert row.isRightToLeft()
    window.models.open_page()
    page = window.models.page
    qtbot.waitUntil(page.back.isVisible)
    assert place(page.back, window).left() > place(page.get, window).right()
    # What is docked at the end has its line at its beginning.
    assert "border-left" in theme.current()._app.styleSheet().split("#sidebar {")[1].split("}")[0]


def test_icons_with_a_direction_are_mirrored(qapp, directed):
    def drawn(name):
        image = QImage(40, 40, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(0)
        painter = QPainter(image)
        icons.paint(painter, name, "#000000", QRect(0, 0, 40, 40).toRectF())
        painter.end()
        return image

    names = ("left", "right", "sidebar", "card", "sort", "arrow-up", "search", "command", "play")
    before = {name: drawn(name) for name in names}
    buttons = {name: icons.icon(name, "#000000").cacheKey() for name in names}
    directed(Qt.LayoutDirection.RightToLeft)
    turned = {name for name in names if drawn(name) != before[name]}
    assert turned == {"left", "right", "sidebar", "card", "sort"}
    assert {name for name in names if icons.icon(name, "#000000").cacheKey() != buttons[name]} == turned
    one, other = drawn("left"), before["right"]
    places = [(x, y) for x in range(40) for y in range(40)]
    assert max(abs(one.pixelColor(*at).alpha() - other.pixelColor(*at).alpha()) for at in places) <= 8


def test_figures_stay_whole_and_lines_begin_at_the_right(spoken):
    assert wording.size(4_700_000_000) == "\u20664.7 GB\u2069"
    assert join_facts((wording.size(10**6), "", "8-bit")) == "\u200f\u2068\u20661.0 MB\u2069\u2069 · \u20688-bit\u2069"
    assert join_facts(()) == ""
    assert isolated("What?") == "\u2068What?\u2069"


def test_other_languages_have_no_marks(qapp):
    assert (figure("4.7 GB"), isolated("What?"), join_facts(("a", "b"))) == ("4.7 GB", "What?", "a · b")


def test_the_style_sheet_is_mirrored():
    sheet = "a { padding: 5px 24px 5px 12px; margin: 1px 2px; border-left: 1px; } QSlider::sub-page:horizontal { }"
    assert mirrored(sheet) == (
        "a { padding: 5px 12px 5px 24px; margin: 1px 2px; border-right: 1px; } QSlider::add-page:horizontal { }"
    )
    assert mirrored(mirrored(sheet)) == sheet


def test_a_slider_is_filled_from_the_right(spoken, dressed, shown):
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(0, 100)
    slider.setValue(25)
    shown(slider, 200, 30)
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    style = slider.style()
    handle = style.subControlRect(QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider)
    assert handle.left() > 100
    image, tokens = slider.grab().toImage(), theme.current().tokens
    assert image.pixelColor(195, 15) == QColor(tokens.accent)
    assert image.pixelColor(20, 15) == QColor(tokens.track)


@pytest.mark.parametrize("kind", [Label, ElidedLabel])
@pytest.mark.parametrize("text", ["~/models/a", "نص"])
def test_every_text_begins_at_the_right(spoken, dressed, shown, kind, text):
    found = inked(shown(kind(text), 300, 30))
    assert found.left() > 200
    assert found.right() >= 290


def test_the_path_keeps_its_direction(spoken, dressed, shown):
    mark = inked(shown(ElidedLabel("/............................................"), 300, 30))
    image = shown(ElidedLabel("/" + "." * 44), 300, 30).grab().toImage()
    heights = [y for y in range(image.height()) if image.pixelColor(mark.left() + 2, y) != image.pixelColor(0, 0)]
    assert len(heights) > 3, "the slash is at the left of the dots"


def test_a_question_stays_in_its_bubble(dressed, shown, qtbot):
    message = shown(UserMessage(Turn(1, None, Role.USER, ARABIC, State.COMPLETE, 1.7e9)), 600, 120)
    before = inked(message.text)
    assert before.width() > 30
    message.resize(700, 120)
    assert inked(message.text) == before


@pytest.mark.parametrize(("text", "at_right"), [(f"> {ARABIC}", True), ("> How are you?", False)])
def test_the_bar_of_a_quotation_is_where_its_words_begin(dressed, shown, text, at_right):
    view = MarkdownText()
    view.append_markdown(text)
    view.finish()
    shown(view, 400, 60)
    (region,) = view.regions.found
    bar = view.frame_of(region)
    image, middle = view.grab().toImage(), round(bar.center().y())
    assert (bar.left() > 390) is at_right
    assert image.pixelColor(round(bar.center().x()), middle) == QColor(theme.current().tokens.edge)
    block = view.document().firstBlock()
    line = block.layout().lineAt(0)
    words = line.naturalTextRect().translated(view.document().documentLayout().blockBoundingRect(block).topLeft())
    assert not words.intersects(bar)
