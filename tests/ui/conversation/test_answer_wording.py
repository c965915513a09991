"""The status line under an answer: while its prompt is read, while the answer streams, and once it is complete."""

import threading

import pytest

from sotto.engine.contract.events import DoneReason, Finished
from sotto.engine.contract.requests import Message, Think
from sotto.ui.conversation.answer_timing import AnswerPace
from sotto.ui.conversation.answer_wording import answer_figures, figures_line, pace_line
from sotto.ui.conversation.prefix_reuse import PromptState, reread_reason


def ask(stage, qtbot, text):
    stage.window.send(text)
    qtbot.waitUntil(lambda: not stage.chat_session.busy and all(turn.id > 0 for turn in stage.chat_session.turns))


def status(stage):
    line = stage.window.chat.transcript.messages[-1].status
    return line.accessibleName() or line.text()


def test_editing_the_first_message_shows_why_the_prompt_is_read_again(ready, qtbot, loop):
    ready.script.prompt_tokens, ready.script.cached_tokens = 2000, 0
    ask(ready, qtbot, "First")
    assert "cached:" not in status(ready)
    ready.script.prompt_tokens, ready.script.cached_tokens = 2200, 2000
    ask(ready, qtbot, "Second")
    assert "prompt 2,200 (2,000 cached)" in status(ready)
    assert "cached:" not in status(ready)
    ready.script.prompt_tokens, ready.script.cached_tokens = 1900, 10
    ready.script.hold_prefill = threading.Event()
    lines = []
    ready.chat_session.prefilled.connect(lambda event, why: lines.append((event.done, why)))
    ready.chat_session.edit(ready.chat_session.turns[0].id, "Another first")
    why = "an earlier message was changed"
    qtbot.waitUntil(lambda: status(ready).endswith(f" / 1,900 (only 10 cached: {why})"))
    ready.script.hold_prefill.set()
    qtbot.waitUntil(lambda: not ready.chat_session.busy)
    assert lines[0][0] >= 10
    assert [done for done, _ in lines] == sorted(done for done, _ in lines)
    assert {reason for _, reason in lines} == {why}
    assert f"prompt 1,900 (only 10 cached: {why})" in status(ready)
    # The reason is saved with the answer.
    chat = ready.chat_session.chat
    ready.window.current.new_chat()
    ready.window.current.open(chat)
    qtbot.waitUntil(lambda: len(ready.chat_session.turns) == 2)
    qtbot.waitUntil(lambda: f"only 10 cached: {why}" in status(ready))


TALK = (Message("user", "a"), Message("assistant", "b"))
SYSTEM = Message("system", "Be brief.")
MORE = (*TALK, Message("user", "c"))


@pytest.mark.parametrize(
    ("now", "cached", "why"),
    [
        (PromptState("m", MORE), 100, ""),
        (PromptState("m", MORE), 51, ""),
        (PromptState("m", MORE), 10, "its cache was evicted"),
        (PromptState("m", MORE, trims=True), 10, "the oldest messages were dropped"),
        (PromptState("m", MORE, think=Think.HIGH), 10, "the setting for thinking was changed"),
        (PromptState("n", MORE), 0, "this model has not seen it yet"),
        (PromptState("m", (SYSTEM, *MORE)), 0, "the system prompt was changed"),
        (PromptState("m", (Message("user", "x"),)), 0, "an earlier message was changed"),
        (PromptState("m", TALK[:1]), 10, "its cache was evicted"),
    ],
)
def test_the_reason_for_reading_a_prompt_again(now, cached, why):
    assert reread_reason(PromptState("m", TALK), 100, now, cached) == why


def finished(**values):
    plain = {
        "request_id": "r", "text": "x", "token_ids": (1,) * 512, "done_reason": DoneReason.STOP, "prompt_tokens": 812,
        "cached_tokens": 640, "prompt_duration": 4 * 10**8, "eval_duration": 12_160_000_000,
        "total_duration": 12_560_000_000,
    }  # fmt: skip
    return Finished(**{**plain, **values})


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (finished(), "512 tokens · 42.1 tok/s · first after 0.4 s · prompt 812 (640 cached) · finished"),
        (
            finished(done_reason=DoneReason.LENGTH, cached_tokens=0, eval_duration=10**9, total_duration=131 * 10**9),
            "512 tokens · 512 tok/s · first after 2 min 10 s · prompt 812 (0 cached) · reached the length limit",
        ),
        (
            finished(eval_duration=10**9, total_duration=10**9 + 35 * 10**6),
            "512 tokens · 512 tok/s · first after 35 ms · prompt 812 (640 cached) · finished",
        ),
        (
            finished(token_ids=(1,), done_reason=DoneReason.CANCELLED),
            "1 token · first after 0.4 s · prompt 812 (640 cached) · stopped",
        ),
        (
            finished(dropped_tokens=300),
            "512 tokens · ~42.1 tok/s · first after 0.4 s · prompt 812 (640 cached) · 300 older tokens dropped · "
            "finished",
        ),
        (
            finished(token_ids=(1,) * 2048, done_reason=DoneReason.LOOP),
            "2,048 tokens · 168 tok/s · first after 0.4 s · prompt 812 (640 cached) · "
            "stopped because it repeated itself",
        ),
        (finished(token_ids=(), done_reason=DoneReason.CANCELLED), "Stopped before the answer started"),
    ],
)
def test_the_line_under_an_answer(end, line):
    assert figures_line(answer_figures(end)) == line


def test_malformed_figures_are_left_out():
    assert figures_line({"tokens": "x", "prompt": [], "reason": {}, "anew": 5}) == ""
    assert figures_line({"tokens": 3, "prompt": 4, "first": None}).startswith("3 tokens · prompt 4")
    # An imported file may say anything.
    assert figures_line({"tokens": 2**80, "prompt": 4, "dropped": -1}).endswith(",176 tokens · prompt 4 (0 cached)")


def test_the_pace_is_reported_after_a_moment_and_at_intervals(qtbot):
    now, measured = [0.0], []
    pace = AnswerPace(now=lambda: now[0])
    pace.measured.connect(lambda tokens, rate: measured.append((tokens, round(rate))))
    pace.begin()
    for step in range(31):
        now[0] = step / 10
        pace.add(5)
    assert measured == [(55, 50), (80, 50), (105, 50), (130, 50), (155, 50)]
    assert pace_line(55, 50.04) == "Answering · 55 tokens · ~50.0 tok/s"
    pace.begin()
    pace.add(5)
    assert len(measured) == 5


def test_an_answer_shows_its_speed(ready, qtbot, loop):
    ready.script.chunks, ready.script.pause = ["word "] * 60, 0.03
    ready.window.send("Go on")
    qtbot.waitUntil(lambda: "tok/s" in status(ready))
    assert status(ready).startswith("Answering · ")
    assert "~" in status(ready)
    ready.window.current.new_chat()
