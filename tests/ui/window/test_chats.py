"""Conversations in the window and on disk: what is saved, and what people can do with it."""

import itertools
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from sotto.chats.chat_records import Shelf, State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.state.model_state import Phase
from sotto.ui.toolkit import theme
from sotto.ui.transcript.answer_message import AnswerMessage
from sotto.ui.transcript.user_message import UserMessage
from sotto.ui.window.chat_list_model import GroupRow

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path):
    return tmp_path / "data" / "chats.sqlite3"


def rows(file, columns="role, text, state", table="messages"):
    """Read the database as another program would."""
    connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY id").fetchall()
    except sqlite3.OperationalError:
        return []  # the tables are just being created
    finally:
        connection.close()


def saved(stage):
    """Return whether all messages are saved and the window knows their ids."""
    turns = stage.chat_session.turns
    return not stage.chat_session.busy and bool(turns) and all(turn.id > 0 and turn.versions for turn in turns)


def ask(stage, qtbot, text, *chunks):
    stage.script.chunks = list(chunks) or ["Hello ", "there."]
    stage.window.send(text)
    qtbot.waitUntil(lambda: saved(stage) and stage.chat_session.turns[-2].text == text)


def shown(stage):
    """Return the texts that the transcript shows."""
    return [
        message.text.toPlainText() if isinstance(message, UserMessage) else message.body.markdown
        for message in stage.window.chat.transcript.messages
    ]


def titles(stage):
    return [entry.chat.title for entry in stage.window.sidebar.chats.model.entries]


def test_a_question_is_saved_before_the_engine_receives_it(ready, qtbot, loop, file):
    seen = []
    generate = ready.session.generate

    def record_rows(request):
        # The answer's own row may already exist, still empty.
        seen.append(rows(file)[:1])
        generate(request)

    ready.session.generate = record_rows
    ask(ready, qtbot, "What is this?")
    # The empty answer is written at the same time, so its row is not compared.
    assert [found[0] for found in seen] == [("user", "What is this?", "complete")]
    assert rows(file) == [("user", "What is this?", "complete"), ("assistant", "Hello there.", "complete")]


def test_an_answer_is_saved_while_it_streams(ready, qtbot, loop, file):
    ready.script.chunks, ready.script.hold_answer = ["One ", "two ", "three"], threading.Event()
    ready.window.send("Count")
    qtbot.waitUntil(lambda: len(rows(file)) == 2 and rows(file)[1][1] == "One two ", timeout=3000)
    assert rows(file)[1][2] == "streaming"
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: rows(file)[1] == ("assistant", "One two three", "complete"))


def test_chats_are_listed_opened_and_continued(ready, qtbot, loop):
    sidebar = ready.window.sidebar
    assert sidebar.chats.isHidden()
    ask(ready, qtbot, "First question")
    qtbot.waitUntil(lambda: titles(ready) == ["First question"])
    assert sidebar.chats.isVisible()
    qtbot.waitUntil(lambda: sidebar.chats.view.viewport().height() >= sidebar.chats.view.sizeHintForRow(0) > 10)
    ready.window.current.new_chat()
    assert ready.window.chat.stack.currentWidget() is ready.window.chat.welcome
    ask(ready, qtbot, "Second question")
    qtbot.waitUntil(lambda: titles(ready) == ["Second question", "First question"])
    view = sidebar.chats.view
    # Below the title of the group.
    assert view.currentIndex().row() == 1
    view.setCurrentIndex(view.model().index(2))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown(ready) == ["First question", "Hello there."])
    ask(ready, qtbot, "And then?")
    assert [turn.content for turn in ready.script.requests[-1].messages] == [
        "First question",
        "Hello there.",
        "And then?",
    ]
    qtbot.waitUntil(lambda: titles(ready) == ["First question", "Second question"])


def test_opening_another_chat_keeps_the_streaming_answer(ready, qtbot, loop, file):
    ask(ready, qtbot, "First")
    first = ready.chat_session.chat
    ready.window.current.new_chat()
    ready.script.chunks, ready.script.hold_answer = ["Half ", "of it", " and more"], threading.Event()
    ready.window.send("Second")
    qtbot.waitUntil(lambda: ready.chat_session.turns[-1].text == "Half of it")
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: shown(ready) == ["First", "Hello there."])
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: rows(file)[-1] == ("assistant", "Half of it and more", "complete"))
    ask(ready, qtbot, "Go on")
    assert shown(ready) == ["First", "Hello there.", "Go on", "Hello there."]


