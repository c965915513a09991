"""Answers that continue while another conversation is in view."""

import sqlite3
import threading

import pytest

from scripted_loop import record
from sotto.chats.chat_records import State
from sotto.ui.state.model_state import Phase


@pytest.fixture
def file(tmp_path):
    return tmp_path / "data" / "chats.sqlite3"


def rows(file, columns="role, text, state", table="messages"):
    with sqlite3.connect(file) as connection:
        return connection.execute(f"select {columns} from {table} order by id").fetchall()


def shown(stage):
    return [turn.text for turn in stage.chat_session.turns]


def captions(stage):
    model = stage.window.sidebar.chats.model
    return {entry.chat.title: model.caption(entry) for entry in model.entries}


def begin_answer(stage, qtbot, question):
    """Ask, and return the chat once half of the answer has arrived; `script.hold_answer` holds the rest back."""
    stage.script.chunks, stage.script.hold_answer = ["One ", "two ", "three ", "four."], threading.Event()
    stage.window.send(question)
    qtbot.waitUntil(lambda: stage.chat_session.turns and stage.chat_session.turns[-1].text.startswith("One "))
    qtbot.waitUntil(lambda: stage.chat_session.chat is not None)
    return stage.chat_session.chat


def test_an_answer_continues_while_another_chat_is_in_view(ready, qtbot, loop, file):
    chat = begin_answer(ready, qtbot, "First?")
    ready.window.current.new_chat()
    assert shown(ready) == []
    assert not ready.chat_session.busy
    assert ready.window.chat.transcript.empty
    assert ready.window.sessions.background_chats == {chat}
    qtbot.waitUntil(lambda: captions(ready) == {"First?": "Answering…"})
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: rows(file) == [("user", "First?", "complete"),
                                           ("assistant", "One two three four.", "complete")])  # fmt: skip
    qtbot.waitUntil(lambda: captions(ready)["First?"] != "Answering…")
    assert ready.session.state.phase is Phase.READY
    assert ready.window.sessions.background_chats == set()
    ready.window.current.open(chat)
    qtbot.waitUntil(lambda: shown(ready) == ["First?", "One two three four."])


def test_an_answer_keeps_streaming_when_its_chat_comes_back_into_view(ready, qtbot, loop, file):
    chat = begin_answer(ready, qtbot, "First?")
    hold, requests = ready.script.hold_answer, len(ready.script.requests)
    ready.window.chat.composer.draft.setPlainText("next thought")
    ready.window.current.new_chat()
    ready.window.current.open(chat)
    assert ready.chat_session.answering
    assert ready.window.chat.transcript.answer is not None
    assert shown(ready)[0] == "First?"
    assert ready.window.sessions.background_chats == set()
    # The question did not become a back in the composer, and was not sent twice.
    hold.set()
    qtbot.waitUntil(lambda: shown(ready) == ["First?", "One two three four."] and not ready.chat_session.busy)
    assert len(ready.script.requests) == requests
    assert ready.window.chat.composer.text == "next thought"
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "One two three four.", "complete")])
    assert ready.window.chat.transcript.messages[-1].body.markdown == "One two three four."


def test_the_button_stops_only_the_answer_in_view(ready, qtbot, loop):
    button = ready.window.chat.composer.button
    chat = begin_answer(ready, qtbot, "First?")
    assert button.accessibleName() == "Stop answering"
    ready.window.current.new_chat()
    assert button.accessibleName() == "Send message"
    ready.window.current.open(chat)
    assert button.accessibleName() == "Stop answering"
    button.click()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert shown(ready) == ["First?", "One two three "]


def test_a_chat_keeps_its_session_until_its_answer_ends_out_of_view(ready, qtbot, loop):
    sessions, current = ready.window.sessions, ready.window.current
    chat = begin_answer(ready, qtbot, "First?")
    first = current.session
    current.new_chat()
    assert sessions.find(chat) is first
    current.open(chat)
    assert current.session is first
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: not first.busy)
    assert sessions.find(chat) is first
    current.new_chat()
    assert sessions.find(chat) is None
    current.open(chat)
    qtbot.waitUntil(lambda: current.session.chat == chat)
    assert current.session is not first
    assert shown(ready) == ["First?", "One two three four."]


def test_the_chat_requested_last_comes_into_view(ready, qtbot, loop):
    kept = []
    for _ in range(2):
        ready.keeper.do(lambda store: store.add_chat(), kept.append)
    qtbot.waitUntil(lambda: len(kept) == 2)
    current, seen = ready.window.current, []
    current.changed.connect(lambda session: seen.append(session.chat))
    current.open(kept[0])
    current.open(kept[1])
    # Until it has been read, the previous chat is still in view.
    assert current.session.chat is None
    qtbot.waitUntil(lambda: current.session.chat == kept[1])
    assert seen == [kept[1]]
    assert ready.window.sessions.find(kept[0]) is None
    current.open(kept[0])
    current.new_chat()
    done = []
    ready.keeper.do(lambda store: None, done.append)
    qtbot.waitUntil(lambda: bool(done))
    assert current.session.chat is None


