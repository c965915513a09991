from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.placement import (
    Answer,
    Device,
    Host,
    LayerSize,
    Layout,
    Needs,
    Options,
    Span,
    layout,
    place,
    place_on_one,
)
from sotto.errors import EngineError

PLENTY = Host(free=10**9, total=10**9)
NO_OVERHEAD = Options(overhead=0)


def needs(sizes, output=0, **more):
    return Needs(tuple(LayerSize(size) for size in sizes), LayerSize(output), **more)


def card(name, free, **more):
    return Device(name, "cuda", free, **more)


@st.composite
def devices(draw):
    count = draw(st.integers(0, 4))
    return [
        Device(
            f"d{index}",
            draw(st.sampled_from(["cuda", "metal"])),
            draw(st.integers(0, 400)),
            draw(st.integers(0, 2)),
            draw(st.booleans()),
            draw(st.integers(0, 30)),
        )
        for index in range(count)
    ]


models = st.builds(
    lambda layers, output, inputs, graph: Needs(tuple(layers), output, inputs, graph),
    st.lists(st.builds(LayerSize, st.integers(0, 60), st.integers(0, 30)), max_size=12),
    st.builds(LayerSize, st.integers(0, 90)),
    st.integers(0, 50),
    st.integers(0, 50),
)
choices = st.builds(Options, st.none() | st.integers(0, 14), st.booleans(), st.just(False), st.integers(0, 20))
shares = st.floats(0, 1)


def held(found, model):
    return {span.device: sum(model.sizes[span.start : span.end]) for span in found.spans}


@given(devices(), models, choices, shares)
def test_no_device_gets_more_than_it_has(there, model, options, back_off):
    found = layout(there, model, PLENTY, options, back_off)
    by_name = {device.name: device for device in there}
    for name, nbytes in held(found, model).items():
        device = by_name[name]
        room = device.free - device.free * back_off - options.overhead - device.graph
        factor = 1 if options.count is None else 1000
        assert nbytes <= max(0, room + 1) * factor


@given(devices(), models, choices, shares)
def test_layers_lie_in_order_without_gaps_or_overlaps(there, model, options, back_off):
    found = layout(there, model, PLENTY, options, back_off)
    for before, after in zip(found.spans, found.spans[1:], strict=False):
        assert before.end == after.start
    assert all(span.start < span.end for span in found.spans)
    assert len({span.device for span in found.spans}) == len(found.spans)
    if found.spans:
        assert found.spans[-1].end in (len(model.sizes), len(model.sizes) - 1)
    kinds = {device.kind for device in there if device.name in held(found, model)}
    assert len(kinds) <= 1


@given(devices(), models, choices, shares, st.randoms())
def test_the_order_in_which_devices_are_named_changes_nothing(there, model, options, back_off, random):
    shuffled = list(there)
    random.shuffle(shuffled)
    expected = layout(there, model, PLENTY, options, back_off)
    assert layout(shuffled, model, PLENTY, options, back_off) == expected


@given(models, st.integers(0, 600), st.integers(0, 200))
def test_more_memory_never_means_fewer_layers_on_one_device(model, free, more):
    less = layout([card("a", free)], model, PLENTY, NO_OVERHEAD)
    assert layout([card("a", free + more)], model, PLENTY, NO_OVERHEAD).count >= less.count


@given(devices(), models, shares)
def test_counting_on_less_never_means_more_layers_on_one_device(there, model, back_off):
    for device in there:
        whole = layout([device], model, PLENTY, NO_OVERHEAD)
        assert layout([device], model, PLENTY, NO_OVERHEAD, back_off).count <= whole.count


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


def test_the_last_layers_go_first_and_the_output_layer_before_all():
    found = layout([card("a", 35)], needs([10, 10, 10, 10], output=5), PLENTY, NO_OVERHEAD)
    assert found.spans == (Span("a", 1, 5),)


