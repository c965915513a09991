from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_sizes import models
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, WorkPoint
from sotto.engine.memory.memory_plan import (
    CHUNKS,
    COMFORTABLE,
    PREFIX_BUDGET,
    Limits,
    Plan,
    Verdict,
    offered_context,
    plan,
)

GB = 10**9
FULL = CacheNeed(CacheKind.FULL, 100_000, step=256)
SLIDING = CacheNeed(CacheKind.SLIDING, 50_000, window=1024, step=256)
RECURRENT = CacheNeed(CacheKind.RECURRENT, 0, constant_bytes=7_000_000)
UNKNOWN = CacheNeed(CacheKind.OTHER, None)
WORK = (
    WorkPoint(1, 1, 10**6),
    WorkPoint(1, 8192, 2 * 10**6),
    WorkPoint(32, 32, 10**7),
    WorkPoint(32, 8192, 3 * 10**7),
    WorkPoint(2048, 2048, 4 * 10**8),
    WorkPoint(2048, 8192, 10**9),
)
NEEDS = ModelNeeds(2 * GB, 0, (FULL, SLIDING, RECURRENT), WORK, 8192)


def limits(budget, total=64 * GB):
    return Limits(budget, total, "a test")


@given(models(), st.integers(0, 20_000))
def test_the_largest_context_equals_that_of_an_exhaustive_search(needs, budget):
    def fits(context):
        return plan(needs, limits(budget), context).verdict in (Verdict.FITS, Verdict.TIGHT)

    lengths = range(min(4, needs.longest_context), needs.longest_context + 1)
    fitting = [length for length in lengths if fits(length)]
    assert plan(needs, limits(budget)).largest_context == max(fitting, default=0)
    assert fitting == list(range(lengths.start, lengths.start + len(fitting)))


@given(models(), st.integers(1, 20_000), st.integers(0, 5000), st.integers(1, 150))
def test_more_memory_never_makes_a_plan_worse(needs, budget, more, context):
    order = [Verdict.WILL_NOT_FIT, Verdict.TIGHT, Verdict.FITS]
    before, after = plan(needs, limits(budget), context), plan(needs, limits(budget + more), context)
    assert order.index(after.verdict) >= order.index(before.verdict)
    assert after.largest_context >= before.largest_context
    assert after.chunk >= before.chunk or after.verdict is Verdict.FITS


@given(models(), st.integers(1, 20_000), st.integers(1, 150), st.sampled_from(CHUNKS))
def test_a_plan_adds_up(needs, budget, context, chunk):
    made = plan(needs, limits(budget), context, chunk)
    assert made.needed == made.weights + max(
        made.loading, made.cache + needs.work_bytes(made.context, min(made.chunk, made.context))
    )
    assert made.chunk <= chunk
    assert made.prefix_budget == 0 or made.needed + made.prefix_budget <= budget * COMFORTABLE
    if made.verdict is not Verdict.WILL_NOT_FIT:
        assert made.needed <= budget


def test_with_plenty_of_memory_a_model_fits_and_has_a_prefix_cache():
    made = plan(NEEDS, limits(20 * GB))
    assert made.verdict is Verdict.FITS
    assert (made.context, made.chunk, made.largest_context) == (8192, 2048, 8192)
    assert made.cache == 8192 * 100_000 + 1024 * 50_000 + 7_000_000
    assert made.needed == 2 * GB + made.cache + 10**9
    assert made.prefix_budget == PREFIX_BUDGET
    assert made.reliefs == ()
    assert made.sentence == "It fits: with 8,192 tokens it takes 3.9 GB, and 20.0 GB can be used (a test)."


def test_the_prefix_cache_gets_the_remaining_memory_up_to_its_budget():
    assert plan(NEEDS, limits(20 * GB), prefix_budget=GB).prefix_budget == GB
    made = plan(NEEDS, limits(5 * GB))
    assert made.prefix_budget == int(5 * GB * COMFORTABLE) - made.needed


def test_smaller_chunks_are_preferred_to_a_tight_plan():
    made = plan(NEEDS, limits(4 * GB))
    assert (made.verdict, made.context) == (Verdict.FITS, 8192)
    assert 32 <= made.chunk < 2048
    assert f"reading prompts {made.chunk} tokens at a time" in made.sentence
    doubled = plan(NEEDS, limits(4 * GB), chunk=made.chunk)
    assert doubled.chunk == made.chunk


def test_a_model_that_only_just_fits_is_tight():
    made = plan(NEEDS, limits(3 * GB))
    assert made.verdict is Verdict.TIGHT
    assert made.prefix_budget == 0
    assert made.sentence.startswith("It fits, but barely: with 8,192 tokens it takes 2.9 GB")


