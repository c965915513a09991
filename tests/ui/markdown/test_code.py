"""Code in an answer: its colours, its header, long lines, and copying it."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QTextCursor, QWheelEvent
from PySide6.QtWidgets import QApplication

from clicks import double_click
from sotto.chats.chat_records import Role, State, Turn
from sotto.ui.markdown.code_lexer import LONGEST_LINE, LineLexer, _role, find_lexer, language_name
from sotto.ui.markdown.highlighting import languages
from sotto.ui.toolkit import theme
from sotto.ui.transcript.transcript import Transcript

CODE = {
    "python": 'import os\n\n\n@cached\ndef go(x: int = 3) -> str:\n    """Two\n    lines."""\n    return f"{x}"  # c\n',
    "rust": '/* a\n b */\nfn main() {\n    let x: &str = "hi"; // c\n    println!("{}", x);\n}\n',
    "go": 'package main\n\nfunc main() {\n\tfmt.Println("x", 12) // c\n}\n',
    "javascript": "const a = `x\n${1 + 2} y`;\nfunction go(b) { return /re+/g.test(b); }\n",
    "sql": "-- c\nSELECT a, count(*) FROM t /* x\n y */ WHERE a = 'b';\n",
    "bash": 'for f in *.py; do\n  echo "$f" | grep -v x  # c\ndone\n',
    "json": '{\n  "a": [1, true, "x"],\n  "b": null\n}\n',
    "css": "a:hover { color: #fff; margin: 0 auto }\n",
    "ruby": 'class A\n  def go(x)\n    puts "a#{x}"\n  end\nend\n',
    "yaml": 'a: 1\nb:\n  - x: "y"  # c\n',
    "elixir": 'defmodule A do\n  @doc "x"\n  def go(a), do: if(a, do: "x", else: nil) # c\nend\n',
    "lua": 'local a = "x"\nprint(a) -- c\nif a then return nil end\n',
    "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
}


# A line of each language that people ask about, and what it has besides plain text.
COMMON = {
    "c": ("int a = 1; // c", "comment number type"),
    "c++": ('auto a = std::string("x"); // c', "comment keyword string"),
    "c#": ('public string A = "x"; // c', "comment keyword string"),
    "dart": ("final a = 'x'; // c", "comment keyword string"),
    "dockerfile": ("RUN pip install x  # c", "keyword"),
    "elixir": ('def go(a), do: "x" # c', "comment keyword string"),
    "go": ('var a = "x" // c', "comment keyword string"),
    "haskell": ("f :: Int -> Int -- c", "comment function type"),
    "html": ('<a href="x">y</a>', "function keyword string"),
    "java": ('String a = "x"; // c', "comment string"),
    "javascript": ("const a = 'x'; // c", "comment keyword string"),
    "json": ('{"a": 1, "b": "x"}', "keyword number string"),
    "jsx": ("const a = <b>x</b>;", "keyword"),
    "kotlin": ('val a = "x" // c', "comment keyword string"),
    "lua": ('local a = "x" -- c', "comment keyword string"),
    "makefile": ("all: x  # c", "comment function"),
    "markdown": ("# Title", "meta"),
    "matlab": ("a = 'x'; % c", "comment string"),
    "objective-c": ('NSString *a = @"x"; // c', "comment string"),
    "perl": ('my $a = "x"; # c', "comment keyword string"),
    "php": ('<?php $a = "x"; // c', "comment string"),
    "powershell": ('$a = "x" # c', "comment string"),
    "python": ('a = "x"  # c', "comment string"),
    "r": ('a <- "x" # c', "comment string"),
    "ruby": ('def go(a) = "x" # c', "comment keyword string"),
    "rust": ('let a = "x"; // c', "comment keyword string"),
    "scala": ('val a = "x" // c', "comment keyword string"),
    "shell": ('for a in "$b"; do # c', "comment keyword string"),
    "sql": ("SELECT 'x' FROM t -- c", "comment keyword string"),
    "swift": ('let a = "x" // c', "comment keyword string"),
    "toml": ('a = "x" # c', "comment string"),
    "ts": ("const a: string = 'x'; // c", "comment keyword string"),
    "tsx": ("const a: string = 'x'; // c", "comment keyword string"),
    "vue": ('<template><a :b="c">x</a></template>', "keyword"),
    "xml": ('<a b="x">y</a>', "function keyword string"),
    "yaml": ('a: "x" # c', "comment keyword string"),
    "zig": ('const a = "x"; // c', "comment keyword string"),
}


def spans_by_line(language, code):
    lexer = LineLexer(find_lexer(language))
    return [lexer.read(line) for line in code.split("\n")]


def roles_of_characters(language, code):
    return [
        next((role for start, length, role in spans if start <= at < start + length), "")
        for line, spans in zip(code.split("\n"), spans_by_line(language, code), strict=True)
        for at in range(len(line))
        if not line[at].isspace()
    ]


@pytest.mark.parametrize("language", CODE)
def test_lexing_line_by_line_equals_pygments_on_the_whole_text(language):
    code = CODE[language]
    whole = [
        _role(kind)
        for _, kind, text in get_lexer_by_name(language).get_tokens_unprocessed(code)
        for letter in text
        if not letter.isspace()
    ]
    assert roles_of_characters(language, code) == whole


@pytest.mark.parametrize(
    ("language", "code", "inside", "after"),
    [
        ("c", "int a; /* one\ntwo\nthree */ int b;", "comment", "int"),
        ("java", "/** one\n two */ int b;", "comment", "int"),
        ("js", "/* one\ntwo */ const b = 1;", "comment", "const"),
        ("html", "<!-- one\ntwo --><p>", "comment", "p"),
        ("lua", "--[[ one\n two ]] local b", "comment", "local"),
        ("kotlin", 'val a = """one\ntwo""" + if', "string", "if"),
    ],
)
def test_comments_and_strings_across_lines(language, code, inside, after):
    lines, read = code.split("\n"), spans_by_line(language, code)
    assert read[1][0][0] == 0
    assert read[1][0][2] == inside
    at = lines[-1].index(after)
    (role,) = [role for start, length, role in read[-1] if start <= at < start + length]
    assert role in ("keyword", "type")


@pytest.mark.parametrize("language", COMMON)
def test_common_languages_have_colours_and_names(language):
    code, roles = COMMON[language]
    found = {role for spans in spans_by_line(language, code) for _, _, role in spans}
    assert found >= set(roles.split())
    name = language_name(language)
    assert name != "Code"
    assert name[0].isupper()


def test_mermaid_stays_code_with_a_button_to_copy_it(ready, qtbot, loop):
    diagram = "graph TD\n  A[values] --> B{empty?}"
    ready.script.chunks = [f"```mermaid\n{diagram}\n```"]
    ready.window.send("Draw it")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and len(ready.chat_session.turns) == 2)
    text = ready.window.chat.transcript.last_message.text
    assert text.toPlainText() == diagram
    (region,) = text.regions.found
    qtbot.waitUntil(lambda: region in text.headers)
    header = text.headers[region]
    assert (header.language.text(), header.accessibleName()) == ("Mermaid", "Code in Mermaid")
    qtbot.mouseClick(header.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == diagram


def test_a_comment_opener_in_a_string_does_not_open_a_comment():
    assert spans_by_line("js", 'let a = "/*";\nlet b;')[1][0] == (0, 3, "keyword")
    assert spans_by_line("bash", "ls /tmp/*\nfor f in x")[1][0] == (0, 3, "keyword")


def test_scripts_and_styles_of_a_page():
    read = spans_by_line("html", "<script>\nconst a = 1;\n</script>\n<style>\na { color: red }\n</style>\n<b>")
    assert (0, 5, "keyword") in read[1]
    assert any(role == "keyword" for _, _, role in read[4])
    assert read[6]


def test_languages_and_their_names():
    assert find_lexer("no-such-language") is None
    assert find_lexer("") is None
    assert find_lexer("C++").name == find_lexer("c++").name == "C++"
    assert (language_name("py"), language_name(""), language_name("Brainf")) == ("Python", "", "Brainf")


HOSTILE = [
    '"',
    "'",
    "/",
    "\\",
    "/*",
    "<",
    "<!--",
    "(",
    "[",
    "{",
    "`",
    '"""',
    "0",
    "x ",
    "\t",
    "#",
    "${",
    "r#",
    "=>",
    "é",
]


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([*CODE, "html", "php", "perl", "cpp", "markdown", "latex", "make"]),
    st.lists(st.lists(st.sampled_from(HOSTILE), max_size=40).map("".join), max_size=4),
)
def test_hostile_text_does_not_break_the_lexer(language, lines):
    lexer = LineLexer(find_lexer(language))
    for line in lines:
        for start, length, _ in lexer.read(line):
            assert 0 <= start < start + length <= len(line)