def test_another_answer_and_an_edit_are_versions(ready, qtbot, loop):
    ask(ready, qtbot, "Question", "first answer")
    ready.script.chunks = ["second answer"]
    answer = ready.window.chat.transcript.messages[-1]
    assert isinstance(answer, AnswerMessage)
    assert answer.versions.isHidden()
    answer.again.click()
    qtbot.waitUntil(lambda: saved(ready) and shown(ready) == ["Question", "second answer"])
    assert [turn.content for turn in ready.script.requests[-1].messages] == ["Question"]
    answer = ready.window.chat.transcript.messages[-1]
    assert answer.versions.place.text() == "2 / 2"
    assert not answer.versions.newer.isEnabled()
    answer.versions.older.click()
    qtbot.waitUntil(lambda: shown(ready) == ["Question", "first answer"])

    ready.script.chunks = ["third answer"]
    question = ready.window.chat.transcript.messages[0]
    question.edit.click()
    editor = question.editor
    assert editor.draft.toPlainText() == "Question"
    qtbot.keyClick(editor.draft, Qt.Key.Key_Escape)
    assert question.editor is None
    question.edit.click()
    question.editor.draft.setPlainText("Other question")
    qtbot.keyClick(question.editor.draft, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: saved(ready) and shown(ready) == ["Other question", "third answer"])
    question = ready.window.chat.transcript.messages[0]
    assert question.versions.place.text() == "2 / 2"
    question.versions.older.click()
    qtbot.waitUntil(lambda: shown(ready) == ["Question", "first answer"])


def test_a_truncated_answer_can_be_continued(ready, qtbot, loop, file):
    ready.script.chunks, ready.script.hold_answer = ["Once ", "upon ", "never"], threading.Event()
    ready.window.send("A story")
    qtbot.waitUntil(lambda: ready.chat_session.turns[-1].text == "Once upon ")
    ready.chat_session.stop()
    qtbot.waitUntil(lambda: saved(ready))
    message = ready.window.chat.transcript.messages[-1]
    assert message.more.isVisible()
    ready.script.chunks, ready.script.hold_answer = ["a ", "time."], None
    message.more.click()
    assert [turn.content for turn in ready.script.requests[-1].messages] == ["A story", "Once upon "]
    qtbot.waitUntil(lambda: saved(ready) and shown(ready) == ["A story", "Once upon a time."])
    assert ready.window.chat.transcript.messages[-1].more.isHidden()
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "Once upon a time.", "complete")])


def test_drafts_are_kept_for_each_chat_and_across_a_restart(ready, qtbot, loop, file):
    draft = ready.window.chat.composer.draft
    ask(ready, qtbot, "First")
    first = ready.chat_session.chat
    draft.setPlainText("about the first")
    ready.window.current.new_chat()
    assert draft.toPlainText() == ""
    draft.setPlainText("never sent")
    qtbot.waitUntil(lambda: ("never sent",) in rows(file, "draft", "chats"))
    ready.window.current.open(first)
    qtbot.waitUntil(lambda: draft.toPlainText() == "about the first")
    ready.window.current.new_chat()
    ready.window.current.begin()
    qtbot.waitUntil(lambda: draft.toPlainText() == "never sent")
    # A chat with nothing but a draft is not listed, and is deleted with its draft.
    assert titles(ready) == ["First"]
    draft.clear()
    qtbot.waitUntil(lambda: len(rows(file, "id", "chats")) == 1)


def test_questions_in_quick_succession_are_one_conversation(ready, qtbot, loop, file):
    for number in range(4):
        # Send as soon as the window accepts it, without waiting for the disk.
        qtbot.waitUntil(lambda number=number: ready.window.current.session.send(f"question {number}"))
        qtbot.waitUntil(lambda: not ready.chat_session.busy)
    qtbot.waitUntil(lambda: saved(ready))
    expected = [
        (text, state)
        for number in range(4)
        for text, state in ((f"question {number}", "complete"), ("Hello there.", "complete"))
    ]
    assert rows(file, "text, state") == expected
    assert rows(file, "parent") == [(None,), *((number,) for number in range(1, 8))]
    assert ready.window.chat.notice.isHidden()


def test_a_draft_that_is_sent_at_once_makes_one_chat(ready, qtbot, loop, file):
    ready.window.chat.composer.draft.setPlainText("Quick")
    ready.chat_session.draft.save()
    ready.window.send("Quick")
    qtbot.waitUntil(lambda: saved(ready))
    qtbot.wait(700)
    assert rows(file, "title, draft", "chats") == [("Quick", "")]


