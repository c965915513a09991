"""Faults inside one of two requests: it ends by itself, and the other one gives the text that it gives alone."""

import math

import pytest

from generating import PROMPT, Counting, drain, empty, finished, run, scheduler, task
from sotto.engine.contract.events import Failed, Finished
from sotto.engine.contract.requests import SamplingOptions
from sotto.engine.sampling.sampler import Sampler

# Draws and penalties that a draw too many, or one too few, would change for good.
DRAWN = SamplingOptions(temperature=1.2, seed=7, repeat_penalty=1.3, dry_multiplier=0.8, mirostat=2)
PLAIN = SamplingOptions(temperature=1.2, seed=7)
RARE = next(token for token in range(50) if token not in PROMPT)
ahead_or_not = pytest.mark.parametrize("ahead", [0.0, math.inf])
together_or_not = pytest.mark.parametrize("batches", [False, True])


class Processing(Sampler):
    """Raises at one draw."""

    def __init__(self, prompt, options, at, error):
        super().__init__(options, prompt)
        self._at, self._error = at, error

    def keys(self, count):
        if self._draws >= self._at:
            raise self._error
        return super().keys(count)


def alone(sampling, **more):
    return finished(
        run("plain", empty("plain"), task(request_id="well", max_tokens=24, sampling=sampling), **more), "well"
    )


def outcome(events):
    """Return how the request that goes well has ended, and how the other one has failed."""
    (failed,) = [event for event in events if isinstance(event, Failed)]
    assert failed.request_id == "broken"
    assert not [event for event in events if isinstance(event, Finished) and event.request_id == "broken"]
    return finished(events, "well"), failed


@pytest.mark.covering(2)
@ahead_or_not
@together_or_not
@pytest.mark.parametrize("sampling", [DRAWN, PLAIN])
@pytest.mark.parametrize("at", [0, 9])
@pytest.mark.parametrize("first", [False, True])
def test_a_raising_processor_ends_its_request_alone(ahead, batches, sampling, at, first):
    processing = Processing([3, 4, 5], SamplingOptions(seed=3), at, ValueError("broken on purpose"))
    broken = task([3, 4, 5], 24, request_id="broken", sampler=processing)
    well = task(request_id="well", max_tokens=24, sampling=sampling)
    tasks = [broken, well] if first else [well, broken]
    found, failed = outcome(run("plain", empty("plain"), *tasks, batches=batches, ahead=ahead, chunk=64))
    expected = alone(sampling, chunk=64)
    assert (found.text, found.token_ids, found.done_reason) == (expected.text, expected.token_ids, expected.done_reason)
    assert failed.bug
    assert "broken on purpose" in failed.message


class Starved(Counting):
    """A model that has no memory for a step which a request of a certain token takes part in, from some step on."""

    def __init__(self, kind, token, after, error):
        super().__init__(kind)
        self._token, self._after, self._wanting = token, after, error

    def __call__(self, ids, cache):
        logits = super().__call__(ids, cache)
        if len(self.shapes) > self._after and self._token in ids.tolist()[-1]:
            raise self._wanting
        return logits


@ahead_or_not
@pytest.mark.parametrize("sampling", [DRAWN, PLAIN])
@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("[malloc_or_wait] Unable to allocate 9 bytes.")])
def test_a_request_that_memory_is_too_short_for_ends_alone(ahead, sampling, error):
    # The other one never has this token, so only steps that `broken` takes part in fail: the shared ones, and its own.
    biased = SamplingOptions(temperature=0, logit_bias=((RARE, 100.0),))
    well = SamplingOptions(
        **{name: getattr(sampling, name) for name in sampling.__slots__} | {"logit_bias": ((RARE, -100.0),)}
    )
    tasks = [
        task(request_id="well", max_tokens=24, sampling=well),
        task([3, 4, 5], 24, request_id="broken", sampling=biased),
    ]
    model = Starved("plain", RARE, 8, error)
    events = run("plain", empty("plain"), *tasks, batches=True, ahead=ahead, chunk=64, model=model)
    found, failed = outcome(events)
    assert found.token_ids == alone(well, chunk=64).token_ids
    assert max(rows for rows, _ in model.shapes) == 2
    assert failed.message.startswith("Memory ran out")
    assert not failed.bug


@pytest.mark.one_in(3)
@ahead_or_not
@pytest.mark.parametrize("step", range(2, 20, 4))
def test_a_shared_step_without_memory_changes_no_answer_that_is_drawn(ahead, step):
    # Where both have room by themselves, nobody fails: each answer goes on with the draws it had left.
    tasks = [
        task(request_id="well", max_tokens=24, sampling=DRAWN),
        task([3, 4, 5], 24, request_id="other", sampling=PLAIN),
    ]
    model = Counting("plain")

    def starved(ids, cache):
        logits = model(ids, cache)
        if ids.shape[0] == 2 and sum(rows == 2 for rows, _ in model.shapes) == step:
            raise MemoryError
        return logits

    running = scheduler("plain", model=starved, batches=True, ahead=ahead, chunk=64)
    for one in tasks:
        running.add(one)
    events = drain(running)
    assert not [event for event in events if isinstance(event, Failed)]
    assert finished(events, "well").token_ids == alone(DRAWN, chunk=64).token_ids
    single = run("plain", empty("plain"), task([3, 4, 5], 24, request_id="other", sampling=PLAIN))
    assert finished(events, "other").token_ids == finished(single, "other").token_ids


def test_memory_that_is_given_back_is_free_again():
    prefix = empty("plain")
    processing = Processing([3], SamplingOptions(seed=3), 2, MemoryError())
    broken = task([3, 4, 5], 9, request_id="broken", sampler=processing)
    events = run("plain", prefix, broken)
    assert isinstance(events[-1], Failed)
    assert prefix.nbytes == 0
