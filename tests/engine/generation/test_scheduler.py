import math
import time
from types import SimpleNamespace

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generating import (
    PLENTY,
    PROMPT,
    Counting,
    add,
    cancel_after,
    drain,
    empty,
    finished,
    reference,
    run,
    scheduler,
    task,
)
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.batch import MAX_BATCH_ROWS
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.contract.events import DoneReason, Failed, Finished, PrefillProgress, TextChunk
from sotto.engine.generation import generation as generation_module
from sotto.engine.generation import scheduler as scheduler_module
from sotto.engine.generation.chunk_sizing import ChunkSize, ChunkSizing
from sotto.engine.generation.scheduler import Scheduler
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.store.opening import open_model, record_of
from thoroughness import examples
from tiny_random import CONFIGS, VOCABULARY, write_model

kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))


@pytest.mark.covering(2)
@kinds
@pytest.mark.parametrize("ahead", [0.0, math.inf])
@pytest.mark.parametrize("chunk", [1, 7, 44, 2048])
def test_chunked_prefill_and_decode_equal_whole_forward_passes(kind, chunk, ahead):
    found = finished(run(kind, empty(kind), task(), chunk=chunk, ahead=ahead))
    assert found.token_ids == reference(kind, PROMPT, 12)
    assert found.done_reason is DoneReason.LENGTH


@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_events_come_in_order_and_add_up(ahead, tmp_path):
    tokenizer = Tokenizer.from_source(open_model(record_of(write_model(tmp_path, "plain"))))
    before = time.perf_counter_ns()
    events = run("plain", empty("plain"), task(text=tokenizer.detokenizer()), ahead=ahead)
    elapsed = time.perf_counter_ns() - before
    progress = [event for event in events if isinstance(event, PrefillProgress)]
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert [type(event) for event in events] == [*map(type, progress), *map(type, chunks), Finished]
    assert [event.done for event in progress] == [0, 7, 14, 21, 28, 35, 42, 44, 45]
    assert {event.total for event in progress} == {45}
    found = events[-1]
    assert {event.request_id for event in events} == {"r"}
    assert "".join(chunk.text for chunk in chunks) == found.text == tokenizer.decode(list(found.token_ids))
    assert sum((chunk.token_ids for chunk in chunks), ()) == found.token_ids
    assert len(found.token_ids) == 12
    assert (found.prompt_tokens, found.cached_tokens) == (45, 0)
    assert found.prompt_duration > 0
    assert found.eval_duration > 0
    assert found.prompt_duration + found.eval_duration <= found.total_duration <= elapsed * 1.01 + 1e6


@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_a_full_context_ends_the_answer_or_is_shifted(ahead):
    full = finished(run("plain", empty("plain"), task(max_tokens=60, context=60), ahead=ahead))
    assert (full.token_ids, full.done_reason) == (reference("plain", PROMPT, 16), DoneReason.LENGTH)
    shifting = task(max_tokens=60, context=60, shift=lambda tokens: tokens[:5] + tokens[-20:])
    found = finished(run("plain", empty("plain"), shifting, ahead=ahead))
    assert len(found.token_ids) == 60
    assert found.token_ids[:16] == full.token_ids
    kept = [*PROMPT, *full.token_ids]
    assert found.token_ids[16:30] == reference("plain", [*kept[:5], *kept[-20:]], 14)
    assert found.dropped_tokens == 36 * 2


def test_a_prompt_of_one_token_needs_no_prefill():
    events = run("plain", empty("plain"), task(prompt=[5], max_tokens=3))
    assert events[-1].token_ids == reference("plain", [5], 3)
    assert [event.done for event in events if isinstance(event, PrefillProgress)] == [0, 1]


@kinds
@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_a_repeated_request_evaluates_only_the_last_prompt_token(kind, ahead):
    prefix = empty(kind)
    first = finished(run(kind, prefix, task(), ahead=ahead))
    counting = Counting(kind)
    again = finished(run(kind, prefix, task(), model=counting, ahead=ahead))
    assert again.token_ids == first.token_ids
    assert again.cached_tokens == 44
    assert counting.lengths == [1] * 12  # the last prompt token, then each sampled token but the last