def test_a_smaller_context_is_offered():
    made = plan(NEEDS, limits(int(2.5 * GB), 64 * GB))
    assert made.verdict is Verdict.WILL_NOT_FIT
    assert 256 <= made.largest_context < 8192
    (smaller,) = [relief for relief in made.reliefs if relief.what == "smaller context"]
    assert f"a context of {smaller.context:,} tokens would fit" in made.sentence
    assert 256 <= smaller.context < made.largest_context
    assert made.needed - smaller.nbytes <= 2.5 * GB
    assert plan(NEEDS, limits(int(2.5 * GB)), made.largest_context).verdict is Verdict.TIGHT
    assert plan(NEEDS, limits(int(2.5 * GB)), made.largest_context + 1).verdict is Verdict.WILL_NOT_FIT


def test_a_context_that_nearly_fits_leaves_room_to_read_prompts_in_large_chunks():
    narrow = replace(NEEDS, longest_context=65_536)
    offered = offered_context(narrow, 6 * GB)
    made = plan(narrow, limits(6 * GB), offered)
    assert made.chunk >= 128
    assert made.needed <= 0.95 * 6 * GB
    assert plan(narrow, limits(6 * GB), made.largest_context).chunk == CHUNKS[-1]
    assert 0.8 * made.largest_context < offered < made.largest_context


def test_models_that_would_free_enough_memory_are_named():
    reclaimable = {"qwen3:8b": 3 * GB, "the prefix cache": 10**7, "nothing": 0}
    made = plan(NEEDS, limits(GB), reclaimable=reclaimable)
    assert made.largest_context == 0
    by_name = {relief.what: relief for relief in made.reliefs}
    assert set(by_name) == {"qwen3:8b", "the prefix cache", "other programs"}
    assert by_name["qwen3:8b"].enough
    assert by_name["qwen3:8b"].context == 8192
    assert not by_name["the prefix cache"].enough
    assert by_name["other programs"].nbytes == made.needed - GB
    assert "freeing qwen3:8b (3.0 GB) would be enough" in made.sentence


def test_other_programs_cannot_free_more_memory_than_the_machine_has():
    made = plan(NEEDS, limits(GB, int(1.5 * GB)))
    assert made.reliefs == ()
    assert "The weights alone take 2.0 GB" in made.sentence
    assert "choose a smaller model" in made.sentence


def test_unknown_needs_give_an_unknown_verdict():
    for needs in (
        replace(NEEDS, layers=(FULL, UNKNOWN)),
        replace(NEEDS, layers=None),
        replace(NEEDS, work=()),
    ):
        made = plan(replace(needs, unknown="its layers are of no known kind."), limits(20 * GB))
        assert made.verdict is Verdict.UNKNOWN
        assert made.sentence == "Whether it fits is not known: its layers are of no known kind."
        assert (made.needed, made.largest_context, made.prefix_budget) == (None, None, 0)
    made = plan(NEEDS, Limits(None, None, ""))
    assert made.verdict is Verdict.UNKNOWN
    assert "the system does not tell" in made.sentence


def test_weights_that_are_too_large_do_not_fit_even_if_the_rest_is_unknown():
    made = plan(replace(NEEDS, layers=None, unknown="no."), limits(GB))
    assert made.verdict is Verdict.WILL_NOT_FIT
    assert made.largest_context == 0


def test_memory_for_loading_the_weights_is_planned():
    made = plan(replace(NEEDS, loading_bytes=6 * GB), limits(7 * GB))
    assert made.verdict is Verdict.WILL_NOT_FIT
    assert made.needed == 8 * GB


@pytest.mark.parametrize(("asked", "planned"), [(None, 8192), (1, 4), (100, 100), (10**6, 8192)])
def test_the_context_is_the_requested_one_within_the_limits_of_the_model(asked, planned):
    assert plan(NEEDS, limits(20 * GB), asked).context == planned


def test_a_model_without_a_maximum_context_is_planned_for_the_requested_one():
    made = plan(replace(NEEDS, longest_context=None), limits(20 * GB), 4096)
    assert isinstance(made, Plan)
    assert made.context == 4096
    assert made.largest_context > 8192


def test_a_limit_in_the_settings_is_respected_and_named():
    machine = Limits(8_000, 16_000, "what other programs leave free")
    assert machine.within(None) == machine
    assert machine.within(10_000) == Limits(8_000, 10_000, "what other programs leave free")
    assert machine.within(4_000) == Limits(4_000, 4_000, "the limit in Settings")
    assert Limits(None, None, "").within(4_000) == Limits(4_000, 4_000, "the limit in Settings")
