"""Thoughts and calls in the engine: told apart as tokens come, and ended where they take too many."""

import mlx.core as mx
import pytest

from generating import GREEDY, MODELS, PROMPT, Counting, drain, eager, empty, finished, reference, run, scheduler, task
from sotto.engine.contract.answer_parts import Kind, Piece, ToolCall, merge_pieces
from sotto.engine.contract.events import DoneReason, TextChunk
from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.parsing.answer_parser import Parser
from sotto.engine.parsing.families import STORED
from tiny_random import CONFIGS, VOCABULARY

kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))
END = [2, 93]
THINK = STORED.thoughts[0]


class Spelled:
    """Spells the tokens that end a thought as its end, in two halves, and every other one as a letter."""

    def add(self, token_id):
        return {END[0]: "\n</thi", END[1]: "nk>\n\n"}.get(token_id, chr(200 + token_id))

    def finish(self):
        return ""


def thinking(budget, opened=THINK, **more):
    parser = Parser(STORED, opened=opened, fresh=str)
    return task(text=Spelled(), parser=parser, think_budget=budget, encode=lambda _: END, **more)


def letters(tokens):
    return "".join(chr(200 + token) for token in tokens)


def ended(kind, budget, length):
    """Return what a thought and an answer must be: the answer goes on from the thought with its end."""
    thought = reference(kind, PROMPT, budget) if budget else ()
    assert not set(thought) & set(END)
    return thought, reference(kind, (*PROMPT, *thought, *END), length)


@pytest.mark.one_in(3)
@kinds
@pytest.mark.parametrize("budget", [0, 1, 5])
@pytest.mark.parametrize("ahead", [float("inf"), -1.0])
def test_a_thought_that_takes_too_long_is_ended_and_the_answer_goes_on(kind, budget, ahead):
    thought, answer = ended(kind, budget, 8)
    if set(answer) & set(END):
        pytest.skip("this random model happens to write the tokens that stand for the end")
    events = run(kind, empty(kind), thinking(budget, max_tokens=budget + len(END) + 8), ahead=ahead)
    end = finished(events)
    assert end.token_ids == (*thought, *END, *answer)
    assert (end.thinking, end.text) == (letters(thought), letters(answer))
    # The first half of what ends it is still a part of it.
    assert end.thought_tokens == budget + 1
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert merge_pieces(piece for chunk in chunks for piece in chunk.pieces) == end.parts
    assert "".join(chunk.text for chunk in chunks) == end.text


@kinds
def test_nothing_is_forced_where_there_is_no_thought_or_it_is_short(kind):
    plain = finished(run(kind, empty(kind), task(max_tokens=12))).token_ids
    assert finished(run(kind, empty(kind), thinking(0, opened=None, max_tokens=12))).token_ids == plain
    assert finished(run(kind, empty(kind), thinking(12, max_tokens=12))).token_ids == plain
    assert finished(run(kind, empty(kind), thinking(None, max_tokens=12))).token_ids == plain


def test_answers_that_share_steps_are_ended_by_themselves():
    budgets = [0, 3, 6, None]
    tasks = [thinking(budget, max_tokens=12, request_id=f"{budget}") for budget in budgets]
    together = run("plain", empty("plain"), *tasks, batches=True)
    for budget in budgets:
        alone = finished(run("plain", empty("plain"), thinking(budget, max_tokens=12)))
        assert finished(together, f"{budget}").token_ids == alone.token_ids


def test_penalties_see_what_was_forced():
    sampling = SamplingOptions(temperature=0, repeat_penalty=1.5, repeat_last_n=-1, presence_penalty=0.5)
    whole = finished(run("plain", empty("plain"), thinking(4, max_tokens=14, sampling=sampling))).token_ids
    assert list(whole[4:6]) == END
    on = task((*PROMPT, *whole[:6]), max_tokens=8, sampling=sampling)
    assert finished(run("plain", empty("plain"), on)).token_ids == whole[6:]


