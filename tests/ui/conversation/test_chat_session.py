"""One conversation: what is under way for it, from the question to the end of its answer."""

import threading

from sotto.ui.conversation.chat_session import Phase


def followed(stage):
    """Return the phases of the conversation in view, as they come."""
    session, phases = stage.chat_session, []
    session.phase_changed.connect(lambda: phases.append(session.phase))
    return phases


def test_a_question_is_saved_read_and_answered(ready, qtbot, loop):
    phases = followed(ready)
    assert ready.chat_session.send("Hi")
    assert phases == [Phase.SAVING]
    # Nothing else can be asked meanwhile.
    assert not ready.chat_session.send("And this?")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert phases == [Phase.SAVING, Phase.PREFILLING, Phase.ANSWERING, Phase.IDLE]


def test_a_question_waits_for_a_model_and_comes_back_where_there_is_none(stage, qtbot, loop):
    stage.script.hold_load = threading.Event()
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.session.load(stage.session.library.models[0])
    phases = followed(stage)
    assert stage.chat_session.send("Early?")
    qtbot.waitUntil(lambda: stage.chat_session.phase is Phase.WAITING_FOR_MODEL)
    stage.chat_session.stop()
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: not stage.chat_session.busy)
    assert phases == [Phase.SAVING, Phase.WAITING_FOR_MODEL, Phase.IDLE]
    assert stage.chat_session.turns == []
    assert stage.window.chat.composer.text == "Early?"


def test_a_summary_is_no_answer_and_ends_with_its_view(ready, qtbot, loop):
    assert ready.chat_session.send("Hi")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    session, phases = ready.chat_session, followed(ready)
    ready.script.hold_answer = threading.Event()
    session.summarize()
    assert phases == [Phase.SUMMARIZING]
    assert not session.answering
    ready.window.current.new_chat()
    assert phases == [Phase.SUMMARIZING, Phase.IDLE]
    assert ready.chat_session.draft.text == ""


def test_an_answer_that_was_stopped_before_it_began_has_no_thoughts_of_the_one_before(ready, qtbot, loop):
    ready.script.chunks = ["<think>", "Hm.", "</think>", "Yes."]
    assert ready.chat_session.send("Think")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert ready.chat_session.send("Never mind")
    ready.chat_session.stop()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert "thoughts" not in ready.chat_session.turns[-1].figures
