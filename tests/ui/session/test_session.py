"""Actions of a person and events of a scripted engine, in every order that matters."""

import threading
from pathlib import Path

from PySide6.QtCore import Qt

from scripted_loop import record
from sotto.errors import BrokenModelError
from sotto.ui.state.drop_contents import DropContents
from sotto.ui.state.model_state import ChatSettings, Phase


def answer_text(stage):
    return [message.content for message in stage.chat_session.conversation.messages]


def settled(stage):
    return stage.session.state.phase is Phase.READY and stage.window.chat.transcript.answer is None


def test_an_answer_is_shown_and_kept(ready, qtbot, loop):
    assert ready.chat_session.send("Hi")
    qtbot.waitUntil(lambda: settled(ready))
    assert answer_text(ready) == ["Hi", "Hello there."]
    last = ready.window.chat.transcript.last_message
    assert last.text.toPlainText() == "Hello there."
    assert last.status.text() == "2.0 tok/s"
    # The scripted answer takes one second for two tokens, and 0.1 s until the first.
    line = "2 tokens · 2.0 tok/s · first after 0.1 s · prompt 2,000 (100 cached) · finished"
    assert last.status.accessibleName() == line
    qtbot.mouseClick(last.status, Qt.MouseButton.LeftButton)
    assert last.status.text() == line
    qtbot.mouseClick(last.status, Qt.MouseButton.LeftButton)
    assert last.status.text() == "2.0 tok/s"


def test_the_whole_conversation_is_sent(ready, qtbot, loop):
    for question in ("One", "Two"):
        ready.chat_session.send(question)
        qtbot.waitUntil(lambda: settled(ready))
    sent = ready.script.requests[-1].messages
    assert [(turn.role, turn.content) for turn in sent] == [
        ("user", "One"),
        ("assistant", "Hello there."),
        ("user", "Two"),
    ]


def test_settings_reach_the_engine(ready, qtbot, loop):
    ready.session.settings = ChatSettings(num_predict=7, ignore_eos=True)
    ready.chat_session.send("Hi")
    qtbot.waitUntil(lambda: settled(ready))
    assert (ready.script.requests[-1].num_predict, ready.script.requests[-1].ignore_eos) == (7, True)


def test_messages_sent_while_loading_wait_and_are_sent_once(stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.script.hold_load = threading.Event()
    stage.session.load(stage.session.library.models[0])
    qtbot.waitUntil(lambda: stage.session.state.progress is not None)
    stage.window.chat.composer.draft.setPlainText("Early")
    stage.window.chat.composer.draft.entered.emit()
    assert stage.window.chat.composer.text == ""
    stage.window.chat.composer.draft.setPlainText("Second")
    stage.window.chat.composer.draft.entered.emit()
    assert stage.window.chat.composer.text == "Second"
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: len(stage.chat_session.turns) == 4 and settled(stage))
    assert [request.messages[-1].content for request in stage.script.requests] == ["Early", "Second"]
    assert answer_text(stage) == ["Early", "Hello there.", "Second", "Hello there."]
    assert stage.window.chat.composer.text == ""


def test_a_message_becomes_a_draft_again_when_the_load_fails(stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.script.hold_load, stage.script.fail_load = threading.Event(), "config.json is missing."
    stage.session.load(stage.session.library.models[0])
    stage.window.send("Keep me")
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.FAILED)
    # The load may fail before the question has been saved.
    qtbot.waitUntil(lambda: stage.window.chat.composer.text == "Keep me")
    assert stage.window.chat.transcript.empty
    assert answer_text(stage) == []
    assert "config.json is missing." in stage.window.chat.notice.message.text()
    stage.script.fail_load = ""
    stage.window.chat.notice.button.click()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.window.chat.notice.isHidden()


