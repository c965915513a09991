"""Models are loaded where they fit, in the stages of a placement, with the planned context."""

from dataclasses import replace

import pytest

from checkpoints import LLAMA, source_of
from loading import PLENTY, quantized_checkpoint, random_weights
from sotto.engine.footprint import load_planning
from sotto.engine.footprint.load_planning import Fitting, place_on_one_device, plan_load
from sotto.engine.footprint.model_needs import needs_of, needs_with_draft
from sotto.engine.kernels import native
from sotto.engine.memory.memory_plan import COMFORTABLE, PREFIX_BUDGET, Limits, Verdict
from sotto.errors import CancelledError, EngineError, UnsupportedModelError


@pytest.fixture
def source(tmp_path):
    files, _ = quantized_checkpoint(tmp_path, random_weights(LLAMA), "int4")
    return source_of(files, LLAMA)


@pytest.fixture
def draft(tmp_path):
    config = LLAMA | {"num_hidden_layers": 1}
    files, _ = quantized_checkpoint(tmp_path / "draft", random_weights(config), "int4")
    return source_of(files, config)


def tight(source, context, draft=None):
    """Return limits that leave room for a context of just this many tokens."""
    needs = needs_with_draft(source, draft, PLENTY)
    budget = max(
        needs.weight_bytes + needs.loading_bytes,
        needs.weight_bytes + needs.cache_bytes(context) + needs.work_bytes(context, 32),
    )
    return Limits(budget, budget, "a test")


def test_a_small_model_needs_no_plan(source, monkeypatch):
    monkeypatch.setattr(load_planning, "needs_with_draft", lambda *_: pytest.fail("a plan was made"))
    assert plan_load(source, None, PLENTY) == Fitting(PLENTY)
    assert Fitting(PLENTY).prefix_budget(100) == PREFIX_BUDGET
    assert Fitting(Limits(1000, 1000, "a test")).prefix_budget(100) == int(1000 * COMFORTABLE) - 100


def test_a_context_that_leaves_most_of_the_memory_is_planned_by_an_estimate(source, monkeypatch):
    exact = needs_with_draft(source, None, PLENTY, native.kernels())
    limits = Limits(45 * exact.weight_bytes, 45 * exact.weight_bytes, "a test")
    monkeypatch.setattr(load_planning, "needs_with_draft", lambda *_: pytest.fail("its computation was traced"))
    found = plan_load(source, 64, limits)
    assert found.plan.verdict is Verdict.FITS
    assert found.plan.context == 64
    assert found.plan.weights == source.weight_bytes
    assert found.plan.cache == exact.cache_bytes(64)
    assert found.plan.work >= exact.work_bytes(64, 64)
    assert found.shared == found.plan


@pytest.mark.parametrize("change", ["less memory", "unknown shapes", "images", "unknown memory"])
def test_without_a_good_estimate_the_computation_is_traced(source, monkeypatch, change):
    budget = (5 if change == "less memory" else 45) * source.weight_bytes
    limits = Limits(None if change == "unknown memory" else budget, budget, "a test")
    if change == "unknown shapes":
        source = configured(source, model_type="olmoe")
    elif change == "images":
        source = configured(source, vision_config={})
    monkeypatch.setattr(load_planning, "needs_with_draft", lambda *_: (_ for _ in ()).throw(LookupError))
    with pytest.raises(LookupError):
        plan_load(source, 64, limits)


def configured(source, **changes):
    """Return a source with other values in its config."""
    return replace(source, json_files={**source.json_files, "config.json": {**source.config, **changes}})


def test_a_context_that_nearly_fills_the_memory_is_planned(source, monkeypatch):
    monkeypatch.setattr(load_planning, "_LEAST_CONTEXT", 16)
    limits = tight(source, 100)
    found = plan_load(source, None, limits)
    assert found.plan.verdict in (Verdict.FITS, Verdict.TIGHT)
    assert found.plan.context == found.room < found.plan.largest_context
    assert 64 <= found.room < 256
    assert found.plan.needed <= limits.budget
    assert found.note.startswith("With 256 tokens it takes")


def test_a_requested_context_that_does_not_fit_is_refused_with_the_sentence_of_the_plan(source):
    with pytest.raises(UnsupportedModelError, match=r"With 256 tokens it takes .* can be used"):
        plan_load(source, 256, tight(source, 100))


def test_a_model_that_does_not_fit_is_loaded_if_that_is_requested_anyway(source):
    limits = tight(source, 100)
    found = plan_load(source, 256, limits, anyway=True)
    assert (found.plan.context, found.room, found.note) == (256, None, "")
    assert found.prefix_budget(source.weight_bytes) == 0
    assert place_on_one_device(source, found, lambda: "loaded") == "loaded"
    nowhere = Limits(10, 10, "a test")
    assert place_on_one_device(source, plan_load(source, None, nowhere, anyway=True), lambda: "loaded") == "loaded"


def test_quantized_caches_allow_longer_contexts(tmp_path, monkeypatch):
    monkeypatch.setattr(load_planning, "_LEAST_CONTEXT", 16)
    config = LLAMA | {"head_dim": 32, "num_key_value_heads": 4}
    files, _ = quantized_checkpoint(tmp_path, random_weights(config), "int4")
    source = source_of(files, config)
    limits = tight(source, 150)
    assert plan_load(source, None, limits, 4).room > plan_load(source, None, limits).room


def test_a_draft_model_leaves_less_room_for_the_context(source, draft, monkeypatch):
    monkeypatch.setattr(load_planning, "_LEAST_CONTEXT", 16)
    alone = tight(source, 150)
    with pytest.raises(UnsupportedModelError):
        plan_load(source, 150, alone, draft=draft)
    both = tight(source, 150, draft)
    found = plan_load(source, 150, both, draft=draft)
    assert found.plan.needed <= both.budget
    assert found.plan.weights == needs_of(source, PLENTY).weight_bytes + needs_of(draft, PLENTY).weight_bytes
    assert plan_load(source, None, both, draft=draft).room < plan_load(source, None, both).room
    # A load needs no plan only if both models together are small.
    little = Limits(51 * source.weight_bytes, 51 * source.weight_bytes, "a test")
    assert plan_load(source, None, little).plan is None
    assert plan_load(source, None, little, draft=draft).plan is not None


@pytest.mark.parametrize("kind", ["cpu", "metal", "cuda"])
def test_a_model_that_fits_is_loaded_on_the_one_device(source, monkeypatch, kind):
    limits = tight(source, 200)
    found = plan_load(source, 200, limits)
    monkeypatch.setattr(load_planning, "device", lambda: kind)
    assert place_on_one_device(source, found, lambda: "loaded") == "loaded"


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_loading_a_model_that_does_not_fit_does_not_begin(source, monkeypatch, kind):
    found = plan_load(source, 200, tight(source, 200))
    monkeypatch.setattr(load_planning, "device", lambda: kind)
    less = Limits(found.plan.needed - 1, found.plan.needed - 1, "a test")
    with pytest.raises(EngineError):
        place_on_one_device(source, replace(found, limits=less), lambda: pytest.fail("the model was loaded"))


def test_an_error_while_loading_is_raised(source):
    def load():
        raise CancelledError("Stopped.")

    with pytest.raises(CancelledError, match="Stopped"):
        place_on_one_device(source, Fitting(PLENTY), load)