def test_a_failed_answer_leaves_a_draft_and_no_message(ready, qtbot, loop, file):
    ready.script.chunks, ready.script.fail_answer = [], "The prompt is longer than the context."
    ready.window.send("Too long")
    qtbot.waitUntil(lambda: ready.window.chat.composer.text == "Too long")
    qtbot.waitUntil(lambda: rows(file) == [] and rows(file, "draft", "chats") == [("Too long",)])
    qtbot.waitUntil(lambda: titles(ready) == [])


def test_a_failed_answer_is_saved_as_failed(ready, qtbot, loop, file):
    ready.script.chunks, ready.script.fail_answer = ["Half of "], "Out of memory."
    ready.window.send("Go")
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "Half of ", "failed")])
    assert ready.window.chat.transcript.messages[-1].status.text() == "Interrupted"


def test_stop_before_the_engine_has_the_question(ready, qtbot, loop, file):
    ready.window.send("Never mind")
    ready.chat_session.stop()
    qtbot.waitUntil(lambda: saved(ready))
    assert ready.script.requests == []
    assert rows(file) == [("user", "Never mind", "complete"), ("assistant", "", "stopped")]
    assert ready.window.chat.transcript.messages[-1].status.text() == "Stopped before the answer started"


def test_a_deleted_chat_can_be_restored(ready, qtbot, loop, file):
    ask(ready, qtbot, "Precious")
    before = rows(file, "*", "chats"), rows(file, "*")
    chats, notice = ready.window.sidebar.chats, ready.window.chat.notice
    qtbot.waitUntil(lambda: titles(ready) == ["Precious"])
    chat = chats.model.entries[0].chat
    # The Delete and Backspace keys do not delete chats.
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
        qtbot.keyClick(chats.view, key)
    (trash,) = [action for action in chats.chat_menu(chat).actions() if action.text() == "Move to Trash"]
    trash.trigger()
    qtbot.waitUntil(lambda: titles(ready) == [])
    qtbot.waitUntil(lambda: notice.title.text() == "Moved to the trash")
    assert ready.chat_session.chat is None
    notice.button.click()
    qtbot.waitUntil(lambda: titles(ready) == ["Precious"])
    assert (rows(file, "*", "chats"), rows(file, "*")) == before
    ready.window.chat_library.move_to_trash(chat)
    qtbot.waitUntil(lambda: titles(ready) == [])
    ready.window.chat_library.show_shelf(Shelf.TRASH)
    qtbot.waitUntil(lambda: titles(ready) == ["Precious"])
    restore = chats.chat_menu(chats.model.entries[0].chat).actions()[0]
    assert restore.text() == "Restore"
    restore.trigger()
    qtbot.waitUntil(lambda: titles(ready) == [])
    ready.window.chat_library.show_shelf(Shelf.CURRENT)
    qtbot.waitUntil(lambda: titles(ready) == ["Precious"])


def test_a_name_that_is_being_typed_stays_when_the_list_is_read_again(ready, qtbot, loop):
    chats = ready.window.sidebar.chats
    ask(ready, qtbot, "One")
    qtbot.waitUntil(lambda: titles(ready) == ["One"])
    chats.rename(chats.model.entries[0].chat.id)
    editor = chats.view.findChild(QLineEdit)
    editor.setText("Uno")
    with qtbot.waitSignal(ready.window.chat_library.listed):
        ready.window.chat_library.refresh()
    assert editor.text() == "Uno"


def test_chats_are_renamed_in_place_pinned_and_archived(ready, qtbot, loop):
    chats = ready.window.sidebar.chats
    for question in ("One", "Two"):
        ready.window.current.new_chat()
        ask(ready, qtbot, question)
    qtbot.waitUntil(lambda: titles(ready) == ["Two", "One"])
    chats.view.setFocus()
    chats.rename(chats.model.entries[1].chat.id)
    editor = chats.view.findChild(QLineEdit)
    editor.setText("Uno")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: titles(ready) == ["Two", "Uno"])
    ready.window.chat_library.pin(chats.model.entries[1].chat.id, pinned=True)
    qtbot.waitUntil(lambda: titles(ready) == ["Uno", "Two"])
    assert [row.title for row in chats.model.rows if isinstance(row, GroupRow)] == ["Pinned", "Today"]
    assert "pinned" in chats.model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    ready.window.chat_library.archive(chats.model.entries[0].chat.id, archived=True)
    qtbot.waitUntil(lambda: titles(ready) == ["Two"])
    ready.window.chat_library.show_shelf(Shelf.ARCHIVED)
    qtbot.waitUntil(lambda: titles(ready) == ["Uno"])
    assert chats.title.accessibleName() == "Archive, expanded"


