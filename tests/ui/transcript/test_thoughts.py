"""Thoughts and tool calls in an answer."""

import itertools
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication

from sotto.chats.chat_records import FOUND, Role, State, Turn
from sotto.engine.contract.answer_parts import Kind, Piece
from sotto.engine.contract.answer_parts import ToolCall as Call
from sotto.engine.contract.events import DoneReason, PrefillProgress
from sotto.engine.parsing.answer_parser import parse_answer
from sotto.ui.conversation import answer_timing
from sotto.ui.conversation.answer_wording import thought_line
from sotto.ui.conversation.plain_markdown import to_markdown
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.transcript import collapsible_parts
from sotto.ui.transcript.answer_message import AnswerMessage
from sotto.ui.transcript.collapsible_parts import ThoughtPart, ToolCallPart
from sotto.ui.transcript.transcript import Transcript
from sotto.ui.transfer.chat_exporting import Form


@pytest.fixture
def transcript(qtbot, dressed):
    made = Transcript()
    qtbot.addWidget(made)
    made.resize(800, 500)
    made.show()
    made.add_question(Turn(1, None, Role.USER, "Go", State.COMPLETE, 0.0))
    return made


def turn(text, state=State.COMPLETE):
    return Turn(2, 1, Role.ASSISTANT, text, state, 0.0)


