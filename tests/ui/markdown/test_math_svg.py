"""Formulas in an answer: which text is a formula, how it is drawn, and copying it."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QWidget

from sotto.ui.markdown import formula_placer
from sotto.ui.markdown.formula_placer import _formulas_of
from sotto.ui.markdown.math_svg import LONGEST, draw, mask_formulas
from sotto.ui.markdown.renderer import MarkdownRenderer
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit.colors import DARK, LIGHT


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a $x_1$ b", ["x_1"]),
        ("$a$ and $b$", ["a", "b"]),
        ("($x$), $x$-axis", ["x", "x"]),
        ("$$\na\n=\nb\n$$", ["a\n=\nb"]),
        (r"\(a\) and \[ \frac{a}{b} \]", ["a", r"\frac{a}{b}"]),
        ("```\n$x$\n```\n$y$", ["y"]),
        ("- item\n  ```\n  $a$\n  ```\n  $b$", ["b"]),
        *((text, []) for text in (
            "[a](\\(b\\))", "[a](b$c$)",
            "$5 and $6", "$5-$6", "costs $5/$10", "US$5 and A$6", "$HOME/$PATH or $HOME $PATH", "`$x$`", r"\$x\$",
            "2+2=4",
            r"\\(no\\)", "$ x $", "$$$", "$$$$", r"\(\)", "    $x$", f"${'x' * 2 * LONGEST}$", "$a\n\nb$", "~~~\n$x$",
        )),
    ],
)  # fmt: skip
def test_formulas_are_recognised(text, found):
    marked, formulas = mask_formulas(text)
    assert [formula.latex for formula in formulas] == found
    assert (marked == text) == (not found)


@pytest.mark.parametrize("text", ["\\(" * 10_000, "$a" * 10_000, "`" * 25_000, "```\n" * 2_500, "\\[$$`" * 4_000])
def test_the_time_to_find_formulas_grows_linearly(text):
    def seconds(part):
        started = time.thread_time()
        mask_formulas(part)
        return time.thread_time() - started

    short, whole = (min(seconds(part) for _ in range(3)) for part in (text[: len(text) // 8], text))
    # The text is eight times as long: quadratic growth would take 64 times as long.
    assert whole <= 24 * short + 0.02


def test_a_formula_is_drawn_with_its_baseline():
    drawing = draw("x", False, 20, "#123456")
    assert drawing is not None
    assert "#123456" in drawing.svg
    fraction = draw(r"\frac{a}{b}", True, 20, "#123456")
    assert fraction is not None
    assert fraction.ascent > drawing.ascent
    assert fraction.descent > 5 > drawing.descent
    assert draw(r"a &= b \\ c &= d", True, 20, "#123456") is not None
    assert draw("2+2=4", False, 20, "#123456") is not None


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{", "{", "}}", "^", r"\left(", r"\begin{x}", r"\def\x{\x\x}\x", r"\\", r"\rule{1000000em}{1em}",
        r"\text{<image href='file:///etc/passwd'/>}", r"\sqrt{" * 60 + "x" + "}" * 60, "{" * 400 + "x" + "}" * 400,
        r"\hspace{9999999em}x",
    ],
)  # fmt: skip
def test_hostile_formulas_finish_soon_and_never_raise(latex):
    started = time.thread_time()
    drawing = draw(latex, True, 20, "#000000")
    assert time.thread_time() - started < 5
    assert drawing is None or "image" not in drawing.svg


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="\\{}^_&$%#abfrcsqt()[]<>'\"1 \n", max_size=30))
def test_no_formula_raises(latex):
    draw(latex, False, 16, "#000000")


TEXT = (
    "Roots of $ax^2_1 + b_1$ are\n\n$$\nx = \\frac{a_1}{b_1}\n$$\n\n"
    "- and \\(y\\) but `$z$`, $5 and $6\n\n\\[ w*v*u \\]\n"
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 40))
def test_formulas_stay_as_written_however_the_text_was_split(qapp, size):
    documents = []
    for step in (size, len(TEXT)):
        document = QTextDocument()
        renderer = MarkdownRenderer(document)
        for at in range(0, len(TEXT), step):
            renderer.append(TEXT[at : at + step])
            renderer.render()
        renderer.finish()
        documents.append(document)
    assert documents[0].toHtml() == documents[1].toHtml()
    shown = documents[0].toPlainText()
    for raw in ("$ax^2_1 + b_1$", "$$ x = \\frac{a_1}{b_1} $$", "\\(y\\)", "\\[ w*v*u \\]", "$z$", "$5 and $6"):
        assert raw in shown


@pytest.fixture
def text(qtbot, dressed):
    holder, made = QWidget(), MarkdownText()
    qtbot.addWidget(holder)
    holder.resize(600, 400)
    made.setParent(holder)
    made.resize(600, 400)
    holder.show()
    yield made
    holder.hide()


def pictures(text):
    return _formulas_of(text.document(), drawn=True)


def test_formulas_are_drawn_once_the_answer_has_ended(text, qtbot, dressed):
    text.append_markdown(TEXT)
    text.render_now()
    assert not pictures(text)
    text.finish()
    qtbot.waitUntil(lambda: len(pictures(text)) == 4, timeout=20_000)
    assert stroke_colour(text) == LIGHT.text
    middle = text.document().find("￼", text.document().find("are").position()).block()
    assert middle.blockFormat().alignment().name == "AlignHCenter"
    # They are redrawn when the appearance changes.
    dressed.set_appearance("dark", 1.0)
    qtbot.waitUntil(lambda: len(pictures(text)) == 4, timeout=20_000)
    assert stroke_colour(text) == DARK.text


def test_formulas_are_drawn_at_the_resolution_of_the_screen(text, qtbot, dressed, monkeypatch):
    text.append_markdown("There $x^2$ is.")
    text.finish()
    qtbot.waitUntil(lambda: len(pictures(text)) == 1, timeout=20_000)
    before = picture_of(text)
    assert before.devicePixelRatio() == 1.0
    monkeypatch.setattr(type(text), "devicePixelRatioF", lambda self: 2.0)
    QApplication.sendEvent(text, QEvent(QEvent.Type.DevicePixelRatioChange))
    qtbot.waitUntil(lambda: len(pictures(text)) == 1 and picture_of(text).devicePixelRatio() == 2.0, timeout=20_000)
    assert picture_of(text).width() == pytest.approx(2 * before.width(), abs=2)
    assert picture_of(text).deviceIndependentSize().width() == pytest.approx(before.width(), abs=1)


def picture_of(text):
    return text.document().resource(2, pictures(text)[0][2].toImageFormat().name())


def stroke_colour(text):
    """Return the only colour of the opaque pixels in the first picture."""
    name = pictures(text)[0][2].toImageFormat().name()
    picture = text.document().resource(2, name)
    found = {
        QColor(picture.pixelColor(x, y)).name()
        for x in range(picture.width())
        for y in range(picture.height())
        if picture.pixelColor(x, y).alpha() == 255
    }
    (color,) = found
    return color


def test_formulas_are_copied_as_latex(text, qtbot):
    text.append_markdown(TEXT)
    text.finish()
    qtbot.waitUntil(lambda: len(pictures(text)) == 4, timeout=20_000)
    text.selectAll()
    data = text.createMimeDataFromSelection()
    for raw in ("$ax^2_1 + b_1$", "\\frac{a_1}{b_1}", "\\(y\\)", "$5 and $6"):
        assert raw in data.text()
    assert "￼" not in data.text() + data.html()
    assert "<img" not in data.html()
    cursor = QTextCursor(text.document().findBlockByNumber(0))
    cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
    text.setTextCursor(cursor)
    assert text.createMimeDataFromSelection().text() == "Roots of $ax^2_1 + b_1$ are"


def test_a_formula_that_cannot_be_drawn_stays_latex(text, qtbot):
    text.append_markdown("Broken $\\frac{$ and $x$.")
    text.finish()
    qtbot.waitUntil(lambda: len(pictures(text)) == 1, timeout=20_000)
    qtbot.waitUntil(lambda: not text.awaits_formulas)
    assert text.toPlainText().startswith("Broken $\\frac{$ and ")


def test_formulas_that_cannot_be_drawn_are_not_tried_for_ever(text, qtbot, monkeypatch):
    monkeypatch.setattr(formula_placer, "_KEPT", 3)
    text.append_markdown(" and ".join(rf"$\frac{{{letter}$" for letter in "abcdef"))
    text.finish()
    qtbot.waitUntil(lambda: not text.awaits_formulas)
    assert not pictures(text)


def test_a_wide_formula_is_made_smaller(text, qtbot):
    text.append_markdown("$$ " + " + ".join(f"x_{{{number}}}" for number in range(60)) + " $$")
    text.finish()
    qtbot.waitUntil(lambda: len(pictures(text)) == 1, timeout=20_000)
    width = pictures(text)[0][2].toImageFormat().width()
    assert 300 < width <= 600
    text.resize(400, 400)
    QApplication.processEvents()
    assert pictures(text)[0][2].toImageFormat().width() < width


def test_an_answer_with_formulas_can_be_deleted_while_they_are_drawn(qtbot, dressed, destroyed):
    made = MarkdownText()
    made.append_markdown("$\\frac{1}{" + "x" * 40 + "}$")
    made.finish()
    destroyed(made)
    qtbot.wait(300)