def test_an_overlong_line_is_left_plain():
    started = time.perf_counter()
    assert LineLexer(find_lexer("python")).read("a(" * LONGEST_LINE) == []
    assert time.perf_counter() - started < 0.05


# In the window


@pytest.fixture
def transcript(qtbot, dressed):
    made = Transcript()
    qtbot.addWidget(made)
    made.resize(800, 500)
    made.show()
    for language in ("python", "js", ""):
        languages().find(language)
        qtbot.waitUntil(lambda language=language: languages().find(language)[0])
    made.add_question(Turn(1, None, Role.USER, "Go", State.COMPLETE, 0.0))
    return made


def stream(transcript, text, size=7):
    """Stream an answer piece by piece, and end it."""
    answer = begin(transcript, text, size)
    transcript.end_answer(Turn(2, 1, Role.ASSISTANT, text, State.COMPLETE, 0.0))
    QApplication.processEvents()
    return answer.text


def begin(transcript, text, size=7):
    answer = transcript.add_answer("model")
    for at in range(0, len(text), size):
        grow(answer, text[at : at + size])
    QApplication.processEvents()
    return answer


def grow(answer, text):
    answer.append(text)
    for shown in answer.texts:
        shown.render_now()


def coloured(document):
    """Return the coloured ranges of each block."""
    found, block = [], document.begin()
    while block.isValid():
        ranges = block.layout().formats()
        found.append([(span.start, span.length, span.format.foreground().color().name()) for span in ranges])
        block = block.next()
    return found


