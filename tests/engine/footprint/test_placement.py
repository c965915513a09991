import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts import NO_OVERHEAD, PLENTY, bytes_by_device, card, choices, devices, models, needs
from sotto.engine.footprint.placement import Device, Host, Layout, Options, Span, layout
from sotto.errors import EngineError

shares = st.floats(0, 1)


@given(devices(), models, choices, shares)
def test_no_device_gets_more_than_it_has(available, model, options, back_off):
    found = layout(available, model, PLENTY, options, back_off)
    by_name = {device.name: device for device in available}
    for name, nbytes in bytes_by_device(found, model).items():
        device = by_name[name]
        room = device.free - device.free * back_off - options.overhead - device.graph
        factor = 1 if options.count is None else 1000
        assert nbytes <= max(0, room + 1) * factor


@given(devices(), models, choices, shares)
def test_layers_are_placed_in_order_without_gaps_or_overlaps(available, model, options, back_off):
    found = layout(available, model, PLENTY, options, back_off)
    for before, after in zip(found.spans, found.spans[1:], strict=False):
        assert before.end == after.start
    assert all(span.start < span.end for span in found.spans)
    assert len({span.device for span in found.spans}) == len(found.spans)
    if found.spans:
        assert found.spans[-1].end in (len(model.sizes), len(model.sizes) - 1)
    kinds = {device.kind for device in available if device.name in bytes_by_device(found, model)}
    assert len(kinds) <= 1


@given(devices(), models, choices, shares, st.randoms())
def test_the_order_of_devices_does_not_matter(available, model, options, back_off, random):
    shuffled = list(available)
    random.shuffle(shuffled)
    expected = layout(available, model, PLENTY, options, back_off)
    assert layout(shuffled, model, PLENTY, options, back_off) == expected


@given(models, st.integers(0, 600), st.integers(0, 200))
def test_more_memory_never_means_fewer_layers_on_one_device(model, free, more):
    less = layout([card("a", free)], model, PLENTY, NO_OVERHEAD)
    assert layout([card("a", free + more)], model, PLENTY, NO_OVERHEAD).count >= less.count


@given(devices(), models, shares)
def test_assuming_less_memory_never_means_more_layers_on_one_device(available, model, back_off):
    for device in available:
        whole = layout([device], model, PLENTY, NO_OVERHEAD)
        assert layout([device], model, PLENTY, NO_OVERHEAD, back_off).count <= whole.count


def test_the_output_layer_is_placed_first_and_then_the_last_layers():
    found = layout([card("a", 35)], needs([10, 10, 10, 10], output=5), PLENTY, NO_OVERHEAD)
    assert found.spans == (Span("a", 1, 5),)


def test_without_the_output_layer_more_layers_may_fit():
    found = layout([card("a", 35)], needs([10, 10, 10], output=50), PLENTY, NO_OVERHEAD)
    assert found.spans == (Span("a", 0, 3),)


def test_the_fewest_devices_are_used_unless_spreading_is_requested():
    available = [card("a", 100), card("b", 90), card("c", 80)]
    model = needs([10] * 8)
    assert {span.device for span in layout(available, model, PLENTY, NO_OVERHEAD).spans} == {"a"}
    spread = layout(available, model, PLENTY, Options(spread=True, overhead=0))
    assert {span.device for span in spread.spans} == {"a", "b", "c"}
    assert layout(available, needs([10] * 15), PLENTY, NO_OVERHEAD).count == 16


def test_devices_of_one_speed_class_are_filled_to_the_same_fraction():
    found = layout([card("a", 200), card("b", 100)], needs([10] * 24), PLENTY, Options(spread=True, overhead=0))
    counts = {span.device: span.end - span.start for span in found.spans}
    assert 15 <= counts["a"] <= 17
    assert counts["a"] + counts["b"] == 25


def test_faster_devices_are_filled_first():
    available = [card("slow", 200, speed=0), card("fast", 50, speed=1)]
    found = layout(available, needs([10] * 6), PLENTY, Options(spread=True, overhead=0))
    counts = {span.device: span.end - span.start for span in found.spans}
    assert counts["fast"] >= 5
    assert found.count == 7


def test_kinds_of_devices_are_not_mixed_and_the_one_with_more_layers_wins():
    available = [Device("m", "metal", 35), card("a", 20), card("b", 30)]
    found = layout(available, needs([10] * 9), PLENTY, NO_OVERHEAD)
    assert {span.device for span in found.spans} == {"a", "b"}
    assert found.count == 6


def test_graphs_and_overhead_are_subtracted_from_free_memory():
    room = 512 * 2**20 + 45
    assert layout([Device("m", "metal", room)], needs([10] * 9), PLENTY).count == 5
    assert layout([Device("m", "metal", room, graph=20)], needs([10] * 9), PLENTY).count == 3


def test_a_requested_number_of_layers_is_placed():
    available = [card("a", 30)]
    assert layout(available, needs([10] * 9), PLENTY, Options(count=2, overhead=0)).count == 2
    assert layout(available, needs([10] * 9), PLENTY, Options(count=7, overhead=0)).count == 7
    assert layout(available, needs([10] * 9), PLENTY, Options(count=0, overhead=0)).count == 0


def test_models_that_do_not_fit_are_refused():
    model = needs([10] * 9, input_weights=5, processor_graph=20)
    with pytest.raises(EngineError, match="4 of its 10 layers"):
        layout([card("a", 35)], model, PLENTY, Options(require_full=True, overhead=0))
    with pytest.raises(EngineError, match="requires more system memory"):
        layout([card("a", 35)], model, Host(free=80, total=200), NO_OVERHEAD)
    enough = layout([card("a", 35)], model, Host(free=80, total=200, swap=10), NO_OVERHEAD)
    assert enough.count == 4
    with pytest.raises(EngineError, match="requires more system memory"):
        layout([card("a", 35)], model, Host(free=80, total=200, swap=10, macos=True), NO_OVERHEAD)


def test_a_mac_never_gets_more_than_its_memory():
    available = [Device("m", "metal", 1000)]
    assert layout(available, needs([10] * 9), Host(100, 120, macos=True), NO_OVERHEAD).count == 10
    assert layout(available, needs([10] * 9), Host(100, 80, macos=True), NO_OVERHEAD) == Layout()
