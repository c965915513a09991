from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from model_sizes import caches, models
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, WorkPoint


@given(models(), st.integers(1, 400), st.integers(1, 4000), st.integers(0, 50), st.integers(0, 2000))
def test_work_never_falls_with_a_larger_context_or_chunk(needs, context, chunk, more, larger):
    work = needs.work_bytes(context, chunk)
    assert needs.work_bytes(context + more, chunk) >= work
    assert needs.work_bytes(context, chunk + larger) >= work


@given(caches(), st.integers(0, 500))
def test_a_cache_holds_its_tokens_in_whole_steps(need, context):
    allocated = need.nbytes(context) - need.constant_bytes
    tokens = context if need.window is None else min(context, need.window)
    assert tokens * need.bytes_per_token <= allocated <= (tokens + need.step) * need.bytes_per_token


@given(models(), st.integers(1, 500))
def test_work_is_never_below_a_sample_and_unknown_without_samples(needs, context):
    for point in needs.work:
        assert needs.work_bytes(point.context, point.chunk) >= point.nbytes
    assert replace(needs, work=()).work_bytes(context, 1) is None


def test_work_between_samples_is_interpolated_and_rounded_up():
    work = (WorkPoint(1, 10, 100), WorkPoint(1, 20, 201), WorkPoint(3, 10, 300))
    needs = ModelNeeds(1, 0, (), work, None)
    assert needs.work_bytes(10, 1) == 100
    assert needs.work_bytes(15, 1) == 151
    assert needs.work_bytes(40, 1) == 402
    assert needs.work_bytes(1, 1) == 100
    assert needs.work_bytes(10, 2) == 200


@given(models(), st.integers(0, 500))
def test_cache_bytes_are_the_sum_if_all_layers_are_known(needs, context):
    assert needs.cache_bytes(context) == sum(layer.nbytes(context) for layer in needs.layers)
    unknown = CacheNeed(CacheKind.OTHER, None, 5)
    assert replace(needs, layers=(*needs.layers, unknown)).cache_bytes(context) is None
    assert replace(needs, layers=None).cache_bytes(context) is None
