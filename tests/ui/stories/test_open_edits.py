"""The text in the open editor of a message is kept like a draft, whatever happens to its chat and to the app."""

import os
import subprocess
import sys
import threading
import time

import pytest
from PySide6.QtCore import Qt

from sotto.chats.chat_records import State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.paths import data_dir
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.window.main_window import MainWindow


@pytest.fixture
def file(tmp_path):
    return tmp_path / "data" / "chats.sqlite3"


def saved(stage):
    turns = stage.chat_session.turns
    return not stage.chat_session.busy and all(turn.id > 0 and turn.versions for turn in turns)


def ask(stage, qtbot, *questions):
    for question in questions:
        before = len(stage.chat_session.turns)
        stage.script.chunks = [f"Answer to {question}."]
        stage.window.send(question)
        qtbot.waitUntil(lambda: len(stage.chat_session.turns) == before + 2 and saved(stage))  # noqa: B023


def messages(stage):
    return stage.window.chat.transcript.messages


def type_into(qtbot, message, text):
    """Open the editor of a message, and type in place of its text."""
    message.begin_edit()
    message.editor.draft.selectAll()
    qtbot.keyClicks(message.editor.draft, text)


def edits(stage):
    """Return what the open editors contain, by the place of their message."""
    places = {turn.id: place for place, turn in enumerate(stage.chat_session.turns)}
    return {
        places[message.turn_id]: message.editor.draft.toPlainText() for message in messages(stage) if message.editing
    }


def leave_and_return(stage, qtbot):
    chat = stage.chat_session.chat
    stage.window.current.new_chat()
    qtbot.waitUntil(lambda: stage.window.sessions.find(chat) is None)
    assert messages(stage) == []
    stage.window.current.open(chat)
    qtbot.waitUntil(lambda: stage.chat_session.chat == chat and stage.window.chat.transcript.settled)


def on_disk(file):
    """Read the open edits as another program would."""
    store = ChatStore(Database(file))
    (chat,) = store.chats()
    found = store.edits(chat.id)
    store.database.close()
    return list(found.values())


def test_open_edits_come_back_with_their_chat(ready, qtbot, loop, file):
    ask(ready, qtbot, "One", "Two")
    type_into(qtbot, messages(ready)[0], "One, but longer")
    type_into(qtbot, messages(ready)[3], "Another answer")
    leave_and_return(ready, qtbot)
    assert edits(ready) == {0: "One, but longer", 3: "Another answer"}
    # What is typed next goes to the composer, as in every chat that is opened.
    assert ready.window.focusWidget() is ready.window.chat.composer.draft
    # It is saved while it is typed, too.
    qtbot.keyClicks(messages(ready)[0].editor.draft, " still")
    qtbot.waitUntil(lambda: on_disk(file) == ["One, but longer still", "Another answer"])
    # Escape ends one, the button the other.
    qtbot.keyClick(messages(ready)[0].editor.draft, Qt.Key.Key_Escape)
    assert edits(ready) == {3: "Another answer"}
    messages(ready)[3].editor.cancel.click()
    leave_and_return(ready, qtbot)
    assert edits(ready) == {}
    assert on_disk(file) == []


def test_an_edit_that_is_made_does_not_come_back(ready, qtbot, loop, file):
    ask(ready, qtbot, "One", "Two")
    type_into(qtbot, messages(ready)[2], "Two again")
    type_into(qtbot, messages(ready)[1], "I count sheep.")
    # The editor of a message that follows moves on with the new version.
    qtbot.keyClick(messages(ready)[1].editor.draft, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: ready.chat_session.turns[1].text == "I count sheep.")
    assert edits(ready) == {2: "Two again"}
    ready.script.chunks = ["Another answer."]
    qtbot.keyClick(messages(ready)[2].editor.draft, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: saved(ready) and ready.chat_session.turns[-1].text == "Another answer.")
    leave_and_return(ready, qtbot)
    assert edits(ready) == {}
    assert on_disk(file) == []
    # Neither do the versions from before have an editor.
    messages(ready)[1].versions.older.click()
    qtbot.waitUntil(lambda: ready.chat_session.turns[1].text == "Answer to One.")
    assert edits(ready) == {}


def test_an_edit_stays_with_its_version(ready, qtbot, loop):
    ask(ready, qtbot, "One")
    ready.script.chunks = ["Second answer."]
    messages(ready)[1].again.click()
    qtbot.waitUntil(lambda: saved(ready) and ready.chat_session.turns[1].text == "Second answer.")
    type_into(qtbot, messages(ready)[1], "Third, by hand")
    messages(ready)[1].versions.older.click()
    qtbot.waitUntil(lambda: ready.chat_session.turns[1].text == "Answer to One.")
    assert edits(ready) == {}
    messages(ready)[1].versions.newer.click()
    qtbot.waitUntil(lambda: ready.chat_session.turns[1].text == "Second answer.")
    assert edits(ready) == {1: "Third, by hand"}


