"""Answers that go on while another conversation is in view."""

import sqlite3
import threading

import pytest

from scripted_loop import record
from sotto.chats.records import State
from sotto.ui.state.model_state import Phase


@pytest.fixture
def file(tmp_path):
    return tmp_path / "data" / "chats.sqlite3"


def rows(file, columns="role, text, state", table="messages"):
    with sqlite3.connect(file) as connection:
        return connection.execute(f"select {columns} from {table} order by id").fetchall()


def shown(stage):
    return [turn.text for turn in stage.dialogue.turns]


def captions(stage):
    model = stage.window.sidebar.chats.model
    return {row.chat.title: model.caption(row) for row in model.rows}


def begin_answer(stage, qtbot, question):
    """Ask, and return the chat once the first half of the answer is there; `script.hold_answer` holds the rest."""
    stage.script.chunks, stage.script.hold_answer = ["One ", "two ", "three ", "four."], threading.Event()
    stage.window.send(question)
    qtbot.waitUntil(lambda: stage.dialogue.turns and stage.dialogue.turns[-1].text.startswith("One "))
    qtbot.waitUntil(lambda: stage.dialogue.chat is not None)
    return stage.dialogue.chat


def test_an_answer_goes_on_while_another_chat_is_in_view(ready, qtbot, loop, file):
    chat = begin_answer(ready, qtbot, "First?")
    ready.dialogue.new_chat()
    assert shown(ready) == []
    assert not ready.dialogue.busy
    assert ready.window.chat.transcript.empty
    assert ready.window.behind.chats == {chat}
    qtbot.waitUntil(lambda: captions(ready) == {"First?": "Answering…"})
    ready.script.hold_answer.set()
    qtbot.waitUntil(lambda: rows(file) == [("user", "First?", "complete"),
                                           ("assistant", "One two three four.", "complete")])  # fmt: skip
    qtbot.waitUntil(lambda: captions(ready)["First?"] != "Answering…")
    assert ready.session.state.phase is Phase.READY
    assert ready.window.behind.chats == set()
    ready.dialogue.open(chat)
    qtbot.waitUntil(lambda: shown(ready) == ["First?", "One two three four."])


def test_it_is_seen_going_on_when_its_chat_comes_back(ready, qtbot, loop, file):
    chat = begin_answer(ready, qtbot, "First?")
    hold, requests = ready.script.hold_answer, len(ready.script.requests)
    ready.window.chat.composer.draft.setPlainText("next thought")
    ready.dialogue.new_chat()
    ready.dialogue.open(chat)
    assert ready.dialogue.answering
    assert ready.window.chat.transcript.answer is not None
    assert shown(ready)[0] == "First?"
    assert ready.window.behind.chats == set()
    # Nothing came back to it, and nothing was asked twice.
    hold.set()
    qtbot.waitUntil(lambda: shown(ready) == ["First?", "One two three four."] and not ready.dialogue.busy)
    assert len(ready.script.requests) == requests
    assert ready.window.chat.composer.text == "next thought"
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "One two three four.", "complete")])
    assert ready.window.chat.transcript.messages[-1].body.markdown == "One two three four."


def test_a_question_that_waits_for_a_model_is_answered_out_of_view(stage, qtbot, loop, file):
    stage.script.hold_load = threading.Event()
    qtbot.waitUntil(lambda: bool(stage.session.models))
    stage.session.load(stage.session.models[0])
    stage.dialogue.unsent.choose("Be brief.", {"seed": 1})
    assert stage.dialogue.send("Early?")
    qtbot.waitUntil(lambda: stage.dialogue.chat is not None)
    stage.dialogue.new_chat()
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "Hello there.", "complete")])
    assert [turn.content for turn in stage.script.requests[-1].messages] == ["Be brief.", "Early?"]
    assert shown(stage) == []


