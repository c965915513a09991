import math

import pytest

from generating import PROMPT, empty, finished, scheduler, task
from sotto.engine.caches.radix import shared_length
from sotto.engine.generation import beginnings
from sotto.engine.generation.beginnings import SharedBeginnings
from sotto.engine.generation.generation import Generation


@pytest.fixture
def compared(monkeypatch):
    """Record the lengths of the two prompts of each comparison."""
    lengths = []

    def counted(first, second):
        lengths.append((len(first), len(second)))
        return shared_length(first, second)

    monkeypatch.setattr(beginnings, "shared_length", counted)
    return lengths


def request(prompt):
    prepared = task(prompt)
    return Generation(prepared, empty("plain"), prepared.cancelled)


def test_two_prompts_are_compared_once(compared):
    shared = SharedBeginnings()
    first, second, third = request(PROMPT), request([*PROMPT[:20], 90]), request([90])
    for _ in range(5):
        assert shared.length(second, first) == 20
        assert shared.length(third, first) == 0
    assert compared == [(21, 45), (1, 45)]


def test_a_replaced_prompt_is_compared_again(compared):
    shared = SharedBeginnings()
    first, second = request(PROMPT), request([*PROMPT[:20], 90])
    assert shared.length(second, first) == 20
    first._prompt = [*PROMPT[:7], 0, 0]
    assert shared.length(second, first) == 7
    second._prompt = PROMPT[:3]
    assert shared.length(second, first) == 3
    assert len(compared) == 3


def test_forgotten_requests_are_compared_again(compared):
    shared = SharedBeginnings()
    requests = [request(PROMPT[:length]) for length in (10, 20, 30)]
    for _ in range(2):
        assert shared.length(requests[0], requests[1]) == 10
        assert shared.length(requests[1], requests[2]) == 20
        shared.forget(requests[0])
    assert compared == [(10, 20), (20, 30), (10, 20)]
    for generation in requests:
        shared.forget(generation)
    assert not shared._known


@pytest.mark.parametrize("ahead", [0.0, math.inf])
def test_waiting_requests_do_not_compare_their_prompts_at_every_step(compared, ahead):
    shared = [(5 * index) % 90 for index in range(150)]
    running = scheduler("plain", chunk=4, ahead=ahead)
    for number, name in enumerate("abc"):
        running.add(task([*shared, number], 3, request_id=name))
    events, steps = [], 0
    while running.count:
        events += running.step()
        steps += 1
    assert steps > 40
    # The second and the third wait for the first, then the third is compared with the second.
    assert len(compared) <= 3
    assert finished(events, "b").cached_tokens == finished(events, "c").cached_tokens == 150
    assert not running._shared._known