MIXED = (
    "Look:\n```python\nclass A:\n    '''One\n    two.'''\n    x = 1\n```\n- item\n\n  ```js\n  /* a\n  b */ let c = 1;"
    "\n  ```\n- more\n\n```\nplain\n```\n```python\nimport os\n```\n"
)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 30))
def test_colours_do_not_depend_on_how_the_text_was_split(transcript, qtbot, size):
    transcript.clear()
    whole = stream(transcript, MIXED, len(MIXED))
    qtbot.waitUntil(lambda: sum(bool(line) for line in coloured(whole.document())) == 7)
    colours = coloured(whole.document())
    transcript.clear()
    parts = stream(transcript, MIXED, size)
    qtbot.waitUntil(lambda: coloured(parts.document()) == colours)
    # The colours stay the same when everything is redrawn.
    theme.current().changed.emit()
    qtbot.waitUntil(lambda: coloured(parts.document()) == colours)


def test_a_line_changes_its_colours_at_most_once(transcript, qtbot):
    answer = transcript.add_answer("model")
    seen: dict[int, list[object]] = {}
    for letter in MIXED:
        grow(answer, letter)
        for number, colours in enumerate(coloured(answer.text.document())):
            known = seen.setdefault(number, [])
            if not known or known[-1] != colours:
                known.append(colours)
    assert {n: k for n, k in seen.items() if len(k) > 2 or (len(k) == 2 and k[0])} == {}