def test_search_finds_messages_while_typing(ready, qtbot, loop):
    for question, answer in (("Cats", "They purr loudly."), ("Dogs", "They bark.")):
        ready.window.current.new_chat()
        ask(ready, qtbot, question, answer)
    search = ready.window.sidebar.search
    qtbot.keyClicks(search, "purr")
    qtbot.waitUntil(lambda: titles(ready) == ["Cats"])
    assert "purr loudly" in ready.window.sidebar.chats.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    search.setText("dog")
    qtbot.waitUntil(lambda: titles(ready) == ["Dogs"])
    search.setText("nothing of this")
    qtbot.waitUntil(lambda: titles(ready) == [])
    assert ready.window.sidebar.chats.empty_note.text() == "No results."
    search.clear()
    qtbot.waitUntil(lambda: titles(ready) == ["Dogs", "Cats"])


def test_a_match_is_scrolled_into_view_on_any_branch_and_at_any_distance(ready, qtbot, loop, file):
    store = ChatStore(Database(file))
    chat, parent = store.add_chat(), None
    for number in range(120):
        text = "a needle lies here" if number == 30 else f"question {number}"
        parent = store.ask(chat, text, parent)
        parent = store.begin_answer(parent, "small")
        store.end_answer(parent, f"answer {number}\n\n" + "more words " * 30, State.COMPLETE)
    other = store.ask(chat, "a thimble on another branch", None)
    store.view(parent)
    store.database.close()
    search, transcript = ready.window.sidebar.search, ready.window.chat.transcript

    def open_match(text):
        search.setText(text)
        entries = ready.window.sidebar.chats.model
        qtbot.waitUntil(lambda: [text in entry.excerpt for entry in entries.entries] == [True])
        ready.window.sidebar.chats.open_row(0)

    def in_view(text):
        for message in transcript.messages:
            if isinstance(message, UserMessage) and message.text.toPlainText() == text:
                return 0 <= message.mapTo(transcript, message.rect().topLeft()).y() < transcript.height() - 40
        return False

    open_match("needle")
    qtbot.waitUntil(lambda: in_view("a needle lies here"), timeout=10_000)
    qtbot.wait(150)
    assert in_view("a needle lies here")
    open_match("thimble")
    qtbot.waitUntil(lambda: shown(ready) == ["a thimble on another branch"])
    assert ready.chat_session.turns[0].id == other
    open_match("needle")
    qtbot.waitUntil(lambda: in_view("a needle lies here"), timeout=10_000)


def test_the_find_bar_goes_through_the_messages_in_order(ready, qtbot, loop):
    for number in range(4):
        ask(ready, qtbot, f"Question {number}", f"Nothing but answer {number}")
    find, transcript = ready.window.chat.find_bar, ready.window.chat.transcript
    (action,) = [action for action in ready.window.menus.actions() if action.text() == "Find in Chat"]
    action.trigger()
    assert find.isVisible()
    qtbot.keyClicks(find.field, "QUESTION")
    assert find.count.text() == "4 of 4"

    def selected():
        return [
            message.turn_id
            for message in transcript.messages
            if any(text.textCursor().selectedText() == "Question" for text in message.texts)
        ]

    newest = [turn.id for turn in ready.chat_session.turns if turn.text.startswith("Question")]
    qtbot.waitUntil(lambda: selected() == [newest[3]])
    qtbot.keyClick(find.field, Qt.Key.Key_Return)
    assert find.count.text() == "3 of 4"
    qtbot.waitUntil(lambda: selected() == [newest[2]])
    find.newer.click()
    find.newer.click()
    assert find.count.text() == "1 of 4"
    find.field.setText("nobody said this")
    assert find.count.text() == "Nothing found"
    assert not find.older.isEnabled()
    qtbot.keyClick(find.field, Qt.Key.Key_Escape)
    assert find.isHidden()


