"""The person's own messages: Markdown that keeps the lines, and long pastes that are shown bit by bit."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from sotto.chats.chat_records import State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.ui.markdown.highlighting import languages

TYPED = """Why does **this** fail?
I call it so:

```python
def mean(values):
    return sum(values) / len(values)  # the average
```
<img src="x" onerror="alert(1)"> stays."""


def opened(stage, qtbot, *questions):
    """Open a conversation with questions, as after a restart, and return their widgets."""
    numbers = []

    def fill(store):
        chat, parent = store.add_chat(), None
        for question in questions:
            parent = store.begin_answer(store.ask(chat, question, parent), "tiny:latest")
            store.end_answer(parent, "Well.", State.COMPLETE)
        numbers.append(chat)

    stage.keeper.do(fill, lambda _: stage.window.current.open(numbers[0]))
    qtbot.waitUntil(lambda: len(stage.chat_session.turns) == 2 * len(questions))
    qtbot.waitUntil(lambda: stage.window.chat.transcript.settled and bool(stage.window.chat.transcript.messages))
    return stage.window.chat.transcript.messages[::2]


def test_a_question_is_markdown_and_stays_what_was_typed(ready, qtbot, loop):
    (question,) = opened(ready, qtbot, TYPED)
    text = question.text
    assert text.toPlainText().split("\n") == [
        "Why does this fail?",
        "I call it so:",
        "def mean(values):",
        "    return sum(values) / len(values)  # the average",
        '<img src="x" onerror="alert(1)"> stays.',
    ]
    # The code has its header, its colours and its button.
    (region,) = text.regions.found
    header = text.headers[region]
    assert header.language.text() == "Python"
    qtbot.waitUntil(lambda: languages().find("python")[0])
    line = text.document().findBlockByNumber(region.first)
    qtbot.waitUntil(lambda: bool(line.layout().formats()))
    header.copy.click()
    assert QApplication.clipboard().text().startswith("def mean(values):\n    return")
    # Copied and edited is what was typed.
    question.copy.click()
    assert QApplication.clipboard().text() == TYPED
    text.selectAll()
    text.copy()
    assert QApplication.clipboard().text() == TYPED
    question.edit.click()
    assert question.editor.draft.toPlainText() == TYPED
    question.end_edit()
    assert text.isVisible()


def test_the_bubble_is_as_wide_as_its_text(ready, qtbot, loop):
    short, long = opened(ready, qtbot, "Hi\nthere, you", "word " * 200)
    metrics = short.text.fontMetrics()
    assert metrics.horizontalAdvance("there, you") <= short.text.width() <= metrics.horizontalAdvance("there, you") + 8
    assert short.text.width() < long.text.width() <= 0.8 * long.width()
    assert short.text.parentWidget().geometry().right() == short.rect().right()
    # No line of it is wrapped.
    assert short.text.document().begin().layout().lineCount() == 2


@pytest.mark.parametrize("paste", ["2026-11-24 INFO a request took 17 ms\n", "word ", "x", "a paragraph\n\n"])
def test_only_the_beginning_of_a_large_paste_is_laid_out(ready, qtbot, loop, paste):
    text = "Look:\n\n" + paste * (1_000_000 // len(paste))
    question, _ = opened(ready, qtbot, text, "And?")
    assert question.show_more.isVisible()
    shown = question.text.document().characterCount()
    assert 500 < shown < 8000
    question.show_more.click()
    qtbot.waitUntil(lambda: question.text.document().characterCount() > shown + 15_000)
    assert question.text.document().characterCount() < shown + 30_000
    assert question.show_more.isVisible()
    question.copy.click()
    assert QApplication.clipboard().text() == text


def test_more_of_a_long_question_is_shown_until_all_is(ready, qtbot, loop):
    code = "".join(f"x{number} = {number}\n" for number in range(1200))
    (question,) = opened(ready, qtbot, f"Read:\n```python\n{code}```\nand *explain*.")
    assert question.text.toPlainText().startswith("Read:\nx0 = 0\n")
    height = question.height()
    question.show_more.click()
    qtbot.waitUntil(question.show_more.isHidden)
    # The code is one block, although it came in pieces.
    (region,) = question.text.regions.found
    assert question.text.code_of(region) == code.rstrip("\n")
    assert question.text.toPlainText().endswith("and explain.")
    qtbot.waitUntil(lambda: question.height() > height)


def test_find_shows_what_is_hidden_of_a_long_question(ready, qtbot, loop):
    text = "".join(f"line {number}\n" for number in range(4000)) + "the needle\n" + "rest\n" * 4000
    (question,) = opened(ready, qtbot, text)
    assert "needle" not in question.text.toPlainText()
    find = ready.window.chat.find_bar
    find.open()
    qtbot.keyClicks(find.field, "needle")
    qtbot.waitUntil(lambda: question.text.textCursor().selectedText() == "needle")
    assert question.text.hidden_length > 0
    cursor = question.text.cursorRect()
    place = question.text.viewport().mapTo(ready.window.chat.transcript.viewport(), cursor.center())
    assert ready.window.chat.transcript.viewport().rect().contains(place)


def test_a_large_paste_is_sent_and_saved_whole(ready, qtbot, loop, tmp_path):
    text = "x = 1\n" * 20_000
    ready.window.chat.composer.draft.setPlainText(text)
    qtbot.mouseClick(ready.window.chat.composer.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2 and not ready.chat_session.busy)
    assert ready.script.requests[-1].messages[-1].content == text
    qtbot.waitUntil(lambda: ready.chat_session.turns[-1].id > 0)
    store = ChatStore(Database(tmp_path / "data" / "chats.sqlite3"))
    assert store.branch(ready.chat_session.chat).turns[0].text == text
    store.database.close()
