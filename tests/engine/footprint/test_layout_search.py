from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import NO_OVERHEAD, PLENTY, bytes_by_device, card, choices, devices, models, needs
from sotto.engine.footprint.layout_search import Answer, place, place_on_one
from sotto.engine.footprint.placement import Device, Layout, Options, Span
from sotto.errors import EngineError


@given(devices(), models, choices, st.lists(st.booleans(), max_size=12), st.data())
def test_agreeing_always_comes_to_an_end(there, model, options, luck, data):
    outcomes = iter([*luck, *[False] * 10_000])
    asked = []

    def stage(proposal):
        asked.append(proposal)
        assert len(asked) < 500
        graphs = {device.name: data.draw(st.integers(0, 60)) for device in there} if len(asked) < 4 else None
        return Answer(next(outcomes), graphs=graphs)

    closed = []
    agreed = None
    with suppress(EngineError):
        agreed = place(there, model, PLENTY, options, stage, stage, stage, lambda: closed.append(True))
    assert bool(closed) == (agreed is None)
    assert agreed is None or asked[-1] == agreed


def said(model, graphs, most=10**9):
    """A loader that says what it knows and holds up to `most` bytes on a device."""
    log = []

    def stage(proposal):
        log.append(proposal)
        fits = all(nbytes + graphs[name] <= most for name, nbytes in bytes_by_device(proposal, model).items())
        return Answer(fits, model, graphs)

    return stage, log


def test_what_a_stage_says_is_taken_up():
    guess, truth = needs([1] * 9), needs([10] * 9)
    fit, fits = said(truth, {"a": 15})
    alloc, allocs = said(truth, {"a": 15})
    commit, commits = said(truth, {"a": 15})
    agreed = place([card("a", 60)], guess, PLENTY, NO_OVERHEAD, fit, alloc, commit, pytest.fail)
    assert agreed.count == 5
    assert [proposal.count for proposal in fits] == [10, 5]
    assert allocs == commits == [agreed]


def test_where_less_is_free_than_was_said_it_is_counted_on_less():
    model = needs([10] * 9)
    stage, log = said(model, {"a": 0}, most=42)
    agreed = place([card("a", 100)], model, PLENTY, NO_OVERHEAD, stage, stage, stage, pytest.fail)
    assert agreed.count == 5
    assert [proposal.count for proposal in log][:3] == [10, 9, 8]
    assert bytes_by_device(agreed, model)["a"] <= 42


def test_when_nothing_holds_everything_is_freed_and_it_is_said():
    closed = []
    refuse = lambda _: Answer(False)  # noqa: E731
    accept = lambda _: Answer(True)  # noqa: E731
    close = lambda: closed.append(True)  # noqa: E731
    with pytest.raises(EngineError, match="cannot be laid out on the devices"):
        place([card("a", 100)], needs([10] * 9), PLENTY, NO_OVERHEAD, refuse, refuse, refuse, close)
    with pytest.raises(EngineError, match="cannot be laid out with 3 layers"):
        place([card("a", 100)], needs([10] * 9), PLENTY, Options(count=3, overhead=0), refuse, refuse, refuse, close)
    with pytest.raises(EngineError, match="could not be taken"):
        place([card("a", 100)], needs([10] * 9), PLENTY, NO_OVERHEAD, accept, accept, refuse, close)
    assert closed == [True] * 3


def test_a_device_that_the_loader_does_not_know_gets_nothing():
    there = [card("a", 100), card("b", 100)]
    stage = lambda _: Answer(True, graphs={"b": 0})  # noqa: E731
    agreed = place(there, needs([10] * 9), PLENTY, NO_OVERHEAD, stage, stage, stage, pytest.fail)
    assert {span.device for span in agreed.spans} == {"b"}


def test_one_device_takes_all_or_nothing():
    model = needs([10] * 3)
    accept = lambda _: Answer(True)  # noqa: E731
    metal = Device("m", "metal", 2**30)
    assert place_on_one(metal, model, PLENTY, accept, accept, accept, pytest.fail) == Layout((Span("m", 0, 4),))
    assert place_on_one(None, model, PLENTY, accept, accept, accept, pytest.fail) == Layout()
    closed = []
    with pytest.raises(EngineError, match="does not fit on the graphics processor"):
        place_on_one(
            Device("m", "metal", 512 * 2**20 + 25), model, PLENTY, accept, accept, accept, lambda: closed.append(1)
        )
    assert closed