def test_all_matches_are_marked_and_the_current_one_is_stronger(ready, qtbot, loop):
    ask(ready, qtbot, "An owl", f"One **owl**\n\n```\n{'x' * 400} owl\n```")
    find, transcript = ready.window.chat.find_bar, ready.window.chat.transcript

    def marked():
        return [
            mark.cursor.selectedText()
            for message in transcript.messages
            for text in message.texts
            for mark in text.extraSelections()
        ]

    find.open()
    qtbot.keyClicks(find.field, "owl")
    assert marked() == ["owl"] * 3
    view = transcript.last_message.texts[0]
    first, last = view.places("owl")
    assert view.textCursor() == last

    def ground(cursor):
        """Return the most frequent colour where a place is."""
        place = view.cursorRect(cursor).translated(-2, 0)
        image = view.grab().toImage()
        shades = Counter(image.pixelColor(x, place.center().y()).name() for x in range(place.left() - 8, place.left()))
        return shades.most_common(1)[0][0]

    assert ground(first) != theme.current().tokens.page
    # Also in what is written or shown later, and in a block that is scrolled sideways.
    ask(ready, qtbot, "Owls?", "Yes, owls")
    qtbot.waitUntil(lambda: marked() == ["owl"] * 3 + ["Owl", "owl"])
    find.field.setText("One")
    assert marked() == ["One"]
    qtbot.keyClick(find.field, Qt.Key.Key_Escape)
    assert marked() == []
    find.open()
    assert marked() == ["One"]


def test_every_match_is_found_and_enter_goes_through_them(ready, qtbot, loop):
    ask(ready, qtbot, "An owl and an owl", "🦉 One **owl**, then\n\n- an Owl\n- no bird")
    find, transcript = ready.window.chat.find_bar, ready.window.chat.transcript
    find.open()
    qtbot.keyClicks(find.field, "owl")

    def selected():
        (text,) = [
            text for message in transcript.messages for text in message.texts if text.textCursor().hasSelection()
        ]
        cursor = text.textCursor()
        return cursor.selectedText(), cursor.selectionStart()

    def where():
        return find.count.text(), selected()

    assert find.count.text() == "4 of 4"
    seen = [where()]
    for _ in range(4):
        qtbot.keyClick(find.field, Qt.Key.Key_Return)
        seen.append(where())
    assert [count for count, _ in seen] == ["4 of 4", "3 of 4", "2 of 4", "1 of 4", "4 of 4"]
    assert [text for _, (text, _) in seen[:4]] == ["Owl", "owl", "owl", "owl"]
    assert len(set(seen[:4])) == 4
    qtbot.keyClick(find.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert where() == seen[3]
    qtbot.keyClick(find.field, Qt.Key.Key_Escape)
    assert not any(text.textCursor().hasSelection() for message in transcript.messages for text in message.texts)


def test_the_conversation_continues_if_nothing_can_be_saved(
    qtbot, loop, tasks, stage, preferences, tmp_path, destroyed
):
    from sotto.ui.window.main_window import MainWindow

    blocked = tmp_path / "blocked"
    blocked.write_text("")
    keeper = ChatThread(blocked / "chats.sqlite3")
    window = MainWindow(stage.session, keeper, preferences)
    window.begin(tasks)
    qtbot.waitUntil(lambda: window.chat.notice.title.text() == "About your chats")
    assert str(blocked) in window.chat.notice.message.text()
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.session.load(stage.session.library.models[0])
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    # A load dismisses only notices about models.
    assert window.chat.notice.title.text() == "About your chats"
    assert not window.chat.notice.isHidden()
    window.send("Still there?")
    qtbot.waitUntil(lambda: not window.current.session.busy and len(window.current.session.turns) == 2)
    assert window.current.session.turns[1].text == "Hello there."
    window.sessions.close()
    qtbot.waitUntil(lambda: not tasks.running)  # let the window's own tasks end before it is destroyed
    keeper.close()
    destroyed(window, keeper)


def test_only_nearby_messages_of_a_long_chat_are_created(ready, qtbot, loop, file):
    store = ChatStore(Database(file))
    chat, parent = store.add_chat(), None
    for number in range(500):
        question = store.ask(chat, f"question {number}", parent)
        parent = store.begin_answer(question, "small")
        store.end_answer(parent, f"answer {number}\n\n" + "more words " * (number % 90), State.COMPLETE)
    store.database.close()
    ready.window.current.open(chat)
    transcript = ready.window.chat.transcript
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 1000 and bool(transcript.messages))
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0 and transcript.settled)
    assert transcript.messages[-1].body.markdown.startswith("answer 499")
    assert len(transcript.messages) < 60

    def in_view():
        top, height = bar.value(), transcript.viewport().height()
        return [row for row in transcript.messages if row.y() < top + height and row.y() + row.height() > top]

    for share in (0.7, 0.31, 0.305, 0.0, 0.9):
        transcript.stop_following()
        bar.setValue(round(bar.maximum() * share))
        # The visible messages exist at once, and do not move when more are created above and below.
        first = in_view()[0]
        before = first.mapTo(transcript, first.rect().topLeft()).y()
        assert before <= theme.GAP_32
        qtbot.waitUntil(lambda: transcript.settled)
        qtbot.wait(30)
        assert first in transcript.messages
        assert abs(first.mapTo(transcript, first.rect().topLeft()).y() - before) <= 2
        assert len(transcript.messages) < 100
        if share == 0.0:
            assert transcript.messages[0].text.toPlainText() == "question 0"
    # No messages overlap.
    for above, below in itertools.pairwise(transcript.messages):
        assert above.y() + above.height() <= below.y()