def test_speculation_waits_until_the_thought_is_over():
    prompt = [3, 1, 4, 1, 5, 2, 6] * 6
    one = thinking(6, max_tokens=20, prompt=prompt)
    plain = finished(run("plain", empty("plain"), one)).token_ids
    events = run("plain", empty("plain"), thinking(6, max_tokens=20, prompt=prompt), speculator=eager())
    assert finished(events).token_ids == plain
    assert list(plain[6:8]) == END


def test_what_is_forced_survives_a_step_that_fails():
    expected = finished(run("plain", empty("plain"), thinking(3, max_tokens=16))).token_ids

    def both(model):
        tasks = [thinking(3, max_tokens=16, request_id=name) for name in ("a", "b")]
        return run("plain", empty("plain"), *tasks, model=model, batches=True)

    whole = Counting("plain")
    both(whole)
    shared = [number for number, shape in enumerate(whole.shapes, 1) if shape == (2, 1)]
    assert len(shared) > 6
    for failing in shared:
        events = both(Counting("plain", failing=failing))
        assert {finished(events, name).token_ids for name in ("a", "b")} == {expected}, failing


SCRIPT = ["<think>", "Hm", ".", "\n</think>\n\n", "I ", "look. ", "\n", "<tool_call>", '{"name": "find", ',
          '"arguments": {"n": 3}}', "</tool_call>"]  # fmt: skip


class Scripted:
    """Spells token n as the n-th part of the script."""

    def add(self, token_id):
        return SCRIPT[token_id]

    def finish(self):
        return ""


class Reciting:
    """A model that follows each token by the next one."""

    def __call__(self, ids, cache):
        logits = MODELS["plain"](ids, cache=cache)
        return logits + 1000 * (mx.arange(VOCABULARY) == ((ids + 1) % VOCABULARY)[..., None])


def test_parts_come_as_the_tokens_do():
    running = scheduler("plain", model=Reciting())
    running.add(
        task(
            [VOCABULARY - 1],
            max_tokens=50,
            eos_ids=[len(SCRIPT)],
            text=Scripted(),
            parser=Parser(STORED, fresh=lambda: "id"),
            sampling=GREEDY,
        )
    )
    events = drain(running)
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert [chunk.token_ids for chunk in chunks[: len(SCRIPT)]] == [(index,) for index in range(len(SCRIPT))]
    assert chunks[0].parts == (Piece(Kind.THOUGHT, begins=True),)
    assert (chunks[1].text, chunks[1].parts) == ("", (Piece(Kind.THOUGHT, "Hm"),))
    assert (chunks[4].text, chunks[4].parts) == ("I", ())
    assert (chunks[5].text, chunks[5].parts) == (" look.", ())
    assert chunks[7].parts == (Piece(Kind.TOOL, begins=True),)
    end = finished(events)
    assert end.done_reason is DoneReason.STOP
    assert (end.thinking, end.text, end.calls) == ("Hm.", "I look.", (ToolCall("find", {"n": 3}, "id"),))
    assert end.thought_tokens == 3


def test_the_one_call_that_there_may_be_ends_the_answer():
    running = scheduler("plain", model=Reciting())
    parser = Parser(STORED, fresh=lambda: "id", single=True)
    running.add(task([VOCABULARY - 1], max_tokens=90, text=Again(), parser=parser, sampling=GREEDY))
    end = finished(drain(running))
    assert (end.done_reason, end.calls) == (DoneReason.STOP, (ToolCall("find", {"n": 3}, "id"),))
    assert len(end.token_ids) == len(SCRIPT)


class Again(Scripted):
    """Begins anew at the end of the script."""

    def add(self, token_id):
        return SCRIPT[token_id % len(SCRIPT)]


def test_the_end_brings_what_was_held_back():
    events = run("plain", empty("plain"), task(max_tokens=3, text=Scripted3(), parser=Parser(STORED)))
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert [chunk.text for chunk in chunks] == ["", "<think", "", "\n "]
    assert finished(events).text == "<think\n "


class Scripted3:
    """Spells three tokens, whatever they are."""

    def __init__(self):
        self._parts = iter(["<think", "\n", " "])

    def add(self, _):
        return next(self._parts)

    def finish(self):
        return ""