def test_a_header_is_shown_while_code_streams(transcript, qtbot):
    answer = begin(transcript, "Try:\n\n```python\na = 1\n\nb =")
    qtbot.waitUntil(lambda: len(answer.text.headers) == 1)
    (header,) = answer.text.headers.values()
    qtbot.waitUntil(header.isVisible)
    assert header.language.text() == "Python"
    assert (header.copy.accessibleName(), header.wrap.accessibleName()) == ("Copy code", "Wrap lines")
    qtbot.mouseClick(header.copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "a = 1\n\nb ="
    assert header.copy.accessibleName() == "Copied"
    grow(answer, " 2\n```\n\nand\n```\nls\n```")
    QApplication.processEvents()
    assert next(iter(answer.text.headers.values())) is header
    qtbot.waitUntil(lambda: len(answer.text.headers) == 2)
    other = list(answer.text.headers.values())[1]
    qtbot.mouseClick(other.copy, Qt.MouseButton.LeftButton)
    assert (QApplication.clipboard().text(), other.language.text()) == ("ls", "Code")


def test_the_header_stays_in_view_with_its_code(transcript, qtbot):
    text = stream(transcript, "Look:\n\n```python\n" + "x = 1\n" * 100 + "```\n\n" + "The end.\n\n" * 40)
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 1000)
    (region,) = text.regions.found
    qtbot.waitUntil(lambda: region in text.headers)
    header = text.headers[region]
    bar.setValue(0)
    top = header.mapTo(transcript.viewport(), QPoint(0, 0)).y()
    assert top > 0
    bar.setValue(1000)
    assert header.mapTo(transcript.viewport(), QPoint(0, 0)).y() == 0
    assert header.isVisible()
    bar.setValue(bar.maximum())
    assert not header.isVisible() or header.mapTo(transcript.viewport(), QPoint(0, 0)).y() < 0


LONG = "```python\nshort = 1\nlong = '" + "word " * 60 + "'\n```\n"


def test_long_lines_are_scrolled_or_wrapped(transcript, qtbot):
    text = stream(transcript, LONG)
    (region,) = text.regions.found
    qtbot.waitUntil(lambda: region in text.scroll_bars)
    bar, height = text.scroll_bars[region], text.height()
    assert bar.isVisible()
    assert text.horizontalScrollBar().maximum() == 0
    y = text.frame_of(region).bottom() - 20
    before = text.grab().toImage()
    text.wheelEvent(wheel(QPointF(50, y), QPoint(-240, 0)))
    assert region.offset == bar.value() == 120
    assert text.grab().toImage() != before
    # The pointer hits the text that is displayed under it.
    double_click(text.viewport(), QPoint(100, int(y)))
    assert text.textCursor().selectedText() == "word"
    assert text.cursorRect(text.textCursor()).x() > 150
    text.headers[region].wrap.click()
    QApplication.processEvents()
    assert not bar.isVisible()
    assert text.height() > height
    text.headers[region].wrap.click()
    QApplication.processEvents()
    assert text.height() == height


def test_vertical_wheel_events_are_left_to_the_transcript(transcript, qtbot):
    text = stream(transcript, LONG)
    event = wheel(QPointF(50, 60), QPoint(0, -120))
    text.wheelEvent(event)
    assert not event.isAccepted()


def test_a_match_in_a_long_line_is_scrolled_into_view(transcript, qtbot):
    text = stream(transcript, LONG.replace("word '", "needle'"))
    (region,) = text.regions.found
    text.moveCursor(QTextCursor.MoveOperation.Start)
    assert text.find("needle")
    assert region.offset > 0


