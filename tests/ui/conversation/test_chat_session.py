"""The phases of one conversation, from the question to the end of its answer."""

import threading

from sotto.ui.conversation.chat_phase import Phase


def record_phases(stage):
    """Return a list that grows with the phases of the conversation in view."""
    session, phases = stage.chat_session, []
    session.phase_changed.connect(lambda: phases.append(session.phase))
    return phases


def test_a_question_is_saved_read_and_answered(ready, qtbot, loop):
    phases = record_phases(ready)
    assert ready.chat_session.send("Hi")
    assert phases == [Phase.SAVING]
    # No other question can be sent meanwhile.
    assert not ready.chat_session.send("And this?")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert phases == [Phase.SAVING, Phase.PREFILLING, Phase.ANSWERING, Phase.IDLE]


def test_a_question_waits_for_a_model_and_becomes_a_draft_if_stopped(stage, qtbot, loop):
    stage.script.hold_load = threading.Event()
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.session.load(stage.session.library.models[0])
    phases = record_phases(stage)
    assert stage.chat_session.send("Early?")
    qtbot.waitUntil(lambda: stage.chat_session.phase is Phase.WAITING_FOR_MODEL)
    stage.chat_session.stop()
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: not stage.chat_session.busy)
    assert phases == [Phase.SAVING, Phase.WAITING_FOR_MODEL, Phase.IDLE]
    assert stage.chat_session.turns == []
    assert stage.window.chat.composer.text == "Early?"


def test_a_question_saved_after_a_model_that_cannot_chat_was_loaded_comes_back_with_the_reason(stage, qtbot, loop):
    saving, stage.script.hold_load = threading.Event(), threading.Event()
    stage.script.writes = False
    stage.keeper.do(lambda _: saving.wait(30))
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.session.load(stage.session.library.models[0])
    phases = record_phases(stage)
    assert stage.chat_session.send("Early?")
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: stage.session.state.loaded)
    saving.set()
    qtbot.waitUntil(lambda: not stage.chat_session.busy)
    assert phases == [Phase.SAVING, Phase.IDLE]
    assert stage.window.chat.composer.text == "Early?"
    assert stage.window.chat.notice.title.text() == "This model cannot chat"


def test_a_summary_is_not_an_answer_and_ends_when_its_chat_is_left(ready, qtbot, loop):
    assert ready.chat_session.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    session, phases = ready.chat_session, record_phases(ready)
    ready.script.hold_answer = threading.Event()
    session.summarize()
    assert phases == [Phase.SUMMARIZING]
    assert not session.answering
    ready.window.current.new_chat()
    assert phases == [Phase.SUMMARIZING, Phase.IDLE]
    assert ready.chat_session.draft.text == ""


def test_an_answer_stopped_before_it_began_does_not_get_earlier_thoughts(ready, qtbot, loop):
    ready.script.chunks = ["<think>", "Hm.", "</think>", "Yes."]
    assert ready.chat_session.send("Think")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert ready.chat_session.send("Never mind")
    ready.chat_session.stop()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert "thoughts" not in ready.chat_session.turns[-1].figures


def test_a_branch_is_listed_before_what_is_saved_while_it_waits(ready, qtbot, loop):
    assert ready.chat_session.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.chat_session.turns[-1].id > 0)
    chat, answer, waiting = ready.chat_session.chat, ready.chat_session.turns[-1].id, threading.Event()
    ready.keeper.do(lambda _: waiting.wait(30))
    ready.keeper.do(lambda store: store.ask(chat, "Later", answer))
    ready.chat_session.branches.branch_off(answer)
    waiting.set()
    entries = ready.window.sidebar.chats.model
    qtbot.waitUntil(lambda: len(entries.entries) == 2)
    assert [entry.chat.title for entry in entries.entries] == ["Branch of Hi", "Hi"]