def test_without_a_model_the_draft_stays_and_the_reason_is_shown(stage, qtbot, loop):
    qtbot.waitUntil(lambda: not stage.session.library.searching)
    stage.window.chat.composer.draft.setPlainText("Hello?")
    stage.window.chat.composer.draft.entered.emit()
    assert stage.window.chat.composer.text == "Hello?"
    notice = stage.window.chat.notice
    assert notice.title.text() == "No model is loaded"
    notice.button.click()
    picker = stage.window.models.picker
    assert picker.isVisible()
    assert [row.record.name for row in picker.rows] == ["tiny:latest", "other:latest"]
    qtbot.keyClick(picker.filter, Qt.Key.Key_Down)
    qtbot.keyClick(picker.filter, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record.name == "other:latest"
    assert stage.window.chat.composer.text == "Hello?"


def test_a_failed_answer_restores_the_draft(ready, qtbot, loop):
    ready.script.chunks, ready.script.fail_answer = [], "The prompt is longer than the context."
    ready.window.send("Long")
    qtbot.waitUntil(lambda: ready.window.chat.composer.text == "Long")
    assert ready.window.chat.transcript.empty
    assert "longer than the context" in ready.window.chat.notice.message.text()
    assert ready.session.state.phase is Phase.READY


def test_an_interrupted_answer_is_kept(ready, qtbot, loop):
    ready.script.chunks, ready.script.fail_answer = ["Half of "], "Out of memory."
    ready.window.send("Go")
    qtbot.waitUntil(lambda: not ready.window.chat.notice.isHidden())
    assert answer_text(ready) == ["Go", "Half of "]


def test_stop_during_a_load(stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    stage.script.hold_load = threading.Event()
    stage.session.load(stage.session.library.models[0])
    qtbot.waitUntil(lambda: stage.session.state.progress is not None)
    stage.window.menus.stop.trigger()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.FOUND)


def test_stop_during_a_prefill(ready, qtbot, loop):
    ready.script.hold_prefill = threading.Event()
    ready.window.send("Read")
    answer = ready.window.chat.transcript.answer
    qtbot.waitUntil(lambda: "Reading prompt" in answer.status.text() and "/ 2,000 (100 cached)" in answer.status.text())
    ready.window.chat.composer.button.click()
    qtbot.waitUntil(lambda: settled(ready))
    assert answer.status.text() == "Stopped before the answer started"
    ready.script.hold_prefill = None
    ready.window.send("Again")
    qtbot.waitUntil(lambda: settled(ready))
    # Unanswered questions are not sent again, because templates expect the roles to alternate.
    assert [turn.content for turn in ready.script.requests[-1].messages] == ["Again"]


def test_stop_during_an_answer_keeps_the_text_so_far(ready, qtbot, loop):
    ready.script.chunks, ready.script.hold_answer = ["One ", "two ", "three "], threading.Event()
    ready.window.send("Count")
    qtbot.waitUntil(lambda: "two" in ready.window.chat.transcript.answer.body.markdown)
    ready.chat_session.stop()
    qtbot.waitUntil(lambda: settled(ready))
    assert answer_text(ready)[-1].startswith("One two")
    assert "three" not in answer_text(ready)[-1]


def test_the_last_of_several_loads_wins(stage, qtbot, loop):
    qtbot.waitUntil(lambda: bool(stage.session.library.models))
    first, second = stage.session.library.models
    stage.script.hold_load = threading.Event()
    stage.session.load(first)
    stage.session.load(second)
    stage.script.hold_load.set()
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record == second
    assert stage.session.state.info.name == second.name


def test_switching_keeps_the_chat(ready, qtbot, loop):
    ready.chat_session.send("Hi")
    qtbot.waitUntil(lambda: settled(ready))
    ready.session.load(ready.session.library.models[1])
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)
    assert answer_text(ready) == ["Hi", "Hello there."]
    assert ready.chat_session.conversation.messages[1].model == "tiny:latest"
    ready.chat_session.send("And you?")
    qtbot.waitUntil(lambda: settled(ready))
    assert ready.chat_session.conversation.messages[-1].model == "other:latest"


def test_eject_and_new_chat(ready, qtbot, loop):
    row = ready.window.sidebar.rows[0]
    assert not row.eject.isHidden()
    row.eject.click()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FOUND)
    assert row.eject.isHidden()
    ready.window.current.new_chat()
    assert ready.window.chat.stack.currentWidget() is ready.window.chat.welcome


def test_the_end_of_the_engine_is_a_notice(ready, qtbot, loop):
    ready.script.crash = "out of memory"
    ready.window.send("Hi")
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.FAILED)
    assert ready.window.chat.composer.text == "Hi"
    assert ready.window.chat.notice.title.text() == "The engine stopped"
    qtbot.waitUntil(lambda: not ready.thread.isRunning())
    ready.window.chat.notice.button.click()
    qtbot.waitUntil(lambda: ready.session.state.phase is Phase.READY)


def test_a_model_that_cannot_run_shows_the_reason(stage, qtbot, loop):
    stage.session.load(record("big:8b", runnable=False, reason="big:8b is a GGUF model."))
    assert stage.window.chat.notice.message.text() == "big:8b is a GGUF model."
    assert stage.session.state.phase is Phase.ABSENT


def test_of_two_dropped_models_the_first_is_loaded(stage, qtbot, loop):
    one, two = record("one", path=Path("/a/one")), record("two", path=Path("/a/two"))
    stage.shelf.at = {Path("/a/one"): one, Path("/a/two"): two, Path("/a/bad"): BrokenModelError("bad is empty.")}
    stage.session.library.open(DropContents((Path("/a/bad"), Path("/a/one"), Path("/a/two")), ()))
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.session.state.record == one
    notice = stage.window.chat.notice
    assert notice.title.text() == "Not everything was loaded"
    assert "bad is empty. Load two from the list" in notice.message.text()
    assert {row.record.name for row in stage.window.sidebar.rows} >= {"one", "two"}


def test_dropping_the_same_model_twice_adds_it_once(stage, qtbot, loop):
    one = record("one", path=Path("/a/one"))
    stage.shelf.at = {Path("/a/1.safetensors"): one, Path("/a/2.safetensors"): one}
    stage.session.library.open(DropContents((Path("/a/1.safetensors"), Path("/a/2.safetensors")), ()))
    qtbot.waitUntil(lambda: stage.session.state.phase is Phase.READY)
    assert stage.window.chat.notice.isHidden()


def test_a_dropped_remote_address_shows_what_to_do(stage, qtbot, loop):
    stage.session.library.open(DropContents((), ("https://example.org/model",)))
    qtbot.waitUntil(lambda: not stage.window.chat.notice.isHidden())
    assert "https://example.org/model" in stage.window.chat.notice.message.text()


def test_a_queued_message_is_restored_if_there_is_no_model(qtbot, stage, loop):
    stage.session.library.searching = True
    stage.chat_session.send("Early bird")
    qtbot.waitUntil(lambda: stage.window.chat.composer.text == "Early bird")
    assert stage.window.chat.transcript.empty


def test_the_context_chosen_for_a_model_applies_before_there_is_a_window(around, qtbot, loop, preferences):
    qtbot.waitUntil(lambda: bool(around.session.library.models))
    first = around.session.library.models[0]
    preferences.change(contexts=(f"{first.digest}:4096",))
    around.load(qtbot)
    assert around.script.loads[-1] == (first.name, 4096, False)