@kinds
def test_the_next_turn_does_not_compute_the_answer_again(kind):
    prefix = empty(kind)
    answer = finished(run(kind, prefix, task())).token_ids
    turn = [*PROMPT, *answer, 1, 2, 3]
    counting = Counting(kind)
    second = finished(run(kind, prefix, task(prompt=turn, max_tokens=4), model=counting))
    # The last sampled token was never fed, so it is fed together with the new ones.
    assert second.cached_tokens == 45 + 11
    assert sum(counting.lengths) == 4 + 3
    assert second.token_ids == finished(run(kind, empty(kind), task(prompt=turn, max_tokens=4))).token_ids


@kinds
@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_an_end_of_sequence_token_ends_the_answer_and_is_not_part_of_it(kind, ahead):
    prefix = empty(kind)
    expected = reference(kind, PROMPT, 12)
    end = next(token for token in expected if token != expected[0])
    at = expected.index(end)
    found = finished(run(kind, prefix, task(eos_ids={end}), ahead=ahead))
    assert found.token_ids == expected[:at]
    assert found.done_reason is DoneReason.STOP
    turn = [*PROMPT, *expected[: at + 1], 4, 5]
    second = finished(run(kind, prefix, task(prompt=turn)))
    assert second.cached_tokens >= len(turn) - 3
    assert second.token_ids == finished(run(kind, empty(kind), task(prompt=turn))).token_ids


@pytest.mark.parametrize("length", [1, 2, 3])
def test_an_answer_ends_before_a_stop_string(length):
    text = finished(run("plain", empty("plain"), task())).text
    at = next(start for start in range(3, 12) if text.find(text[start : start + length]) == start)
    events = run("plain", empty("plain"), task(stop=("never", text[at : at + length])))
    found = events[-1]
    assert found.text == text[:at]
    assert found.done_reason is DoneReason.STOP
    assert len(found.token_ids) == at + length
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == found.text


def test_text_held_back_for_a_stop_string_is_emitted_at_the_end():
    text = finished(run("plain", empty("plain"), task())).text
    events = run("plain", empty("plain"), task(stop=(text[-2:] + "?",)))
    assert events[-1].text == text
    assert events[-1].done_reason is DoneReason.LENGTH
    assert events[-2] == TextChunk("r", text[-2:], ())


@kinds
@examples(20, 5)
@given(data=st.data())
def test_after_any_cancellation_the_next_request_is_answered_as_by_a_fresh_engine(kind, data):
    prefix = empty(kind)
    ahead = data.draw(st.sampled_from([0.0, math.inf]))
    boundaries = data.draw(st.lists(st.integers(1, len(PROMPT)), max_size=2))
    events = run(
        kind, prefix, task(boundaries=boundaries, cancelled=cancel_after(data.draw(st.integers(0, 21)))), ahead=ahead
    )
    sampled = events[-1].token_ids
    assert events[-1].done_reason is (DoneReason.CANCELLED if len(sampled) < 12 else DoneReason.LENGTH)
    whole = [*PROMPT, *reference(kind, PROMPT, 12)]
    assert sampled == tuple(whole[45 : 45 + len(sampled)])
    shared = data.draw(st.integers(0, len(whole)))
    prompt = whole[:shared] + data.draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=9))
    after = finished(run(kind, prefix, task(prompt=prompt)))
    assert after.token_ids == finished(run(kind, empty(kind), task(prompt=prompt))).token_ids


@kinds
def test_a_cancelled_prefill_resumes_where_it_stopped(kind):
    prefix, stops = empty(kind), []
    running = scheduler(kind, prefix)
    add(running, task(cancelled=lambda: bool(stops)))
    while not any(isinstance(event, PrefillProgress) and event.done == 21 for event in running.step()):
        pass
    stops.append(True)
    cancelled = finished(drain(running))
    assert (cancelled.done_reason, cancelled.text, cancelled.token_ids) == (DoneReason.CANCELLED, "", ())
    assert finished(run(kind, prefix, task())).cached_tokens == 21


def test_a_prefill_can_be_cancelled_between_two_layers(monkeypatch):
    monkeypatch.setattr(generation_module, "_STOP_SECONDS", 1e-9)
    prefix, model = empty("plain"), Counting("plain")
    events = run("plain", prefix, task(cancelled=lambda: len(model.shapes) == 2), model=model)
    assert finished(events).done_reason is DoneReason.CANCELLED
    assert len(model.shapes) == 2
    # The second chunk was begun, but not finished.
    again = finished(run("plain", prefix, task()))
    assert again.cached_tokens == 7
    assert again.token_ids == reference("plain", PROMPT, 12)


