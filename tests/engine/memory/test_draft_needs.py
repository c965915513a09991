"""Plans for a model with a draft model, compared with sums of both and with the memory that MLX uses."""

from dataclasses import replace

import mlx.core as mx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mlx.utils import tree_flatten

import model_sizes
from checkpoints import LLAMA, source_of
from loading import PLENTY, quantized_checkpoint, random_weights
from sotto.engine.architectures import zoo
from sotto.engine.caches.caches import make_caches
from sotto.engine.footprint.model_needs import model_needs, needs_of, needs_with_draft, plan_model
from sotto.engine.kernels import native, native_fused
from sotto.engine.memory.draft_needs import LARGEST_CHUNK, beside, with_draft
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, WorkPoint
from sotto.engine.memory.memory_plan import CHUNKS, Limits, Verdict, plan

# Half as wide as Qwen3 0.6B.
QWEN3 = {
    "model_type": "qwen3",
    "hidden_size": 512,
    "intermediate_size": 1536,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "vocab_size": 4000,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
    "max_position_embeddings": 1024,
    "tie_word_embeddings": True,
}


@st.composite
def models(draw):
    """Return needs with some larger samples, with or without a maximum context length."""
    points = st.builds(WorkPoint, st.sampled_from([1, 32, 512, 2048]), st.integers(1, 5000), st.integers(0, 3000))
    longest = draw(st.none() | st.integers(1, 4000))
    work = tuple(draw(st.lists(points, min_size=1, max_size=8)))
    return replace(draw(model_sizes.models()), work=work, longest_context=longest)


@given(models(), models(), st.integers(1, 6000))
def test_both_models_cache_the_context_and_the_draft_no_more_than_its_maximum(needs, draft, context):
    followed = min(context, draft.longest_context or context)
    both = with_draft(needs, draft)
    assert both.cache_bytes(context) == needs.cache_bytes(context) + draft.cache_bytes(followed)
    assert both.longest_context == needs.longest_context