def test_a_deletion_takes_an_edit_along_and_its_undo_brings_it_back(ready, qtbot, loop):
    ask(ready, qtbot, "One", "Two")
    type_into(qtbot, messages(ready)[3], "A better answer")
    ready.chat_session.branches.delete(messages(ready)[3].turn_id)
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2)
    # The next messages have the numbers of those that were deleted.
    ask(ready, qtbot, "Three")
    assert edits(ready) == {}
    ready.window.undo()
    qtbot.waitUntil(lambda: any(turn.text == "Two" for turn in ready.chat_session.turns))
    assert list(edits(ready).values()) == ["A better answer"]


def test_escape_cancels_no_edit_that_is_out_of_view(ready, qtbot, loop):
    ready.script.chunks = ["line\n\n" * 80]
    ready.window.send("One")
    qtbot.waitUntil(lambda: saved(ready) and len(ready.chat_session.turns) == 2)
    ask(ready, qtbot, "Two")
    transcript, draft = ready.window.chat.transcript, ready.window.chat.composer.draft
    first = ready.chat_session.turns[0].id
    transcript.go_to(first)
    type_into(qtbot, messages(ready)[0], "One, changed")
    qtbot.waitUntil(messages(ready)[0].editor.isVisible)
    transcript.go_to_newest()
    draft.setFocus()
    qtbot.keyClick(draft, Qt.Key.Key_Escape)
    transcript.go_to(first)
    assert edits(ready) == {0: "One, changed"}
    draft.setFocus()
    qtbot.keyClick(draft, Qt.Key.Key_Escape)
    assert edits(ready) == {}


def test_an_edit_is_kept_while_an_answer_is_written_out_of_view(ready, qtbot, loop):
    ask(ready, qtbot, "One")
    chat = ready.chat_session.chat
    ready.script.chunks, ready.script.hold_answer = ["Half ", "of it", " and more"], threading.Event()
    ready.window.send("Two")
    qtbot.waitUntil(lambda: ready.chat_session.turns[-1].text == "Half of it")
    type_into(qtbot, messages(ready)[0], "One, changed")
    ready.window.current.new_chat()
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: ready.window.sessions.find(chat) is None)
    ready.window.current.open(chat)
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 4)
    assert edits(ready) == {0: "One, changed"}


KILLED = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
import sotto.ui.app.app as app
def type_on(window):
    if window.current.session.chat is None:
        window.current.open(1)
    elif messages := window.chat.transcript.messages:
        editing = messages[0].editing
        messages[0].begin_edit()
        if not editing:
            messages[0].editor.draft.clear()
        QTest.keyClicks(messages[0].editor.draft, "a word ")
        print(messages[0].editor.draft.toPlainText(), flush=True)
painted = app.show_window
def paint(window):
    painted(window)
    window.ticks = QTimer(window, interval=50)
    window.ticks.timeout.connect(lambda: type_on(window))
    window.ticks.start()
app.show_window = paint
app.run()
"""


@pytest.mark.slow
def test_a_killed_app_loses_at_most_a_second_of_an_edit(qtbot, loop, tasks, stage, preferences, destroyed):
    file = data_dir() / "chats.sqlite3"
    store = ChatStore(Database(file))
    chat = store.add_chat()
    question = store.ask(chat, "A question", None)
    store.end_answer(store.begin_answer(question, "small"), "An answer.", State.COMPLETE)
    store.database.close()
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    )
    typed = []
    for line in process.stdout:
        typed.append((time.monotonic(), line.rstrip("\n")))
        if typed[-1][0] - typed[0][0] > 2.5:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    a_second_before = max((text for when, text in typed if when <= typed[-1][0] - 1), key=len)

    # The next start shows the editor with that text.
    keeper = ChatThread(file)
    window = MainWindow(stage.session, keeper, preferences)
    window.begin(tasks)
    window.current.open(chat)
    qtbot.waitUntil(lambda: bool(window.chat.transcript.messages))
    shown = window.chat.transcript.messages[0].editor.draft.toPlainText()
    assert shown.startswith(a_second_before)
    assert shown.replace("a word ", "") == ""
    window.sessions.close()
    qtbot.waitUntil(lambda: not tasks.running)
    keeper.close()
    destroyed(window, keeper)