def test_without_the_output_layer_more_may_fit():
    found = layout([card("a", 35)], needs([10, 10, 10], output=50), PLENTY, NO_OVERHEAD)
    assert found.spans == (Span("a", 0, 3),)


def test_the_fewest_devices_are_used_unless_spreading_is_asked_for():
    there = [card("a", 100), card("b", 90), card("c", 80)]
    model = needs([10] * 8)
    assert {span.device for span in layout(there, model, PLENTY, NO_OVERHEAD).spans} == {"a"}
    spread = layout(there, model, PLENTY, Options(spread=True, overhead=0))
    assert {span.device for span in spread.spans} == {"a", "b", "c"}
    assert layout(there, needs([10] * 15), PLENTY, NO_OVERHEAD).count == 16


def test_devices_of_one_class_are_filled_to_the_same_share():
    found = layout([card("a", 200), card("b", 100)], needs([10] * 24), PLENTY, Options(spread=True, overhead=0))
    counts = {span.device: span.end - span.start for span in found.spans}
    assert 15 <= counts["a"] <= 17
    assert counts["a"] + counts["b"] == 25


def test_faster_devices_are_filled_first():
    there = [card("slow", 200, speed=0), card("fast", 50, speed=1)]
    found = layout(there, needs([10] * 6), PLENTY, Options(spread=True, overhead=0))
    counts = {span.device: span.end - span.start for span in found.spans}
    assert counts["fast"] >= 5
    assert found.count == 7


def test_kinds_are_not_mixed_and_the_one_that_takes_more_wins():
    there = [Device("m", "metal", 35), card("a", 20), card("b", 30)]
    found = layout(there, needs([10] * 9), PLENTY, NO_OVERHEAD)
    assert {span.device for span in found.spans} == {"a", "b"}
    assert found.count == 6


def test_a_graph_and_what_is_kept_free_take_their_part():
    room = 512 * 2**20 + 45
    assert layout([Device("m", "metal", room)], needs([10] * 9), PLENTY).count == 5
    assert layout([Device("m", "metal", room, graph=20)], needs([10] * 9), PLENTY).count == 3


def test_a_count_that_is_asked_for_is_kept_to():
    there = [card("a", 30)]
    assert layout(there, needs([10] * 9), PLENTY, Options(count=2, overhead=0)).count == 2
    assert layout(there, needs([10] * 9), PLENTY, Options(count=7, overhead=0)).count == 7
    assert layout(there, needs([10] * 9), PLENTY, Options(count=0, overhead=0)).count == 0


def test_what_does_not_fit_is_said():
    model = needs([10] * 9, input_weights=5, processor_graph=20)
    with pytest.raises(EngineError, match="4 of its 10 layers"):
        layout([card("a", 35)], model, PLENTY, Options(require_full=True, overhead=0))
    with pytest.raises(EngineError, match="requires more system memory"):
        layout([card("a", 35)], model, Host(free=80, total=200), NO_OVERHEAD)
    enough = layout([card("a", 35)], model, Host(free=80, total=200, swap=10), NO_OVERHEAD)
    assert enough.count == 4
    with pytest.raises(EngineError, match="requires more system memory"):
        layout([card("a", 35)], model, Host(free=80, total=200, swap=10, macos=True), NO_OVERHEAD)


def test_a_mac_is_never_asked_for_more_than_it_has():
    there = [Device("m", "metal", 1000)]
    assert layout(there, needs([10] * 9), Host(100, 120, macos=True), NO_OVERHEAD).count == 10
    assert layout(there, needs([10] * 9), Host(100, 80, macos=True), NO_OVERHEAD) == Layout()


def said(model, graphs, most=10**9):
    """A loader that says what it knows and holds up to `most` bytes on a device."""
    log = []

    def stage(proposal):
        log.append(proposal)
        fits = all(nbytes + graphs[name] <= most for name, nbytes in held(proposal, model).items())
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
    assert held(agreed, model)["a"] <= 42


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
