import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generating import (
    GREEDY,
    MODELS,
    PERIOD,
    REPEATS,
    Echo,
    cancel_after,
    eager,
    empty,
    finished,
    reference,
    run,
    scheduler,
    task,
)
from sotto.engine.caches.caches import make_caches
from sotto.engine.caches.sequence import Sequence
from sotto.engine.contract.events import DoneReason
from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.generation.speculation import LookupDepths
from sotto.engine.generation.speculator import Speculator, take_back
from thoroughness import examples
from tiny_random import CONFIGS, VOCABULARY, WINDOW

kinds = pytest.mark.parametrize("kind", sorted(CONFIGS))


@pytest.mark.covering(2)
@kinds
@pytest.mark.parametrize("length", [12, 3 * WINDOW + 10])
@pytest.mark.parametrize("sampling", [GREEDY, SamplingOptions(seed=5), SamplingOptions(seed=6, repeat_penalty=1.3)])
def test_speculation_does_not_change_the_answer(kind, length, sampling):
    plain = finished(run(kind, empty(kind), task(REPEATS, length, sampling=sampling)))
    fast = finished(run(kind, empty(kind), task(REPEATS, length, sampling=sampling), ahead=0.0, speculator=eager()))
    assert fast.token_ids == plain.token_ids
    assert fast.drafted_tokens > 0


@kinds
def test_there_are_drafts_while_decoding_runs_ahead(kind):
    found = finished(run(kind, empty(kind), task(REPEATS, 60), ahead=float("inf"), speculator=eager()))
    assert found.token_ids == reference(kind, REPEATS, 60)
    assert found.drafted_tokens > 0


def test_decoding_ahead_without_drafts_does_not_wait_for_tokens():
    speculator = Speculator(LookupDepths(0))
    running = scheduler("plain", chunk=64, speculator=speculator)
    running.add(task(REPEATS, 30))
    while running.count:
        running.step()
        for generation in running._running:
            assert not generation.answer_tokens or not generation.is_read
    assert speculator._depths.costs.measured == (0,)
    assert not speculator._sources


@kinds
def test_correct_drafts_save_steps(kind):
    model = Echo(kind, PERIOD)
    prompt = [5]
    for _ in range(VOCABULARY + 10):
        prompt.append(PERIOD[prompt[-1]])
    found = finished(run(kind, empty(kind), task(prompt, 60), chunk=512, ahead=0.0, model=model, speculator=eager()))
    expected = [PERIOD[prompt[-1]]]
    while len(expected) < 60:
        expected.append(PERIOD[expected[-1]])
    assert list(found.token_ids) == expected
    assert found.accepted_tokens == found.drafted_tokens >= 25
    assert len(model.shapes) < 60 - 25 + 3


@kinds
@examples(15, 5)
@given(data=st.data())
def test_after_any_rewind_the_next_logits_are_those_of_a_fresh_forward_pass(kind, data):
    model = MODELS[kind]
    sequence = Sequence(lambda: make_caches(model))
    for _ in range(data.draw(st.integers(1, 4))):
        ids = data.draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=2 * WINDOW))
        begun = len(sequence.tokens)
        states = None if sequence.is_rewindable else sequence.capture()
        model(mx.array([ids]), cache=sequence.caches)
        sequence.evaluate()
        sequence.tokens.extend(ids)
        take_back(model, sequence, begun + data.draw(st.integers(1, len(ids))), begun, states)
    logits = model(mx.array([[7]]), cache=sequence.caches)[0, -1]
    fresh = model(mx.array([[*sequence.tokens, 7]]), cache=make_caches(model))[0, -1]
    assert mx.abs(logits - fresh).max().item() <= 1e-4 * mx.abs(fresh).max().item()


@kinds
def test_the_next_turn_continues_after_an_answer_with_drafts(kind):
    prefix = empty(kind)
    answer = finished(run(kind, prefix, task(REPEATS, 40), ahead=0.0, speculator=eager())).token_ids
    turn = [*REPEATS, *answer, 1, 2]
    second = finished(run(kind, prefix, task(turn, 4)))
    assert second.cached_tokens >= len(REPEATS) + 39
    assert second.token_ids == reference(kind, turn, 4)


@kinds
def test_an_end_token_among_the_drafts_ends_the_answer(kind):
    whole = finished(run(kind, empty(kind), task(REPEATS, 60))).token_ids
    # Every third token is enough to end an answer at each position of a round.
    for end in list(dict.fromkeys(whole[5:]))[::3]:
        at = whole.index(end)
        found = finished(run(kind, empty(kind), task(REPEATS, 60, eos_ids={end}), ahead=0.0, speculator=eager()))
        assert found.token_ids == whole[:at]
        assert found.done_reason is DoneReason.STOP


@kinds
def test_a_cancellation_between_rounds_leaves_a_valid_prefix_cache(kind):
    for steps in range(10, 22, 3):
        prefix = empty(kind)
        request = task(REPEATS, 40, cancelled=cancel_after(steps))
        cut = finished(run(kind, prefix, request, ahead=0.0, speculator=eager()))
        turn = [*REPEATS, *cut.token_ids, 8]
        assert finished(run(kind, prefix, task(turn, 4))).token_ids == reference(kind, turn, 4)


def test_two_requests_at_once_have_the_answers_without_speculation():
    tasks = [task(REPEATS, 20, request_id=name) for name in "ab"]
    events = run("plain", empty("plain"), *tasks, ahead=0.0, batches=True, speculator=eager())
    for name in "ab":
        assert finished(events, name).token_ids == reference("plain", REPEATS, 20)
    # Proposals are made while one of them is alone.
    assert sum(finished(events, name).drafted_tokens for name in "ab") > 0
