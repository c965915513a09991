import math
import time
from itertools import count

import mlx.core as mx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sotto.engine import pipeline
from sotto.engine.caches import make_caches
from sotto.engine.pipeline import ChunkSize, Pace, Task
from sotto.engine.prefix import PrefixCache
from sotto.engine.stop_strings import StopMatcher
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.types import DoneReason, Finished, PrefillProgress, TextChunk
from sotto.engine.zoo import build
from sotto.errors import EngineError
from sotto.store.opening import open_model, record_of
from tiny_random import CONFIGS, VOCABULARY, random_model, write_model

MODELS = {kind: random_model(kind) for kind in CONFIGS}
kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))
PROMPT = [(13 * index) % (VOCABULARY - 2) for index in range(45)]


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("models") / "plain", "plain")
    return Tokenizer.from_source(open_model(record_of(folder)))


def empty(kind):
    return PrefixCache(lambda: make_caches(MODELS[kind]))


def greedy(logits):
    return mx.argmax(logits, axis=-1)


@pytest.fixture(scope="session")
def task(tokenizer):
    def make(prompt=PROMPT, max_tokens=12, eos_ids=(), stop=(), boundary=0):
        return Task(
            request_id="r",
            prompt=tuple(prompt),
            boundary=boundary,
            max_tokens=max_tokens,
            eos_ids=frozenset(eos_ids),
            sample=greedy,
            text=tokenizer.detokenizer(),
            stop=StopMatcher(stop),
            received=time.perf_counter_ns(),
        )

    return make


def run(kind, live, task, chunk=7, cancelled=lambda: False, model=None, ahead=math.inf):
    pace = Pace(ChunkSize(largest=chunk), ahead)
    return list(pipeline.run(model or MODELS[kind], live, task, pace, cancelled))


def reference(kind, prompt, length):
    """Decode greedily with one whole forward pass for each token."""
    ids = list(prompt)
    for _ in range(length):
        logits = MODELS[kind](mx.array([ids]), cache=make_caches(MODELS[kind]))
        ids.append(mx.argmax(logits[0, -1]).item())
    return tuple(ids[len(prompt) :])


@kinds
@pytest.mark.parametrize("ahead", [0.0, math.inf])
@pytest.mark.parametrize("chunk", [1, 7, 44, 2048])
def test_chunked_prefill_and_decode_equal_whole_forward_passes(kind, chunk, ahead, task):
    finished = run(kind, empty(kind), task(), chunk, ahead=ahead)[-1]
    assert finished.token_ids == reference(kind, PROMPT, 12)
    assert finished.done_reason is DoneReason.LENGTH


def test_events_come_in_order_and_add_up(task, tokenizer):
    before = time.perf_counter_ns()
    events = run("plain", empty("plain"), task())
    elapsed = time.perf_counter_ns() - before
    progress = [event for event in events if isinstance(event, PrefillProgress)]
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert [type(event) for event in events] == [*map(type, progress), *map(type, chunks), Finished]
    assert [event.done for event in progress] == [0, 7, 14, 21, 28, 35, 42, 44, 45]
    assert {event.total for event in progress} == {45}
    finished = events[-1]
    assert {event.request_id for event in events} == {"r"}
    assert "".join(chunk.text for chunk in chunks) == finished.text == tokenizer.decode(list(finished.token_ids))
    assert sum((chunk.token_ids for chunk in chunks), ()) == finished.token_ids
    assert len(finished.token_ids) == 12
    assert (finished.prompt_tokens, finished.cached_tokens) == (45, 0)
    assert finished.prompt_duration > 0
    assert finished.eval_duration > 0
    assert finished.prompt_duration + finished.eval_duration <= finished.total_duration <= elapsed * 1.01 + 1e6


def test_a_prompt_of_one_token_needs_no_prefill(task):
    events = run("plain", empty("plain"), task(prompt=[5], max_tokens=3))
    assert events[-1].token_ids == reference("plain", [5], 3)
    assert [event.done for event in events if isinstance(event, PrefillProgress)] == [0, 1]


class Counting:
    """A model that keeps the length of every input it computes."""

    def __init__(self, kind):
        self.model, self.lengths = MODELS[kind], []

    def __call__(self, ids, cache):
        self.lengths.append(ids.shape[1])
        return self.model(ids, cache=cache)


@kinds
def test_the_same_request_again_evaluates_one_token_before_the_first_answer(kind, task):
    live = empty(kind)
    first = run(kind, live, task())[-1]
    counting = Counting(kind)
    again = run(kind, live, task(), model=counting)[-1]
    assert again.token_ids == first.token_ids
    assert again.cached_tokens == 44
    assert counting.lengths == [1] * 12  # the last prompt token, then each drawn one but the last


@kinds
def test_the_next_turn_does_not_compute_the_answer_again(kind, task):
    live = empty(kind)
    answer = run(kind, live, task())[-1].token_ids
    turn = [*PROMPT, *answer, 1, 2, 3]
    counting = Counting(kind)
    second = run(kind, live, task(prompt=turn, max_tokens=4), model=counting)[-1]
    # The last token drawn was never fed, so it is fed with the new ones.
    assert second.cached_tokens == 45 + 11
    assert sum(counting.lengths) == 4 + 3
    assert second.token_ids == run(kind, empty(kind), task(prompt=turn, max_tokens=4))[-1].token_ids


