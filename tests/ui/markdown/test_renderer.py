"""The streaming renderer, compared with Qt's rendering of the whole text."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication

from material import material
from sotto.chats.chat_records import Role, State, Turn
from sotto.ui.markdown.line_breaks import LINE_BREAK
from sotto.ui.markdown.renderer import FLAGS, MarkdownRenderer
from sotto.ui.transcript.transcript import Transcript

PIECES = [
    "# Heading\n\n",
    "Some *text* with **bold** and `code`.\n\n",
    "more\nlines\n",
    "- a\n- b\n\n",
    "  - nested\n",
    "1. one\n2. two\n",
    "\n",
    "```python\nx = 1\n\ny = 2\n```\n\n",
    "```\nopen\n",
    "~~~\n",
    "so:\n```py\ndef f():\n\treturn 1\n\n",
    "```\nnext\n",
    "- item\n\n  ```js\n  let a = 1;\n  ```\n",
    "> quote\n> more\n\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "---\n\n",
    "Title\n===\n\n",
    "    indented\n\n",
    "<b>html</b>\n\n",
    "<div>\n",
    "* x\n\n  para\n\n",
    "[l](http://a.b)\n\n",
    "![i](file:///x.png)\n\n",
    "[ref]\n\n",
    "[ref]: http://x.y\n\n",
    "äöü 🙂\n\n",
    "\\*no\\* &amp; &lt;\n\n",
    "a | b\n--|--\n1 | 2\n",
    "- [ ] task\n- [x] done\n\n",
    "\t",
]


def formats(document: QTextDocument) -> list[tuple[object, ...]]:
    found, block = [], document.begin()
    while block.isValid():
        fmt, blocks_list = block.blockFormat(), block.textList()
        properties = {key: str(value) for key, value in fmt.properties().items() if key != 0}
        shape = (
            (blocks_list.format().style(), blocks_list.format().indent(), blocks_list.itemNumber(block))
            if blocks_list
            else None
        )
        found.append(
            (block.text().replace(LINE_BREAK, " "), properties, shape, QTextCursor(block).currentTable() is not None)
        )
        block = block.next()
    return found


def one_shot(text: str) -> QTextDocument:
    document = QTextDocument()
    document.setMarkdown(text, FLAGS)
    return document


def streamed(chunks: list[str]) -> QTextDocument:
    document = QTextDocument()
    renderer = MarkdownRenderer(document)
    for chunk in chunks:
        renderer.append(chunk)
        renderer.render()
    renderer.finish()
    return document


def chunks_of(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def assert_same(left: QTextDocument, right: QTextDocument) -> None:
    assert formats(left) == formats(right)
    # Qt joins the lines of a paragraph by a space.
    assert left.toHtml().replace("<br />", " ") == right.toHtml().replace("<br />", " ")


def examples() -> list[dict[str, object]]:
    return json.loads(material("commonmark", "examples.json").read_text())


def test_commonmark_examples_stream_to_the_same_document(qapp):
    found = examples()
    assert len(found) > 600
    different = []
    for example in found:
        text = str(example["markdown"])
        try:
            assert_same(streamed(chunks_of(text, 3)), one_shot(text))
        except AssertionError:
            different.append((example["example"], text))
    assert not different, f"{len(different)}: {different}"


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.lists(st.integers(1, 17), min_size=1, max_size=8))
def test_any_chunking_gives_the_document_of_the_whole_text(qapp, pieces, sizes):
    text = "".join(pieces)
    chunks, at, turn = [], 0, 0
    while at < len(text):
        step = sizes[turn % len(sizes)]
        chunks.append(text[at : at + step])
        at, turn = at + step, turn + 1
    assert_same(streamed(chunks), streamed([text]))


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab1-*`~#>|[]()!:. \n\t<&_=+", max_size=60), st.integers(1, 5))
def test_any_streamed_text_gives_the_document_of_the_whole_text(qapp, text, size):
    assert_same(streamed(chunks_of(text, size)), streamed([text]))


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab` ~\n\t-1", max_size=60), st.integers(1, 5), st.sampled_from(["```\n", "a\n~~~~ x\n"]))
def test_code_added_line_by_line_equals_code_rendered_at_once(qapp, text, size, opening):
    document = QTextDocument()
    renderer = MarkdownRenderer(document)
    for chunk in chunks_of(opening + text, size):
        renderer.append(chunk)
        renderer.render()
    renderer.finish()
    streamed_formats = formats(document)
    renderer.redraw()
    assert formats(document) == streamed_formats


def test_the_cost_of_new_text_does_not_grow_with_the_existing_text(qtbot):
    transcript = Transcript()
    qtbot.addWidget(transcript)
    transcript.resize(900, 700)
    transcript.show()
    transcript.add_question(Turn(1, None, Role.USER, "Go on", State.COMPLETE, 0.0))
    answer = transcript.add_answer("model")
    page = "".join(PIECES[:2] + PIECES[7:8] + PIECES[3:4] + ["A paragraph of several words, and one more.\n\n"] * 6)

    def seconds_per_page(pages):
        started = time.thread_time()
        for chunk in chunks_of(page * pages, 100):
            answer.append(chunk)
            answer.text.render_now()
        QApplication.processEvents()
        return (time.thread_time() - started) / pages

    seconds_per_page(2)  # imports and fonts
    early = min(seconds_per_page(5) for _ in range(3))
    seconds_per_page(120)
    late = min(seconds_per_page(5) for _ in range(3))
    assert late < 3 * early + 0.005
    answer.end(Turn(2, 1, Role.ASSISTANT, answer.body.markdown, State.COMPLETE, 0.0))
    assert len(answer.body.markdown) == len(page) * 152


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Roses are red,\nviolets are blue.\n\nNext", ["Roses are red,|violets are blue.", "Next"]),
        ("- a\n  b\n- c\nlazy", ["a|b", "c|lazy"]),
        ("> a\n> b\nlazy", ["a|b|lazy"]),
        ("1. > a\n   > b", ["a|b"]),
        ("**Note.**\n**“Quoted”** and _this_.\n_So_", ["Note.|“Quoted” and this.|So"]),
        ("See\nhttp://x.y/z\nand [l\nm](http://a.b)", ["See|http://x.y/z|and l|m"]),
        ("`a\nb` c\nd", ["a b c d"]),
        ("hard  \nbreak\\\nagain\nsoft", ["hard", "break", "again|soft"]),
        ("$$\nx\n$$\nand $y\n+ z$", None),
        (
            "# a\nb\nc\n\n    code\n    more\n\n| a |\n|---|\n| b |\n\nTitle\n===",
            ["a", "b|c", "code", "more", "a", "b", "Title"],
        ),
        ("[r]\nx\n\n[r]: http://x.y\n", ["r|x"]),
        ("a\r\nb\n \nc", ["a|b", "c"]),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_line_breaks_are_kept(qapp, text, shown, size):
    document = streamed(chunks_of(text, size))
    blocks, block = [], document.begin()
    while block.isValid():
        blocks.append(block.text().replace(LINE_BREAK, "|"))
        block = block.next()
    if shown is not None:
        assert [text for text in blocks if text] == shown
    assert formats(document) == formats(streamed([text]))


def test_emphasis_links_and_code_at_the_ends_of_lines_are_recognized(qapp):
    document = streamed(["**Note.**\n**“Quoted”** and\n_this_.\n`code`\nhttp://x.y\n[l](http://a.b)"])
    bold, fixed, italic, anchors = [], [], [], []
    fragments = document.begin().begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        look, text = fragment.charFormat(), fragment.text().strip(LINE_BREAK)
        if text:
            bold += [text] if look.fontWeight() > 400 else []
            italic += [text] if look.fontItalic() else []
            fixed += [text] if look.fontFixedPitch() else []
            anchors += look.anchorHref() and [look.anchorHref()]
        fragments += 1
    assert bold == ["Note.", "“Quoted”"]
    assert (italic, fixed, anchors) == (["this"], ["code"], ["http://x.y", "http://a.b"])