@pytest.mark.parametrize("failing", [1, 3, 9])
@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_after_an_error_the_caches_are_empty_and_usable(failing, ahead):
    prefix = empty("plain")
    events = run("plain", prefix, task(), model=Counting("plain", failing), ahead=ahead)
    assert isinstance(events[-1], Failed)
    assert events[-1].bug
    assert "something went wrong" in events[-1].message
    assert prefix.nbytes == 0
    assert finished(run("plain", prefix, task())).token_ids == reference("plain", PROMPT, 12)


@pytest.mark.parametrize("error", [RuntimeError("[malloc_or_wait] Unable to allocate 5 bytes."), MemoryError()])
def test_running_out_of_memory_is_reported_in_words(error):
    events = run("plain", empty("plain"), task(), model=Counting("plain", 2, error))
    assert isinstance(events[-1], Failed)
    assert events[-1].message.startswith("Memory ran out")
    assert not events[-1].bug


def test_the_output_layer_is_not_computed_for_the_prompt():
    model, _ = build({**CONFIGS["plain"], "vocab_size": 100_000})
    mx.eval(model.parameters())
    running = Scheduler(model, PrefixCache(lambda: make_caches(model), PLENTY), ChunkSizing())
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    running.add(task(prompt=[1] * 513, max_tokens=2))
    drain(running)
    assert mx.get_peak_memory() - before < 512 * 100_000 * 4 / 4


