"""What a person typed, as Markdown that keeps the lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument

from sotto.ui.markdown.renderer import MarkdownRenderer
from sotto.ui.markdown.typed_text import markdown_pieces
from thoroughness import examples


def converted(text):
    return "".join(piece for piece, _ in markdown_pieces(text))


def shown(text):
    """Return the lines that a message shows."""
    document = QTextDocument()
    renderer = MarkdownRenderer(document)
    renderer.append(converted(text))
    renderer.finish()
    return [line for line in document.toPlainText().split("\n") if line]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one\ntwo\nthree", ["one", "two", "three"]),
        ("one\n\ntwo\nthree", ["one", "two", "three"]),
        ("Items:\n- a\n  more\n- b\n\nThe\nend", ["Items:", "a", "more", "b", "The", "end"]),
        ("> quoted\n> twice", ["quoted", "twice"]),
        ("# Title\ntext\nmore", ["Title", "text", "more"]),
        ("<b>bold</b>\n<script>x</script>\n<!-- c -->", ["<b>bold</b>", "<script>x</script>", "<!-- c -->"]),
        ("<div>\ntext\n</div>", ["<div>", "text", "</div>"]),
        ("see\nhttps://example.org/a, ok", ["see", "https://example.org/a, ok"]),
        ("**“Bold.”**\n**“Bold.”**", ["“Bold.”", "“Bold.”"]),
        ("[1]: https://example.org\n[2]: other", ["[1]: https://example.org", "[2]: other"]),
        ("![a picture](https://example.org/p.png)", ["![a picture](https://example.org/p.png)"]),
        ("```\na\nb\n```\nafter\nthat", ["a", "b", "after", "that"]),
        ("before\n~~~py\nx = 1\n\ny = 2", ["before", "x = 1", "y = 2"]),
        ("a\r\nb", ["a", "b"]),
        ("2 * 3 * 4\nsnake_case_name", ["2 * 3 * 4", "snake_case_name"]),
    ],
)
def test_lines_stay_lines_and_nothing_disappears(qapp, text, lines):
    assert shown(text) == lines


def test_code_tables_and_formulas_stay_as_they_are():
    for text in ("```py\na\nb\n```\n", "a | b\n--|--\n1 | 2\n", "$$\nx\n+ y\n$$", "    code\n    more\n"):
        assert converted(text) == text


def test_an_address_at_the_beginning_of_a_line_is_a_link(qapp):
    document = QTextDocument()
    renderer = MarkdownRenderer(document)
    renderer.append(converted("see\nhttps://example.org/a"))
    renderer.finish()
    block = document.begin().begin()
    formats = []
    while not block.atEnd():
        formats.append(block.fragment().charFormat().anchorHref())
        block += 1
    assert formats[-1] == "https://example.org/a"


@examples(80)
@given(
    st.lists(
        st.sampled_from([*"ab 1\n\n\n`~-*_>#|[]()!<\\$", "```", "~~~py", "    ", "http://a.b", "x" * 900]), max_size=60
    )
)
def test_pieces_cover_the_text_in_order_and_their_beginning_can_be_read_alone(parts):
    text = "".join(parts)
    ends = [end for _, end in markdown_pieces(text)]
    assert ends == sorted(set(ends))
    assert (ends[-1] if ends else 0) == len(text)
    # No letter is lost or doubled.
    kept = converted(text)
    for letter in "ab1x":
        assert kept.count(letter) == text.count(letter)


def test_a_long_text_comes_in_short_pieces():
    for text in ("word " * 20_000, "x" * 100_000, "line\n" * 20_000, "```\n" + "line\n" * 20_000, "a\n\n" * 30_000):
        pieces = list(markdown_pieces(text))
        assert max(len(piece) for piece, _ in pieces) < 5000
        assert pieces[-1][1] == len(text)