def wheel(at, delta):
    return QWheelEvent(
        at, at, QPoint(), delta, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip


@pytest.mark.parametrize("before", ["Look:\n\n", ""])
def test_the_background_of_code_is_not_cut_off(transcript, before):
    text = stream(transcript, f"{before}```\nprint(1)\n```\n")
    (region,) = text.regions.found
    assert text.frame_of(region).top() >= 0
    assert text.frame_of(region).bottom() <= text.height()


def test_wide_tables_are_scrolled_and_narrow_ones_are_not(transcript, qtbot):
    names = [f"A_rather_long_name_{number}" for number in range(9)]
    wide = "|" + "|".join(names) + "|\n" + "|---" * 9 + "|\n" + "|x" * 9 + "|\n"
    text = stream(transcript, f"| a | b |\n|---|--:|\n| 1 | 2 |\n\nthen\n\n{wide}")
    qtbot.waitUntil(lambda: len(text.scroll_bars) == 1)
    narrow, large = text.regions.found
    assert (text.surplus(narrow), narrow.kind) == (0, "table")
    assert text.surplus(large) > 0
    table = QTextCursor(text.document().findBlockByNumber(large.first)).currentTable()
    assert table is not None
    head = table.cellAt(0, 0).firstCursorPosition().block()
    assert head.layout().lineCount() == 1


def test_a_table_that_fits_wraps_only_between_words(transcript):
    text = stream(transcript, "| Name | What it is |\n|---|---|\n| extraordinarily_long_name | " + "word " * 60 + "|\n")
    (region,) = text.regions.found
    assert text.surplus(region) == 0
    table = QTextCursor(text.document().findBlockByNumber(region.first)).currentTable()
    assert table is not None
    assert table.cellAt(1, 0).firstCursorPosition().block().layout().lineCount() == 1
    assert table.cellAt(1, 1).firstCursorPosition().block().layout().lineCount() > 1


def test_a_copied_answer_is_text_and_html(transcript, qtbot):
    markdown = "Some **bold** ![i](http://x/y.png) <b>tag</b>\n\n```python\na < b\n```\n\n| a |\n|---|\n| 1 |\n"
    stream(transcript, markdown)
    transcript.messages[-1].copy.click()
    data = QApplication.clipboard().mimeData()
    assert data.text() == markdown.strip()
    html = data.html()
    assert "<strong>bold</strong>" in html
    assert "a &lt; b" in html
    assert "<table>" in html
    assert "&lt;b&gt;" in html
    assert "<img" not in html
    assert "color" not in html


def test_a_copied_selection_is_text_and_html_without_colours(transcript, qtbot):
    text = stream(transcript, "Some **bold** words.\n\n- one\n- two\n\n```python\nimport os\nx < 1\n```\n")
    text.selectAll()
    data = text.createMimeDataFromSelection()
    assert "bold" in data.text()
    assert "import os" in data.text()
    assert "<strong>bold</strong>" in data.html()
    assert "<li>" in data.html()
    assert "color" not in data.html()
    cursor = text.textCursor()
    block = text.document().findBlockByNumber(text.regions.found[0].first)
    cursor.setPosition(block.position())
    cursor.setPosition(block.next().position() + 5, QTextCursor.MoveMode.KeepAnchor)
    text.setTextCursor(cursor)
    data = text.createMimeDataFromSelection()
    assert data.text() == "import os\nx < 1"
    assert data.html() == "<pre><code>import os\nx &lt; 1</code></pre>"


def test_code_of_any_length_costs_the_same_for_each_line(transcript, qtbot):
    answer = transcript.add_answer("model")
    grow(answer, "```python\n")
    line = "    value = compute(alpha, beta)  # a note\n"

    def seconds(lines):
        started, worst = time.thread_time(), 0.0
        for _ in range(lines // 4):
            before = time.thread_time()
            grow(answer, line * 4)
            QApplication.processEvents()
            worst = max(worst, time.thread_time() - before)
        return (time.thread_time() - started) / lines, worst

    seconds(40)
    early = min(seconds(80)[0] for _ in range(3))
    _, worst = seconds(1600)
    late = min(seconds(80)[0] for _ in range(3))
    assert late < 1.5 * early + 0.0005
    # No single step costs as much as a quarter of all lines together.
    assert worst < 400 * early
    before = time.thread_time()
    grow(answer, "```\n\nend")
    transcript.end_answer(Turn(2, 1, Role.ASSISTANT, answer.body.markdown, State.COMPLETE, 0.0))
    assert time.thread_time() - before < 400 * early