class TestConcurrentRequests:
    PROMPTS = ([*PROMPT, 1, 2], [9, 8, 7], [(7 * index) % 90 for index in range(33)], [5])

    @pytest.mark.covering(2)
    @kinds
    @pytest.mark.parametrize("batches", [False, True])
    @pytest.mark.parametrize("ahead", [0.0, math.inf])
    def test_each_answer_is_the_same_as_alone(self, kind, batches, ahead):
        if batches and kind == "recurrent":
            pytest.skip("RWKV mixes the rows of a batch, so its requests are computed one by one")
        tasks = [task(prompt, 25 + index, request_id=str(index)) for index, prompt in enumerate(self.PROMPTS)]
        counting = Counting(kind)
        events = run(kind, empty(kind), *tasks, batches=batches, ahead=ahead, model=counting)
        for index, prompt in enumerate(self.PROMPTS):
            found = finished(events, str(index))
            assert found.token_ids == reference(kind, prompt, 25 + index)
            mine = [event for event in events if event.request_id == str(index)]
            assert sum((event.token_ids for event in mine if isinstance(event, TextChunk)), ()) == found.token_ids
        assert max(rows for rows, _ in counting.shapes) == (4 if batches else 1)

    @pytest.mark.parametrize("ahead", [0.0, math.inf])
    def test_more_answers_than_a_batch_can_hold_are_the_same_as_alone(self, ahead):
        prompts = [[number % 90, 3, 5 * number % 90] for number in range(MAX_BATCH_ROWS + 4)]
        tasks = [task(prompt, 40, request_id=str(number)) for number, prompt in enumerate(prompts)]
        counting = Counting("plain")
        events = run("plain", empty("plain"), *tasks, batches=True, ahead=ahead, model=counting)
        for number, prompt in enumerate(prompts):
            assert finished(events, str(number)).token_ids == reference("plain", prompt, 40)
        assert max(rows for rows, _ in counting.shapes) == MAX_BATCH_ROWS

    def test_prompts_are_fed_to_the_model_and_decode_steps_to_the_model_for_steps(self):
        reading, stepping = Counting("plain"), Counting("plain")
        events = run("plain", empty("plain"), task(), chunk=8, model=reading, steps=stepping)
        assert finished(events).token_ids == reference("plain", PROMPT, 12)
        assert reading.lengths == [8, 8, 8, 8, 8, 4]
        assert stepping.lengths == [1] * 12

    @kinds
    @examples(15, 5)
    @given(data=st.data())
    def test_joining_and_leaving_requests_do_not_affect_the_others(self, kind, data):
        batches = kind != "recurrent"
        running = scheduler(kind, ahead=data.draw(st.sampled_from([0.0, math.inf])), batches=batches)
        requests, events, cancelled = {}, [], set()
        for number in range(data.draw(st.integers(2, 5))):
            length = data.draw(st.integers(1, 30))
            prompt = PROMPT[:length] + data.draw(st.lists(st.integers(0, 90), max_size=5))
            name = str(number)
            requests[name] = (prompt, data.draw(st.integers(1, 12)))
            running.add(task(*requests[name], request_id=name), lambda name=name: name in cancelled)
            for _ in range(data.draw(st.integers(0, 12))):
                events.extend(running.step())
            if data.draw(st.integers(0, 4)) == 0:
                cancelled.add(name)
        events.extend(drain(running))
        for name, (prompt, max_tokens) in requests.items():
            found = finished(events, name)
            assert found.token_ids == reference(kind, prompt, max_tokens)[: len(found.token_ids)]
            assert len(found.token_ids) == max_tokens or name in cancelled

    @pytest.mark.covering(1)
    @pytest.mark.parametrize("ahead", [0.0, 10.0, math.inf])
    @pytest.mark.parametrize("before", range(4, 9))
    def test_a_long_prompt_does_not_hold_up_a_running_answer(self, ahead, before):
        running = scheduler("plain", chunk=4, ahead=ahead)
        running.add(task([1, 2, 3], 40, request_id="chat"))
        events = [event for _ in range(before) for event in running.step()]
        running.add(task([(5 * index) % 90 for index in range(200)], 2, request_id="long"))
        between = 0
        while not any(isinstance(event, PrefillProgress) and event.done == 199 for event in events):
            step = running.step()
            events.extend(step)
            chunks = [event for event in step if isinstance(event, PrefillProgress) and event.done]
            between = 0 if any(isinstance(event, TextChunk) for event in step) else between + len(chunks)
            if finished_or_none(events, "chat") is None:
                assert between <= 1

    @pytest.mark.parametrize(("step", "chunks"), [(0.01, 1), (0.1, 3), (0.2, 5), (0.5, 7)])
    def test_the_longer_steps_take_the_more_chunks_come_between_them(self, monkeypatch, step, chunks):
        # A chunk takes 0.3 s. The last one begins within seven times the time of a step, and within 2 s.
        clock = Clock(monkeypatch)
        assert chunks_between_tokens(clock, 0.3, step, prompts=12) == chunks

    def test_a_single_prompt_gets_a_single_chunk_between_two_steps_however_long_these_take(self, monkeypatch):
        assert chunks_between_tokens(Clock(monkeypatch), 0.3, 5.0, prompts=1) == 1

    @pytest.mark.parametrize(
        ("prompts", "step", "tokens"),
        [
            (1, 0.01, 8),  # a chunk of the usual size takes longer than answers would have to pause
            (1, 0.2, 40),
            (3, 0.01, 8),
            (3, 0.1, 70),
            (3, 9.0, 199),  # the whole prompt takes less than 2 s
        ],
    )
    def test_chunks_are_as_long_as_answers_may_pause(self, monkeypatch, prompts, step, tokens):
        clock = Clock(monkeypatch)
        models = {"model": clock.timed(0, 0.01), "steps": clock.timed(step)}
        running = scheduler("plain", ahead=0.0, batches=True, **models)
        running._sizing = ChunkSizing(ChunkSize(), ChunkSize(first=8, target=0.08, limit=0.08), 0.0)
        add_long_prompts(running, prompts)
        done, most = dict[str, int](), 0
        for event in drain(running):
            if isinstance(event, PrefillProgress) and event.request_id.startswith("long"):
                most = max(most, event.done - done.get(event.request_id, 0))
                done[event.request_id] = event.done
        assert most == tokens

    def test_a_short_prompt_does_not_wait_behind_a_long_one(self):
        running = scheduler("plain", chunk=4)
        running.add(task([(5 * index) % 90 for index in range(200)], 2, request_id="long"))
        running.step()
        running.add(task([8] * 10, 2, request_id="short"))
        events = drain(running)
        order = [event.request_id for event in events if isinstance(event, Finished)]
        assert order == ["short", "long"]

    def test_a_common_prefix_of_two_prompts_is_computed_once(self):
        shared = [(5 * index) % 90 for index in range(150)]
        counting = Counting("plain")
        events = run(
            "plain",
            empty("plain"),
            task([*shared, 1, 2, 3], 3, request_id="a"),
            task([*shared, 4, 5, 6], 3, request_id="b"),
            chunk=16,
            model=counting,
        )
        assert finished(events, "b").cached_tokens == 150
        assert sum(rows * length for rows, length in counting.shapes) == 150 + 2 * (3 + 2)
        for name, last in (("a", [1, 2, 3]), ("b", [4, 5, 6])):
            assert finished(events, name).token_ids == reference("plain", [*shared, *last], 3)

    @pytest.mark.parametrize("ahead", [0.0, math.inf])
    @pytest.mark.parametrize("failing", range(1, 16, 2))
    def test_a_batched_step_that_fails_once_changes_no_answer(self, failing, ahead):
        model = Counting("plain", failing)
        tasks = [task(prompt, 9, request_id=str(index)) for index, prompt in enumerate(self.PROMPTS)]
        events = run("plain", empty("plain"), *tasks, batches=True, ahead=ahead, model=model)
        failed = [event.request_id for event in events if isinstance(event, Failed)]
        assert len(failed) <= 1  # a step of a single request
        for index, prompt in enumerate(self.PROMPTS):
            if str(index) not in failed:
                assert finished(events, str(index)).token_ids == reference("plain", prompt, 9)

    @pytest.mark.parametrize("part", ["sampler", "text", "cancelled"])
    @pytest.mark.parametrize("ahead", [0.0, math.inf])
    def test_a_fault_in_one_request_ends_only_that_request(self, part, ahead):
        broken = task([3, 4, 5], 9, request_id="broken", **{part: Broken()})
        events = run("plain", empty("plain"), task(), broken, batches=True, ahead=ahead)
        assert finished(events).token_ids == reference("plain", PROMPT, 12)
        (failed,) = [event for event in events if isinstance(event, Failed)]
        assert failed.request_id == "broken"
        assert "broken on purpose" in failed.message


