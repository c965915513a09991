from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from model_sizes import caches, models
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, WorkPoint


@given(models(), st.integers(1, 400), st.integers(1, 4000), st.integers(0, 50), st.integers(0, 2000))
def test_work_never_falls_with_the_context_nor_with_the_chunk(needs, context, chunk, more, larger):
    work = needs.work_bytes(context, chunk)
    assert needs.work_bytes(context + more, chunk) >= work
    assert needs.work_bytes(context, chunk + larger) >= work


@given(caches(), st.integers(0, 500))
def test_a_cache_holds_its_tokens_in_whole_steps(need, context):
    held = need.nbytes(context) - need.constant_bytes
    wanted = context if need.window is None else min(context, need.window)
    assert wanted * need.bytes_per_token <= held <= (wanted + need.step) * need.bytes_per_token


@given(models(), st.integers(1, 500))
def test_samples_are_hit_exactly_or_exceeded_and_no_sample_means_not_known(needs, context):
    for point in needs.work:
        assert needs.work_bytes(point.context, point.chunk) >= point.nbytes
    assert replace(needs, work=()).work_bytes(context, 1) is None


def test_between_samples_the_line_between_them_counts_rounded_up():
    work = (WorkPoint(1, 10, 100), WorkPoint(1, 20, 201), WorkPoint(3, 10, 300))
    needs = ModelNeeds(1, 0, (), work, None)
    assert needs.work_bytes(10, 1) == 100
    assert needs.work_bytes(15, 1) == 151
    assert needs.work_bytes(40, 1) == 402
    assert needs.work_bytes(1, 1) == 100
    assert needs.work_bytes(10, 2) == 200


@given(models(), st.integers(0, 500))
def test_caches_add_up_where_all_are_known(needs, context):
    assert needs.cache_bytes(context) == sum(layer.nbytes(context) for layer in needs.layers)
    unknown = CacheNeed(CacheKind.OTHER, None, 5)
    assert replace(needs, layers=(*needs.layers, unknown)).cache_bytes(context) is None
    assert replace(needs, layers=None).cache_bytes(context) is None