@kinds
def test_an_end_of_sequence_token_ends_the_answer_and_is_no_part_of_it(kind, task):
    live = empty(kind)
    expected = reference(kind, PROMPT, 12)
    end = next(token for token in expected if token != expected[0])
    at = expected.index(end)
    events = run(kind, live, task(eos_ids={end}))
    assert events[-1].token_ids == expected[:at]
    assert events[-1].done_reason is DoneReason.STOP
    # It was fed while it was read, so a template that repeats it finds it in the cache.
    assert live.tokens == [*PROMPT, *expected[: at + 1]]
    turn = [*PROMPT, *expected[: at + 1], 4, 5]
    second = run(kind, live, task(prompt=turn))[-1]
    assert second.cached_tokens == len(turn) - 2
    assert second.token_ids == run(kind, empty(kind), task(prompt=turn))[-1].token_ids


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_stop_string_ends_the_answer_before_itself(length, task):
    text = run("plain", empty("plain"), task())[-1].text
    at = next(start for start in range(3, 12) if text.find(text[start : start + length]) == start)
    events = run("plain", empty("plain"), task(stop=("never", text[at : at + length])))
    finished = events[-1]
    assert finished.text == text[:at]
    assert finished.done_reason is DoneReason.STOP
    assert len(finished.token_ids) == at + length
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == finished.text


def test_text_held_back_for_a_stop_string_comes_out_at_the_end(task):
    text = run("plain", empty("plain"), task())[-1].text
    events = run("plain", empty("plain"), task(stop=(text[-2:] + "?",)))
    assert events[-1].text == text
    assert events[-1].done_reason is DoneReason.LENGTH
    assert events[-2] == TextChunk("r", text[-2:], ())


def polls(limit):
    """Say no `limit` times, then yes."""
    counter = count()
    return lambda: next(counter) >= limit


@kinds
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_cancelled_anywhere_the_next_request_is_answered_as_by_a_fresh_engine(kind, task, data):
    live = empty(kind)
    steps = data.draw(st.integers(0, 21))
    ahead = data.draw(st.sampled_from([0.0, math.inf]))
    boundary = data.draw(st.integers(0, len(PROMPT)))
    if data.draw(st.booleans()):
        events = run(kind, live, task(boundary=boundary), cancelled=polls(steps), ahead=ahead)
        drawn = events[-1].token_ids
        assert events[-1].done_reason is (DoneReason.CANCELLED if len(drawn) < 12 else DoneReason.LENGTH)
        assert drawn == reference(kind, PROMPT, 12)[: len(drawn)]
    else:
        pace = Pace(ChunkSize(largest=7), ahead)
        dropped = pipeline.run(MODELS[kind], live, task(boundary=boundary), pace, lambda: False)
        for _ in range(steps):
            next(dropped, None)
        dropped.close()
    shared = data.draw(st.integers(0, len(live.tokens)))
    prompt = live.tokens[:shared] + data.draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=9))
    after = run(kind, live, task(prompt=prompt))[-1]
    assert after.token_ids == run(kind, empty(kind), task(prompt=prompt))[-1].token_ids
    assert live.tokens == [*prompt, *after.token_ids[:-1]]


@kinds
def test_a_cancelled_prefill_goes_on_where_it_stopped(kind, task):
    live = empty(kind)
    cancelled = run(kind, live, task(), cancelled=polls(3))[-1]
    assert (cancelled.done_reason, cancelled.text, cancelled.token_ids) == (DoneReason.CANCELLED, "", ())
    assert run(kind, live, task())[-1].cached_tokens == 21


@pytest.mark.parametrize("failing", [1, 3, 9])
def test_after_an_error_the_caches_are_empty_and_good(failing, task):
    live = empty("plain")
    calls = count(1)

    def model(ids, cache):
        logits = MODELS["plain"](ids, cache=cache)
        if next(calls) == failing:
            raise RuntimeError("[metal] something went wrong")
        return logits

    with pytest.raises(RuntimeError, match="went wrong"):
        run("plain", live, task(), model=model)
    assert live.tokens == []
    assert run("plain", live, task())[-1].token_ids == reference("plain", PROMPT, 12)


def test_running_out_of_memory_is_told_in_words(task):
    def model(ids, cache):
        raise RuntimeError("[malloc_or_wait] Unable to allocate 5 bytes.")

    with pytest.raises(EngineError, match="Memory ran out"):
        run("plain", empty("plain"), task(), model=model)


def test_the_output_layer_is_not_computed_for_the_prompt(task):
    model, _ = build({**CONFIGS["plain"], "vocab_size": 100_000})
    mx.eval(model.parameters())
    live = PrefixCache(lambda: make_caches(model))
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    list(pipeline.run(model, live, task(prompt=[1] * 513, max_tokens=2), Pace(), lambda: False))
    assert mx.get_peak_memory() - before < 512 * 100_000 * 4 / 4


@pytest.mark.parametrize(
    ("fixed", "each", "expected"),
    [
        (0.0, 1e-5, {2048}),  # there is time for the largest
        (0.0, 1e-2, {16}),  # each token costs the same: as many as there is time for
        (0.05, 1e-3, {128}),
        (0.45, 8e-3, {64}),  # smaller would be dearer by the token, larger would be too long
        (3.0, 1e-4, {64, 32}),  # nothing helps, so at least few chunks
        (0.0, 2.0, {1}),
    ],
)
def test_chunks_follow_the_time_they_take(fixed, each, expected):
    size = ChunkSize(first=64, target=0.2)
    for _ in range(20):
        size.took(size.tokens, fixed + each * size.tokens)
    assert size.tokens in expected


def test_the_rest_of_a_prompt_does_not_change_the_size_unless_it_is_too_slow():
    size = ChunkSize(first=64, target=0.2)
    size.took(5, 0.3)
    assert size.tokens == 64
    size.took(40, 5.0)
    assert size.tokens == 20


def test_on_a_gpu_chunks_stay_the_same():
    size = ChunkSize()
    size.took(2048, 60.0)
    assert size.tokens == 2048
