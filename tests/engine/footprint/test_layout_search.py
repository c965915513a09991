from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import NO_OVERHEAD, PLENTY, bytes_by_device, card, choices, devices, models, needs
from sotto.engine.footprint.layout_search import Answer, place, place_on_one
from sotto.engine.footprint.placement import Device, Layout, Options, Span
from sotto.errors import EngineError


@given(devices(), models, choices, st.lists(st.booleans(), max_size=12), st.data())
def test_the_search_always_ends(available, model, options, luck, data):
    outcomes = iter([*luck, *[False] * 10_000])
    proposals = []

    def stage(proposal):
        proposals.append(proposal)
        assert len(proposals) < 500
        graphs = {device.name: data.draw(st.integers(0, 60)) for device in available} if len(proposals) < 4 else None
        return Answer(next(outcomes), graphs=graphs)

    closed = []
    accepted = None
    with suppress(EngineError):
        accepted = place(available, model, PLENTY, options, stage, stage, stage, lambda: closed.append(True))
    assert bool(closed) == (accepted is None)
    assert accepted is None or proposals[-1] == accepted


def reporting(model, graphs, limit=10**9):
    """Return a stage that reports real needs and graphs and accepts up to `limit` bytes on a device, and its log."""
    log = []

    def stage(proposal):
        log.append(proposal)
        fits = all(nbytes + graphs[name] <= limit for name, nbytes in bytes_by_device(proposal, model).items())
        return Answer(fits, model, graphs)

    return stage, log


def test_needs_that_a_stage_reports_are_used():
    guess, truth = needs([1] * 9), needs([10] * 9)
    fit, fits = reporting(truth, {"a": 15})
    alloc, allocs = reporting(truth, {"a": 15})
    commit, commits = reporting(truth, {"a": 15})
    accepted = place([card("a", 60)], guess, PLENTY, NO_OVERHEAD, fit, alloc, commit, pytest.fail)
    assert accepted.count == 5
    assert [proposal.count for proposal in fits] == [10, 5]
    assert allocs == commits == [accepted]


def test_where_less_is_free_than_reported_fewer_layers_are_placed():
    model = needs([10] * 9)
    stage, log = reporting(model, {"a": 0}, limit=42)
    accepted = place([card("a", 100)], model, PLENTY, NO_OVERHEAD, stage, stage, stage, pytest.fail)
    assert accepted.count == 5
    assert [proposal.count for proposal in log][:3] == [10, 9, 8]
    assert bytes_by_device(accepted, model)["a"] <= 42


def test_when_no_layout_is_accepted_everything_is_freed_and_an_error_raised():
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
    cards = [card("a", 100), card("b", 100)]
    stage = lambda _: Answer(True, graphs={"b": 0})  # noqa: E731
    accepted = place(cards, needs([10] * 9), PLENTY, NO_OVERHEAD, stage, stage, stage, pytest.fail)
    assert {span.device for span in accepted.spans} == {"b"}


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