@pytest.fixture
def clock(monkeypatch):
    """Replace the time with a clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(collapsible_parts, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(answer_timing, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_thought_shows_its_newest_lines_and_then_its_duration(transcript, qtbot, clock):
    answer = transcript.add_answer("model")
    for word in "<think>\nFirst I look. " + "Then I look again. " * 30:
        answer.append(word)
    (thought,) = answer.body.parts
    assert isinstance(thought, ThoughtPart)
    assert thought.title.text() == "Thinking…"
    assert not thought.preview.isHidden()
    lines = thought.preview.grab().toImage()
    answer.append("And something new. " * 3)
    assert thought.preview.grab().toImage() != lines
    assert thought.text is None
    clock[0] += 75
    answer.append("</think>\n\nDone.")
    assert thought.title.text() == "Thought for 1 min 15 s"
    assert thought.preview.isHidden()
    transcript.end_answer(turn(answer.body.markdown))
    assert answer.text.markdown.strip() == "Done."
    # Nothing that the model wrote is lost.
    assert answer.body.markdown.startswith("<think>\nFirst I look. ")
    answer.copy.click()
    assert QApplication.clipboard().text() == "Done."


def test_a_short_thought_shows_no_duration(transcript, clock):
    answer = transcript.add_answer("model")
    answer.append("<think>Hm.")
    clock[0] += 1.4
    answer.append("</think>Yes")
    assert answer.body.parts[0].title.text() == "Thought"
    assert (thought_line(2), thought_line(61)) == ("Thought for 2 s", "Thought for 1 min 1 s")


def test_a_thought_stays_open_or_closed_as_its_reader_left_it(transcript, qtbot):
    for clicks, shown in ((1, True), (2, False)):
        answer = transcript.add_answer("model")
        answer.append("<think>One. ")
        (thought,) = answer.body.parts
        for _ in range(clicks):
            qtbot.mouseClick(thought.button, Qt.MouseButton.LeftButton)
        answer.append("Two.")
        assert thought.preview.isHidden()
        assert thought.open is shown
        answer.append("</think>Three.")
        transcript.end_answer(turn("x"))
        assert thought.open is shown
        assert thought.text.isHidden() is not shown
        assert thought.text.markdown == "One. Two."
        assert thought.button.accessibleName() == f"{'Hide' if shown else 'Show'} thoughts"


def test_parts_of_an_answer_as_the_engine_delivers_them(transcript):
    answer = transcript.add_answer("model")
    answer.show_prefill(PrefillProgress("r", 5, 5, 0))
    transcript.grow_answer((Piece(Kind.THOUGHT, begins=True), Piece(Kind.THOUGHT, "Hm.")))
    (thought,) = answer.body.parts
    assert isinstance(thought, ThoughtPart)
    assert thought.title.text() == "Thinking…"
    transcript.grow_answer((Piece(Kind.THOUGHT, ends=True), Piece(Kind.TEXT, "A <think> tag. ")))
    assert thought.title.text() == "Thought"
    transcript.grow_answer((Piece(Kind.TOOL, begins=True),))
    assert answer.body.parts[-1].title.text() == "Choosing a tool…"
    # It turns out not to be a call.
    transcript.grow_answer((Piece(Kind.TOOL, ends=True), Piece(Kind.TEXT, "[TOOL_CALLS] nothing")))
    call = Call("find", {"what": 1}, "id")
    transcript.grow_answer((Piece(Kind.TOOL, begins=True), Piece(Kind.TOOL, ends=True, call=call)))
    transcript.end_answer(turn("x"))
    assert "".join(text.markdown for text in answer.texts).strip() == "A <think> tag. [TOOL_CALLS] nothing"
    assert answer.body.parts[-1].title.text() == "Wants to use find"
    assert [type(part).__name__ for part in answer.body.parts].count("ToolCallPart") == 1
    assert parse_answer(answer.body.markdown)[-1].call == call


def test_an_answer_continued_in_the_middle_of_a_thought(transcript):
    transcript.add_answer("model")
    answer = transcript.resume_answer(turn("<think>\nOne ", State.STOPPED))
    transcript.grow_answer((Piece(Kind.THOUGHT, "two."), Piece(Kind.THOUGHT, ends=True), Piece(Kind.TEXT, "Yes.")))
    transcript.end_answer(turn("x"))
    thought, text = answer.body.parts
    assert (thought.markdown, text.markdown) == ("One two.", "Yes.")
    assert answer.body.markdown == "<think>\nOne two.\n</think>\n\nYes."


def test_text_that_turns_out_to_be_a_thought(transcript):
    answer = transcript.add_answer("model")
    answer.append("Let me see.\n")
    assert answer.text.markdown == "Let me see."
    answer.append("</think>\n\nYes.")
    thought, text = answer.body.parts
    assert (thought.markdown, text.markdown.strip()) == ("Let me see.", "Yes.")


def test_a_saved_answer_is_shown_the_same(transcript):
    answer = AnswerMessage("model")
    answer.show_complete(turn("<think>\n\n</think>\n\nHello"))
    assert [type(part).__name__ for part in answer.body.parts] == ["MarkdownText"]
    answer.deleteLater()
    answer = AnswerMessage("model")
    answer.show_complete(turn("<think>Hm", State.STOPPED))
    assert answer.body.parts[0].title.text() == "Thought"
    assert not answer.copy.isVisibleTo(answer)
    answer.deleteLater()


def test_the_duration_of_a_thought_is_saved_with_the_answer(ready, qtbot, loop, monkeypatch):
    # The clock advances with each reading, however the chunks are merged on the way.
    times = itertools.count(100, 30)
    monkeypatch.setattr(answer_timing, "time", SimpleNamespace(monotonic=lambda: next(times)))
    ready.script.chunks = ["<think>Hm.", "</think>", "Yes."]
    ready.window.send("Why?")
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert ready.chat_session.turns[-1].text == "<think>\nHm.\n</think>\n\nYes."
    (took,) = ready.chat_session.turns[-1].figures["thoughts"]
    assert took == 30
    message = AnswerMessage("model")
    message.show_complete(ready.chat_session.turns[-1])
    assert message.body.parts[0].title.text() == thought_line(took) == "Thought for 30 s"
    message.deleteLater()


@pytest.mark.parametrize("kept", [None, "x", [None], ["2"], [], [5, 6, 7]])
def test_malformed_durations_are_left_out(dressed, kept):
    message = AnswerMessage("model")
    message.show_complete(replace(turn("<think>Hm</think>Yes"), figures={"thoughts": kept}))
    title = message.body.parts[0].title.text()
    assert title == ("Thought for 5 s" if kept == [5, 6, 7] else "Thought")
    message.deleteLater()


def test_a_long_thought_costs_the_same_for_each_word(transcript):
    answer = transcript.add_answer("model")
    answer.append("<think>")

    def seconds(wording):
        started = time.thread_time()
        for _ in range(wording // 20):
            answer.append("and more words " * 7)
            QApplication.processEvents()
        return (time.thread_time() - started) / wording

    seconds(200)
    early = min(seconds(400) for _ in range(3))
    seconds(8000)
    assert min(seconds(400) for _ in range(3)) < 1.5 * early + 0.0002


def test_a_tool_call_is_named_and_not_run(transcript, qtbot):
    answer = transcript.add_answer("model")
    answer.append('I look.\n<tool_call>\n{"name": "find", "arguments": {"what": "```", "n"')
    text, call = answer.body.parts
    assert isinstance(call, ToolCallPart)
    assert call.title.text() == "Choosing a tool…"
    answer.append(": 1}}\n</tool_call>")
    transcript.end_answer(turn("x"))
    assert call.title.text() == "Wants to use find"
    qtbot.mouseClick(call.button, Qt.MouseButton.LeftButton)
    (region,) = call.text.regions.found
    assert call.text.code_of(region) == '{\n  "what": "```",\n  "n": 1\n}'
    assert text.markdown.strip() == "I look."


def test_text_that_only_looks_like_a_call_stays_text(transcript):
    answer = transcript.add_answer("model")
    answer.append("<tool_call>not json</tool_call>")
    transcript.end_answer(turn("x"))
    (text,) = answer.body.parts
    assert text.markdown == "<tool_call>not json</tool_call>"


def test_a_screen_reader_finds_the_parts_in_order_and_every_button_has_a_name(transcript, qtbot):
    answer = transcript.add_answer("model")
    call = '<tool_call>{"name": "a"}</tool_call>'
    answer.append(f"<think>Hm.</think>Look:\n\n```py\n{'x' * 300}\n```\n\n{call}\nDone.")
    transcript.end_answer(turn("x"))
    for part in answer.body.parts:
        if isinstance(part, ThoughtPart | ToolCallPart):
            part.button.click()
    qtbot.waitUntil(lambda: bool(answer.texts[0].scroll_bars))
    tops = [part.mapTo(answer, part.rect().topLeft()).y() for part in answer.body.parts]
    assert tops == sorted(tops)
    assert [part.toPlainText() for part in answer.texts][1] == "Done."
    named = [
        *answer.findChildren(QAbstractButton),
        *(text for text in answer.findChildren(MarkdownText)),
        *(bar for text in answer.texts for bar in text.scroll_bars.values()),
    ]
    assert len(named) > 10
    assert [widget for widget in named if widget.isVisible() and not widget.accessibleName()] == []


CUT = 'I look.\n<tool_call>\n{"name": "find", "arguments": {"what": "x'
ENDED = Piece(Kind.TOOL, ends=True)


@pytest.mark.parametrize("reason", [DoneReason.LENGTH, DoneReason.CANCELLED])
@pytest.mark.parametrize("live", [True, False])
def test_a_truncated_call_is_not_shown_as_markup(transcript, live, reason):
    state = State.STOPPED if reason is DoneReason.CANCELLED else State.COMPLETE
    cut = replace(turn(CUT, state), figures={"reason": reason.value})
    if live:
        answer = transcript.add_answer("model")
        transcript.grow_answer((Piece(Kind.TEXT, "I look."), Piece(Kind.TOOL, begins=True)))
        transcript.grow_answer((ENDED, Piece(Kind.TEXT, CUT.removeprefix("I look."))))
        transcript.end_answer(cut)
    else:
        answer = AnswerMessage("model")
        answer.show_complete(cut)
    text, call = answer.body.parts
    assert (text.markdown, call.title.text()) == ("I look.", "Started to call a tool")
    call.button.click()
    (region,) = call.text.regions.found
    assert call.text.code_of(region) == CUT.removeprefix("I look.\n")
    assert answer.body.copy_data().text() == "I look."
    assert to_markdown(cut).partition("\n")[0] == "I look."
    assert "**Started to call a tool**\n\n```\n<tool_call>" in to_markdown(cut)
    if not live:
        answer.deleteLater()


def test_a_false_call_stays_text_when_the_answer_is_truncated_later(transcript):
    answer = transcript.add_answer("model")
    transcript.grow_answer((Piece(Kind.TOOL, begins=True), ENDED, Piece(Kind.TEXT, "<tool_call>no")))
    transcript.grow_answer((Piece(Kind.TEXT, " call"),))
    transcript.end_answer(replace(turn("<tool_call>no call", State.STOPPED)))
    (text,) = answer.body.parts
    assert text.markdown == "<tool_call>no call"
    assert to_markdown(turn("<tool_call>no call", State.STOPPED)) == "<tool_call>no call"


def test_thoughts_and_calls_are_exported_as_such(ready, qtbot, loop, tmp_path):
    ready.script.chunks = [
        '<think>Hm.\n\nWell.</think>Look: <tool_call>{"name": "find", "arguments": {"é": [1]}}</tool_call>'
    ]
    ready.window.send("Go")
    qtbot.waitUntil(lambda: not ready.chat_session.busy and ready.chat_session.turns[-1].id > 0)
    path = tmp_path / "chat.md"
    ready.window.chat_files.exporting.export(ready.chat_session.chat, Form.MARKDOWN, path)
    qtbot.waitUntil(path.exists)
    exported = path.read_text(encoding="utf-8").partition("## tiny")[2].partition("\n\n")[2]
    shown = '{\n  "é": [\n    1\n  ]\n}'
    call = f"**Wants to use find**\n\n```json\n{shown}\n```"
    assert exported == f"> **Thought**\n> \n> Hm.\n> \n> Well.\n\nLook:\n\n{call}\n"

    def found(entries, _):
        return [bool(entry.excerpt) for entry in entries] == [True]

    # Search excerpts do not contain tags either.
    for text in ("find", "Well", "tool_call", "think"):
        # An outdated list may be emitted once more first.
        with qtbot.waitSignal(ready.window.chat_library.listed, check_params_cb=found) as listed:
            ready.window.sidebar.search.setText(text)
        (entry,) = listed.args[0]
        excerpt = entry.excerpt.replace(FOUND[0], "").replace(FOUND[1], "")
        assert ("<" in excerpt, ">" in excerpt, "tool_call" in excerpt) == (False, False, False)


def test_an_answer_that_fails_before_a_call_does_not_wait_for_one(transcript):
    answer = transcript.add_answer("model")
    transcript.grow_answer((Piece(Kind.TEXT, "I look."), Piece(Kind.TOOL, begins=True)))
    transcript.end_answer(turn("I look.", State.FAILED))
    assert [type(part).__name__ for part in answer.body.parts] == ["MarkdownText"]