def test_a_question_asked_while_another_version_loads_stays(ready, qtbot, loop, file):
    session = ready.chat_session
    for text in ("first answer", "second answer"):
        ready.script.chunks = [text]
        if session.turns:
            session.regenerate(session.turns[-1].id)
        else:
            ready.window.send("Question")
        qtbot.waitUntil(lambda: not session.busy and all(turn.id > 0 for turn in session.turns))
    first = session.turns[-1].versions[0]
    session.branches.show_version(first)
    assert session.send("And then?")
    qtbot.waitUntil(lambda: not session.busy and all(turn.id > 0 for turn in session.turns))
    assert [turn.text for turn in session.turns] == ["Question", "second answer", "And then?", "second answer"]


def test_a_question_that_waits_for_a_model_is_answered_out_of_view(stage, qtbot, loop, file):
    stage.script.hold_load = threading.Event()
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.session.load(stage.session.library.models[0])
    stage.chat_session.draft.set_choices("Be brief.", {"seed": 1})
    assert stage.chat_session.send("Early?")
    qtbot.waitUntil(lambda: stage.chat_session.chat is not None)
    stage.window.current.new_chat()
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "Hello there.", "complete")])
    assert [turn.content for turn in stage.script.requests[-1].messages] == ["Be brief.", "Early?"]
    assert shown(stage) == []


def test_a_question_still_being_saved_is_answered_too(ready, qtbot, loop, file):
    ready.window.send("Quick?")
    ready.window.current.new_chat()
    qtbot.waitUntil(lambda: bool(ready.window.sidebar.chats.model.entries))  # until then the table may not exist
    qtbot.waitUntil(lambda: rows(file) == [("user", "Quick?", "complete"), ("assistant", "Hello there.", "complete")])
    qtbot.waitUntil(lambda: shown(ready) == [])


def test_an_unanswered_question_becomes_a_draft_before_later_text(ready, qtbot, loop, file):
    ready.script.hold_prefill = threading.Event()
    ready.script.chunks, ready.script.fail_answer = [], "The prompt is longer than the context."
    ready.window.send("Too long")
    qtbot.waitUntil(lambda: ready.chat_session.answering and ready.chat_session.chat is not None)
    chat = ready.chat_session.chat
    ready.window.chat.composer.draft.setPlainText("afterthought")
    ready.window.current.new_chat()
    ready.script.hold_prefill.set()
    notice = ready.window.chat.notice
    qtbot.waitUntil(lambda: notice.title.text() == "No answer" and notice.button.text() == "Open chat")
    assert notice.message.text() == "In another chat."
    qtbot.waitUntil(lambda: rows(file, "draft", "chats") == [("Too long\nafterthought",)] and rows(file) == [])
    notice.button.click()
    qtbot.waitUntil(lambda: ready.window.chat.composer.text == "Too long\nafterthought")
    assert ready.chat_session.chat == chat
    assert notice.message.text() == "The prompt is longer than the context."


def test_deleting_a_chat_stops_its_answer(ready, qtbot, loop, file):
    begin_answer(ready, qtbot, "First?")
    ready.window.current.new_chat()
    chats = ready.window.sidebar.chats
    qtbot.waitUntil(lambda: bool(chats.model.entries))
    ready.window.chat_library.move_to_trash(chats.model.entries[0].chat)
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "One two three ", "stopped")])
    assert ready.window.sessions.background_chats == set()
    begin_answer(ready, qtbot, "Second?")
    qtbot.waitUntil(lambda: [entry.chat.title for entry in chats.model.entries] == ["Second?"])
    ready.window.chat_library.move_to_trash(chats.model.entries[0].chat)
    qtbot.waitUntil(lambda: rows(file)[3:] == [("assistant", "One two three ", "stopped")])
    assert shown(ready) == []


def test_two_answers_at_once_stay_separate(ready, qtbot, loop, file):
    first = begin_answer(ready, qtbot, "First?")
    hold = ready.script.hold_answer
    ready.window.current.new_chat()
    ready.window.send("Second?")
    qtbot.waitUntil(lambda: ready.chat_session.answering)
    hold.set()
    qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.window.sessions.background_chats == set())
    second = ready.chat_session.chat
    qtbot.waitUntil(lambda: rows(file, "state") == [("complete",)] * 4)
    messages = rows(file, "chat, role, text")
    assert {row for row in messages if row[0] == first} == {(first, "user", "First?"),
                                                        (first, "assistant", "One two three four.")}  # fmt: skip
    assert {message[2] for message in messages if message[0] == second} == {"Second?", "One two three four."}


def test_quitting_keeps_a_partial_answer(around, qtbot, loop, file):
    around.load(qtbot)
    around.script.chunks, around.script.hold_answer = ["Half ", "of ", "never"], threading.Event()
    shell = around.shell
    shell.open_window()
    shell.window.send("Long?")
    qtbot.waitUntil(
        lambda: shell.window.current.session.turns and shell.window.current.session.turns[-1].text == "Half of "
    )
    shell.window.current.new_chat()
    # The quick prompt shares the same sessions.
    assert len(shell.sessions.background_chats) == 1
    shell.close()
    around.keeper.wait(5)
    assert rows(file)[1:] == [("assistant", "Half of ", State.STOPPED.value)]
    assert around.session.state.record == record()