@given(models(), models(), st.integers(1, 6000), st.integers(1, 2048))
def test_work_has_room_for_each_model_and_grows_with_context_and_chunk(needs, draft, context, chunk):
    chunk = min(chunk, context)
    assume(context <= max(point.context for point in (*needs.work, *draft.work)))
    followed = min(context, draft.longest_context or context)
    both = with_draft(needs, draft)
    work = both.work_bytes(context, chunk)
    # Samples are whole bytes, and the shortest chunk is extrapolated to longer ones that were not measured.
    rounding = 2 * max(1, chunk // min(point.chunk for point in (*needs.work, *draft.work)))
    assert work + rounding >= needs.work_bytes(context, chunk)
    assert work + rounding >= draft.work_bytes(followed, min(chunk, LARGEST_CHUNK))
    assert work <= both.work_bytes(context + 1, chunk) + rounding
    assert work <= both.work_bytes(context, chunk + 1) + rounding


@given(models(), models(), st.integers(0, 30_000))
def test_the_largest_context_of_both_equals_that_of_an_exhaustive_search(needs, draft, budget):
    both = with_draft(replace(needs, longest_context=120), draft)
    limits = Limits(budget, budget, "a test")
    fitting = [n for n in range(4, 121) if plan(both, limits, n).verdict in (Verdict.FITS, Verdict.TIGHT)]
    assert plan(both, limits).largest_context == max(fitting, default=0)


@given(models(), models())
def test_the_draft_is_loaded_while_the_main_model_is_in_memory(needs, draft):
    both = with_draft(needs, draft)
    most = max(needs.weight_bytes + needs.loading_bytes, needs.weight_bytes + draft.weight_bytes + draft.loading_bytes)
    assert both.weight_bytes + both.loading_bytes == most


@pytest.mark.parametrize("missing", ["layers", "work"])
def test_if_the_needs_of_one_model_are_unknown_so_are_those_of_both(missing):
    known = ModelNeeds(10, 0, (CacheNeed(CacheKind.FULL, 1),), (WorkPoint(1, 1, 5),), 100)
    unknown = replace(known, unknown="something stands in the way.", **{missing: None if missing == "layers" else ()})
    for needs, draft in ((known, unknown), (unknown, known)):
        made = plan(with_draft(needs, draft), PLENTY)
        assert made.verdict is Verdict.UNKNOWN
        assert "something stands in the way" in made.sentence
    assert "the draft model" in plan(with_draft(known, unknown), PLENTY).sentence


def test_limits_are_reduced_beside_another_model():
    assert beside(Limits(100, 300, "a test"), 30) == Limits(70, 300, "a test")
    assert beside(Limits(100, 300, "a test"), 130).budget == 0
    assert beside(Limits(None, None, "nobody"), 30).budget is None


def needs_and_model(layers):
    """Return a model half as wide as Qwen3 0.6B with this many layers, and its needs with MLX alone."""
    model, config = zoo.build(QWEN3 | {"num_hidden_layers": layers})
    model.eval()
    mx.eval(model.parameters())
    weights = sum(array.nbytes for _, array in tree_flatten(model.parameters()))
    needs = model_needs(zoo.build(QWEN3 | {"num_hidden_layers": layers})[0], config, weights, 0, 1024)
    assert not needs.unknown
    return model, needs


@pytest.fixture
def without_kernels():
    """Compute with MLX alone, even if other tests have installed kernels; loading a model installs them again."""
    native.uninstall()
    native_fused.uninstall()


@pytest.mark.usefixtures("without_kernels")
@pytest.mark.parametrize("chunk", [32, 512])
def test_a_plan_with_a_draft_predicts_the_memory_of_both(chunk):
    pairs = [needs_and_model(layers) for layers in (3, 1)]
    made = plan(with_draft(*(needs for _, needs in pairs)), PLENTY, 512, chunk)
    taken = []
    # On a busy machine, MLX may free memory sooner.
    for _ in range(3):
        mx.clear_cache()
        before = mx.get_active_memory() - made.weights
        mx.reset_peak_memory()
        caches = [make_caches(model, None, 512) for model, _ in pairs]
        # The draft model is fed the same tokens as the main model, in chunks of the same size.
        for (model, _), cache in zip(pairs, caches, strict=True):
            for _ in range(0, 512, chunk):
                model(mx.array([[5] * chunk]), cache=cache)
                mx.eval([layer.state for layer in cache])
                mx.clear_cache()
        assert made.cache == sum(layer.nbytes for cache in caches for layer in cache)
        taken.append(mx.get_peak_memory() - before)
        del caches, cache
    assert made.needed == pytest.approx(max(taken), rel=0.1)


@pytest.fixture
def pair(tmp_path):
    config = LLAMA | {"max_position_embeddings": 1024}
    smaller = config | {"num_hidden_layers": 1}
    found = []
    for name, settings in (("model", config), ("draft", smaller)):
        files, _ = quantized_checkpoint(tmp_path / name, random_weights(settings), "int4")
        found.append(source_of(files, settings))
    return found


def test_the_verdict_considers_both_models(pair):
    source, draft = pair
    # With the smallest chunks, the main model only just fits.
    needs = needs_of(source, PLENTY)
    alone = needs.weight_bytes + max(needs.loading_bytes, needs.cache_bytes(512) + needs.work_bytes(512, CHUNKS[-1]))
    limits = Limits(alone, alone, "a test")
    assert plan_model(source, limits, 512).verdict is not Verdict.WILL_NOT_FIT
    assert plan_model(source, limits, 512, draft).verdict is Verdict.WILL_NOT_FIT
    assert plan_model(source, limits, None, draft).largest_context < plan_model(source, limits).largest_context


def test_weights_are_not_widened_if_a_draft_model_needs_the_memory(tmp_path):
    """Check that 16-bit weights that would be widened to float32 are not if a draft model takes the memory."""
    sources = []
    for layers in (2, 1):
        config = LLAMA | {"num_hidden_layers": layers}
        files, _ = quantized_checkpoint(
            tmp_path / str(layers), random_weights(config), "", choose=lambda _: False, dtype=mx.bfloat16
        )
        sources.append(source_of(files, config))
    source, draft = sources
    budget = int(source.weight_bytes * 2.4)
    limits = Limits(budget, budget, "a test")
    assert needs_of(source, limits).weight_bytes > source.weight_bytes * 1.5
    both = needs_with_draft(source, draft, limits)
    assert both.weight_bytes < budget