class Clock:
    """Takes the place of the clock of the scheduler and of what it measures."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        time = SimpleNamespace(perf_counter=lambda: self.now, perf_counter_ns=lambda: 1 + round(self.now * 1e9))
        for module in (scheduler_module, generation_module):
            monkeypatch.setattr(module, "time", time)

    def timed(self, seconds, each=0.0):
        """Return a model whose inputs take `seconds`, and `each` for each of their tokens."""
        counting = Counting("plain")

        def model(ids, cache):
            self.now += seconds + each * ids.size
            return counting(ids, cache=cache)

        return model


def add_long_prompts(running, prompts):
    """Begin an answer, and add prompts of 200 tokens once it is written."""
    running.add(task([1, 2, 3], 100, request_id="chat"))
    for _ in range(4):
        running.step()
    for number in range(prompts):
        running.add(task([(10 + number + 5 * index) % 90 for index in range(200)], 2, request_id=f"long {number}"))


def chunks_between_tokens(clock, chunk_seconds, step_seconds, prompts):
    """Return the most chunks of long prompts between two tokens of an answer, while the first prompt is read."""
    models = {"model": clock.timed(chunk_seconds), "steps": clock.timed(step_seconds)}
    running = scheduler("plain", chunk=4, ahead=0.0, **models)
    add_long_prompts(running, prompts)
    most = between = done = 0
    while done < 199:
        events = running.step()
        if any(isinstance(event, TextChunk) for event in events):
            between = 0
        chunks = [event for event in events if isinstance(event, PrefillProgress) and event.done]
        between, most = between + len(chunks), max(most, between + len(chunks))
        done = max([done, *(event.done for event in chunks)])
    running.close()
    return most


class Broken:
    """Raises an error from the third call of any of its methods on."""

    def __init__(self):
        self._calls = 0

    def __call__(self, *_):
        self._calls += 1
        if self._calls > 2:
            raise ValueError("broken on purpose")
        return False

    def add(self, _):
        self()
        return ""

    finish = __call__

    def sample(self, logits):
        self()
        return mx.argmax(logits, axis=-1)

    def fork(self):
        return self


def finished_or_none(events, name):
    return next((event for event in events if isinstance(event, Finished) and event.request_id == name), None)
