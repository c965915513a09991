"""Which version of a model suits a machine, which model does, and configs from the network that make no sense."""

import pytest

from sotto.engine.memory.memory_plan import Limits, Verdict, plan
from sotto.engine.memory.shape_needs import shape_needs
from sotto.engine.memory.version_choice import (
    VersionFit,
    active_parameters,
    best_version,
    choose_model,
    choose_version,
    fit_within,
)
from sotto.store.finding.suggestions import Version

GOOD, SHORT = VersionFit(True, False, 32_768, 40_960), VersionFit(True, False, 4096, 40_960)
TIGHT, NONE = VersionFit(False, True, 8192, 40_960), VersionFit(False, False, 0, 40_960)
SHAPES = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 4096,
}


@pytest.mark.parametrize(
    ("fits", "chosen"),
    [
        ((GOOD, GOOD, NONE), 1),
        ((GOOD, SHORT), 0),
        ((SHORT, TIGHT, NONE), 0),
        ((TIGHT, NONE), 0),
        ((NONE, NONE), None),
        ((), None),
        # As long as the model allows is useful.
        ((VersionFit(True, False, 2048, 2048), VersionFit(True, False, 2048, 2048)), 1),
    ],
)
def test_the_most_exact_version_that_fits_is_chosen(fits, chosen):
    assert choose_version(fits) == chosen


def test_what_is_not_quantized_is_chosen_only_where_there_is_nothing_else():
    versions = [Version("a", bits, 1) for bits in ("Q2_K", "Q4_K_M", "BF16")]
    assert best_version(versions, [GOOD, GOOD, GOOD]) == 1
    assert best_version(versions, [NONE, NONE, NONE]) == 0
    assert best_version(versions, [None, None, None]) == 1
    assert best_version(versions[2:], [GOOD]) == 0
    assert best_version([], []) == 0


def test_the_largest_model_that_fits_is_chosen_and_without_a_graphics_processor_a_quick_one():
    models = [(4 * 10**9, 4 * 10**9, True), (14 * 10**9, 14 * 10**9, True), (32 * 10**9, 32 * 10**9, False)]
    assert choose_model(models, on_cpu=False) == 1
    assert choose_model(models, on_cpu=True) == 0
    assert choose_model([*models, (30 * 10**9, 3 * 10**9, True)], on_cpu=True) == 3
    assert choose_model(models[2:], on_cpu=False) is None


def test_experts_that_are_not_used_compute_nothing():
    config = {
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "hidden_size": 10,
        "moe_intermediate_size": 5,
        "num_hidden_layers": 3,
    }
    assert active_parameters(config, 10_000) == 10_000 - 6 * 3 * 3 * 10 * 5
    assert active_parameters(SHAPES, 10_000) == 10_000


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": 7},
        {"model_type": "strange"},
        {"num_hidden_layers": 10**9},
        {"num_hidden_layers": True},
        {"num_attention_heads": 0},
        {"hidden_size": "64"},
        {"hidden_size": -1},
        {"text_config": {}},
    ],
    ids=str,
)
def test_shapes_that_make_no_sense_are_unknown(change):
    needs = shape_needs(SHAPES | change, 10**9, 2)
    assert needs.layers is None
    limits = Limits(10**10, 10**10, "free memory")
    assert plan(needs, limits).verdict is Verdict.UNKNOWN
    # What is known may be too much already.
    assert plan(shape_needs(SHAPES | change, 10**11, 2), limits).verdict is Verdict.WILL_NOT_FIT


@pytest.mark.parametrize(
    "odd",
    [{"layer_types": [7]}, {"sliding_window": "no"}, {"sliding_window_pattern": 0}, {"num_experts_per_tok": -3}],
    ids=str,
)
def test_other_values_that_make_no_sense_are_ignored(odd):
    assert shape_needs(SHAPES | odd, 10**9, 2).cache_bytes(100) == 2 * 2 * 64 * 2 * 100


def test_a_model_fits_with_as_long_a_context_as_there_is_memory_for():
    needs = shape_needs(SHAPES, 10**9, 2)
    whole = 10**9 + needs.cache_bytes(4096) + needs.work_bytes(4096, 32)
    roomy = fit_within(needs, Limits(2 * 10**9, 2 * 10**9, ""))
    assert (roomy.fits, roomy.tight, roomy.context, roomy.useful) == (True, False, 4096, True)
    barely = fit_within(needs, Limits(whole, whole, ""))
    assert (barely.fits, barely.tight, barely.context) == (False, True, 4096)
    nothing = fit_within(needs, Limits(10**8, 10**8, ""))
    assert (nothing.fits, nothing.tight, nothing.context) == (False, False, 0)
    assert fit_within(needs, Limits(None, None, "")) is None
    assert fit_within(shape_needs({}, 10**9, 2), Limits(2 * 10**9, 2 * 10**9, "")) is None


def test_needs_grow_with_the_context_and_with_the_bytes_of_a_number():
    half, whole = shape_needs(SHAPES, 1, 2), shape_needs(SHAPES, 1, 4)
    assert whole.cache_bytes(1000) == 2 * half.cache_bytes(1000) == 2 * 2 * 64 * 2 * 4 * 1000 // 2 * 1
    assert whole.work_bytes(4096, 512) > whole.work_bytes(1024, 512) > whole.work_bytes(1024, 64)
