"""Conversations that a newer Sotto has written, in this one: they can be read, and nothing of them is changed."""

import contextlib
import sqlite3

import pytest

from sotto.chats.chat_records import State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.schema import VERSION
from sotto.ui.conversation.chat_phase import Phase


@pytest.fixture
def newer(tmp_path):
    """Return a file with two chats, as a version after this one keeps it."""
    path = tmp_path / "data" / "chats.sqlite3"
    store = ChatStore(Database(path))
    for title in ("the first", "the second"):
        chat = store.add_chat()
        answer = store.begin_answer(store.ask(chat, title, None), "tiny:latest")
        store.end_answer(answer, f"an answer to {title}", State.COMPLETE)
    store.database.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE messages ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
        connection.execute("CREATE TABLE moods (name TEXT)")
        connection.execute("INSERT INTO moods VALUES ('calm')")
        connection.execute(f"PRAGMA user_version = {VERSION + 3}")
        connection.commit()
    return path


def notice(window):
    return window.panes.pane.notice


def test_they_are_shown_and_nothing_is_written(newer, ready, qtbot, loop):
    before, window = newer.read_bytes(), ready.window
    chats = window.sidebar.chats
    qtbot.waitUntil(lambda: len(chats.model.entries) == 2)
    qtbot.waitUntil(lambda: notice(window).title.text() == "About your chats")
    assert "was written by a newer version of Sotto" in notice(window).message.text()
    window.current.open(chats.model.entries[0].chat.id)
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2)
    assert ready.chat_session.turns[1].text == "an answer to the second"
    notice(window).dismiss.click()
    # A question is answered, and it is said at once that it is not saved.
    ready.script.chunks = ["Hello."]
    window.chat.composer.draft.setPlainText("a question")
    window.send("a question")
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 4 and ready.chat_session.phase is Phase.IDLE)
    assert ready.chat_session.turns[3].text == "Hello."
    assert notice(window).title.text() == "Not saved"
    assert "nothing is saved until that version opens it again" in notice(window).message.text()
    # In a new chat as well.
    notice(window).dismiss.click()
    window.new_chat()
    window.send("another question")
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2 and ready.chat_session.phase is Phase.IDLE)
    assert notice(window).title.text() == "Not saved"
    ready.keeper.wait(5)
    assert newer.read_bytes() == before
    assert sorted(path.name for path in newer.parent.iterdir()) == ["chats.sqlite3"]


def test_a_draft_is_not_lost_silently(newer, ready, qtbot, loop):
    before, window = newer.read_bytes(), ready.window
    qtbot.waitUntil(lambda: notice(window).title.text() == "About your chats")
    notice(window).dismiss.click()
    window.chat.composer.draft.setPlainText("what I am writing")
    qtbot.waitUntil(lambda: notice(window).title.text() == "Not saved")
    assert "nothing is saved" in notice(window).message.text()
    # Once is enough while one writes.
    notice(window).dismiss.click()
    window.chat.composer.draft.setPlainText("what I am writing on")
    qtbot.wait(800)
    assert not notice(window).isVisible()
    assert window.chat.composer.text == "what I am writing on"
    assert newer.read_bytes() == before


def test_other_changes_say_that_they_are_not_saved(newer, ready, qtbot, loop):
    before, window = newer.read_bytes(), ready.window
    chats = window.sidebar.chats
    qtbot.waitUntil(lambda: len(chats.model.entries) == 2)
    qtbot.waitUntil(lambda: notice(window).title.text() == "About your chats")
    chat = chats.model.entries[0].chat.id
    for change in (
        lambda: chats.renamed.emit(chat, "another title"),
        lambda: chats.trash_wanted.emit(chats.model.entries[0].chat),
        window.chat_library.empty_trash,
    ):
        notice(window).dismiss.click()
        change()
        qtbot.waitUntil(lambda: notice(window).title.text() == "Not saved" and notice(window).isVisible())
    window.chat_library.refresh()
    qtbot.wait(100)
    assert [entry.chat.title for entry in chats.model.entries] == ["the second", "the first"]
    assert newer.read_bytes() == before
