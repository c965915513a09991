"""The streaming renderer, compared with Qt's rendering of the whole text."""

import json
import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication

from material import material
from sotto.chats.chat_records import Role, State, Turn
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
        found.append((block.text(), properties, shape, QTextCursor(block).currentTable() is not None))
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
    assert left.toHtml() == right.toHtml()


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