def test_a_message_being_edited_is_kept_at_any_distance(ready, qtbot, loop, file):
    store = ChatStore(Database(file))
    chat, parent = store.add_chat(), None
    for number in range(100):
        question_id = store.ask(chat, f"question {number}", parent)
        parent = store.begin_answer(question_id, "small")
        store.end_answer(parent, "words " * 200, State.COMPLETE)
    store.database.close()
    ready.window.current.open(chat)
    transcript = ready.window.chat.transcript
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0 and transcript.settled)
    question, other = transcript.messages[-2], transcript.messages[-4]
    question.edit.click()
    transcript.stop_following()
    bar.setValue(0)
    qtbot.waitUntil(lambda: transcript.settled)
    assert question in transcript.messages
    assert other not in transcript.messages


KILLED = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
import sotto.ui.app.app as app
from sotto.ui.state.model_state import ChatSettings, Phase
def watch():
    application = app.QApplication.instance()
    window = next(widget for widget in application.topLevelWidgets() if isinstance(widget, app.MainWindow))
    window.session.settings = ChatSettings(num_predict=100_000, ignore_eos=True)
    def send():
        if window.session.state.phase is Phase.READY and not window.current.session.turns:
            # The answer continues when the context is full.
            window.current.session.draft.allow_trimming()
            window.send("Tell me everything")
        turns = window.current.session.turns
        if len(turns) == 2 and turns[1].text:
            print(len(turns[1].text), flush=True)
    window.ticks = QTimer(window, interval=50)
    window.ticks.timeout.connect(send)
    window.ticks.start()
painted = app.show_window
def paint(window):
    painted(window)
    watch()
app.show_window = paint
app.run()
"""


def test_a_killed_app_loses_at_most_a_second_of_an_answer(own_home):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    )
    lengths = []
    for line in process.stdout:
        lengths.append((time.monotonic(), int(line)))
        if lengths[-1][0] - lengths[0][0] > 2.5:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    (file,) = own_home.rglob("chats.sqlite3")
    database = Database(file)
    assert database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    store = ChatStore(database)
    (chat,) = store.chats()
    question, answer = store.branch(chat.id).turns
    assert (question.text, answer.state) == ("Tell me everything", State.INTERRUPTED)
    length_a_second_before = max(length for when, length in lengths if when <= lengths[-1][0] - 1)
    assert len(answer.text) >= length_a_second_before
    database.close()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_short_list_of_existing_chats_does_not_scroll(
    qtbot, loop, tasks, stage, preferences, tmp_path, destroyed, count
):
    from sotto.ui.window.main_window import MainWindow

    path = tmp_path / "other" / "chats.sqlite3"
    path.parent.mkdir()
    store = ChatStore(Database(path))
    for number in range(count):
        store.ask(store.add_chat(), f"question {number}", None)
    store.database.close()
    keeper = ChatThread(path)
    window = MainWindow(stage.session, keeper, preferences)
    window.show()
    window.begin(tasks)
    view = window.sidebar.chats.view
    qtbot.waitUntil(lambda: view.model().rowCount() == count + 1)
    qtbot.wait(100)
    assert view.verticalScrollBar().maximum() == 0
    assert view.viewport().height() >= view.sizeHint().height()
    window.hide()
    window.sessions.close()
    qtbot.waitUntil(lambda: not tasks.running)  # let the window's own tasks end before it is destroyed
    keeper.close()
    destroyed(window, keeper)