def test_a_question_on_its_way_to_the_disk_is_answered_too(ready, qtbot, loop, file):
    ready.window.send("Quick?")
    ready.dialogue.new_chat()
    qtbot.waitUntil(lambda: rows(file) == [("user", "Quick?", "complete"), ("assistant", "Hello there.", "complete")])
    qtbot.waitUntil(lambda: shown(ready) == [])


def test_what_gets_no_answer_is_a_draft_again_before_what_was_typed_since(ready, qtbot, loop, file):
    ready.script.hold_prefill = threading.Event()
    ready.script.chunks, ready.script.fail_answer = [], "The prompt is longer than the context."
    ready.window.send("Too long")
    qtbot.waitUntil(lambda: ready.dialogue.answering and ready.dialogue.chat is not None)
    chat = ready.dialogue.chat
    ready.window.chat.composer.draft.setPlainText("afterthought")
    ready.dialogue.new_chat()
    ready.script.hold_prefill.set()
    notice = ready.window.chat.notice
    qtbot.waitUntil(lambda: notice.title.text() == "No answer in another chat")
    assert notice.message.text() == "The prompt is longer than the context."
    qtbot.waitUntil(lambda: rows(file, "draft", "chats") == [("Too long\nafterthought",)] and rows(file) == [])
    ready.dialogue.open(chat)
    qtbot.waitUntil(lambda: ready.window.chat.composer.text == "Too long\nafterthought")


def test_a_chat_that_is_thrown_away_is_answered_no_further(ready, qtbot, loop, file):
    begin_answer(ready, qtbot, "First?")
    ready.dialogue.new_chat()
    chats = ready.window.sidebar.chats
    qtbot.waitUntil(lambda: bool(chats.model.entries))
    ready.window.shelf.throw_away(chats.model.entries[0].chat)
    qtbot.waitUntil(lambda: rows(file)[1:] == [("assistant", "One two three ", "stopped")])
    assert ready.window.behind.chats == set()
    begin_answer(ready, qtbot, "Second?")
    qtbot.waitUntil(lambda: [entry.chat.title for entry in chats.model.entries] == ["Second?"])
    ready.window.shelf.throw_away(chats.model.entries[0].chat)
    qtbot.waitUntil(lambda: rows(file)[3:] == [("assistant", "One two three ", "stopped")])
    assert shown(ready) == []


def test_two_answers_at_once_stay_apart(ready, qtbot, loop, file):
    first = begin_answer(ready, qtbot, "First?")
    hold = ready.script.hold_answer
    ready.dialogue.new_chat()
    ready.window.send("Second?")
    qtbot.waitUntil(lambda: ready.dialogue.answering)
    hold.set()
    qtbot.waitUntil(lambda: not ready.dialogue.busy and ready.window.behind.chats == set())
    second = ready.dialogue.chat
    qtbot.waitUntil(lambda: rows(file, "state") == [("complete",)] * 4)
    said = rows(file, "chat, role, text")
    assert {one for one in said if one[0] == first} == {(first, "user", "First?"),
                                                        (first, "assistant", "One two three four.")}  # fmt: skip
    assert {one[2] for one in said if one[0] == second} == {"Second?", "One two three four."}


def test_the_end_of_the_app_keeps_what_there_is(around, qtbot, loop, file):
    around.load(qtbot)
    around.script.chunks, around.script.hold_answer = ["Half ", "of ", "never"], threading.Event()
    shell = around.shell
    shell.open_window()
    shell.window.send("Long?")
    qtbot.waitUntil(lambda: shell.window.dialogue.turns and shell.window.dialogue.turns[-1].text == "Half of ")
    shell.window.dialogue.new_chat()
    # The quick prompt looks after the same answers.
    assert len(shell._behind.chats) == 1
    shell.close()
    around.keeper.wait(5)
    assert rows(file)[1:] == [("assistant", "Half of ", State.STOPPED.value)]
    assert around.session.state.record == record()
