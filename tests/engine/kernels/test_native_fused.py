"""The native norms, rotations and activations against float64 references and against those of MLX."""

import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_kernels import KERNELS, assert_close, at_level, bits, kernels_at_each_level, layouts, needs_kernels, normal
from sotto.engine.architectures import zoo
from sotto.engine.kernels import native_fused
from thoroughness import examples

pytestmark = needs_kernels
__all__ = ["kernels_at_each_level"]


# Norms.


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 64), (2, 5, 37), (4, 1, 3, 129), (70, 1024), (0, 8)])
def test_norms(kernels, shape):
    rng = np.random.default_rng(1)
    x, weight, bias = normal(rng, *shape) * 3 + 1, normal(rng, shape[-1]), normal(rng, shape[-1])
    exact = x.astype(np.float64)
    mean = exact.mean(-1, keepdims=True)
    rms = exact / np.sqrt((exact**2).mean(-1, keepdims=True) + 1e-5)
    layer = (exact - mean) / np.sqrt(((exact - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    strided = mx.array(np.stack([weight, bias], axis=1))
    for each in layouts(x):
        assert_close(kernels.rms_norm(each, None, 1e-5), rms)
        assert_close(kernels.rms_norm(each, mx.array(weight), 1e-5), rms * weight)
        assert_close(kernels.layer_norm(each, None, None, 1e-5), layer)
        assert_close(kernels.layer_norm(each, strided[:, 0], strided[:, 1], 1e-5), layer * weight + bias)


def test_a_norm_of_a_row_does_not_depend_on_other_rows(kernels):
    x = mx.array(normal(np.random.default_rng(2), 40, 100))
    together = kernels.rms_norm(x, None, 1e-6), kernels.layer_norm(x, None, None, 1e-6)
    for row in range(0, 40, 7):
        assert bits(together[0][row]) == bits(kernels.rms_norm(x[row], None, 1e-6))
        assert bits(together[1][row]) == bits(kernels.layer_norm(x[row : row + 1], None, None, 1e-6)[0])


# Rotary embeddings.


@examples(60)
@given(
    st.tuples(*(st.integers(1, 4) for _ in range(3)), st.integers(1, 40)),
    st.integers(0, 9),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1.0, 0.25]),
    st.sampled_from(["int", "one", "each"]),
    st.integers(0, 2000),
    st.integers(0, 2),
)
def test_rope_equals_mlx(shape, rest, traditional, own_frequencies, scale, kind, first, level):
    batch, heads, length, half = shape
    rng = np.random.default_rng(first)
    x = mx.array(normal(rng, batch, length, heads, 2 * half + rest)).transpose(0, 2, 1, 3)
    offset = first
    if kind != "int":
        offset = mx.array([first + 11 * row for row in range(batch if kind == "each" else 1)], dtype=mx.int32)
    freqs = mx.array(rng.uniform(0.5, 5000, half).astype(np.float32)) if own_frequencies else None
    base = None if own_frequencies else 10000.0
    with at_level(level):
        found = KERNELS.rope(x, 2 * half, traditional, base, scale, offset, freqs)
        mx.eval(found)
    wanted = mx.fast.rope(x, 2 * half, traditional=traditional, base=base, scale=scale, offset=offset, freqs=freqs)
    assert_close(found, np.array(wanted), 5e-7)


@pytest.mark.parametrize("offset", [0, 4095, 131_071, 1_000_000])
def test_rope_at_large_positions(kernels, offset):
    rng = np.random.default_rng(3)
    x = normal(rng, 1, 2, 5, 128)
    # The angle is a float32 product, as in MLX; the rest is exact.
    inverse = np.array(mx.exp(mx.arange(0, -64, -1, dtype=mx.float32) * (math.log(1e6) / 64)))
    angles = ((np.arange(5, dtype=np.float32) + np.float32(offset))[:, None] * inverse).astype(np.float64)
    a, b = x[..., :64].astype(np.float64), x[..., 64:].astype(np.float64)
    wanted = np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)
    assert_close(kernels.rope(mx.array(x), 128, False, 1e6, 1.0, offset), wanted, 3e-7)


def test_rope_accepts_infinite_frequencies_and_more_axes(kernels):
    x = mx.array(normal(np.random.default_rng(4), 2, 3, 2, 4, 8))
    freqs = mx.array([1.0, math.inf, 3.0, math.inf])
    found = kernels.rope(x, 8, False, None, 1.0, 5, freqs)
    wanted = mx.fast.rope(x, 8, traditional=False, base=None, scale=1.0, offset=5, freqs=freqs)
    assert_close(found, np.array(wanted), 5e-7)
    three = kernels.rope(x[0, 0], 6, True, 10000.0, 1.0, 2)
    assert_close(three, np.array(mx.fast.rope(x[0, 0], 6, traditional=True, base=10000.0, scale=1.0, offset=2)), 5e-7)


# Activations.


def _exact_activations(x):
    with np.errstate(over="ignore"):
        erf = np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return {
            "silu": x / (1 + np.exp(-x)),
            "gelu": x * (1 + erf) / 2,
            "gelu_approx": x / (1 + np.exp(-2 * inner)),
            "gelu_fast_approx": x / (1 + np.exp(-1.702 * x)),
        }


def test_activations(kernels):
    tiny = -np.logspace(-30, 0, 501)
    values = np.concatenate([np.linspace(-60, 60, 20_011), np.linspace(-5, 5, 20_011), tiny, -tiny])
    x = values.astype(np.float32)
    other = normal(np.random.default_rng(5), x.size)
    for name, exact in _exact_activations(x.astype(np.float64)).items():
        function = getattr(kernels, name)
        found = np.array(function(mx.array(x)), dtype=np.float64)
        if name == "silu":
            ulp = np.spacing(np.maximum(np.abs(exact), 1e-30).astype(np.float32)).astype(np.float64)
            assert (np.abs(found - exact) / ulp).max() <= 3
        assert (np.abs(found - exact) / np.maximum(np.abs(x), 1e-30)).max() < 3e-7
        gated = np.array(function(mx.array(x), mx.array(other)))
        np.testing.assert_array_equal(gated, found.astype(np.float32) * other)


def test_activations_of_extreme_values(kernels):
    x = mx.array([math.inf, math.nan, 0.0, -0.0, 1e30, -1e30, 89.0, -104.0])
    for name in ("silu", "gelu", "gelu_approx", "gelu_fast_approx"):
        found = np.array(getattr(kernels, name)(x))
        np.testing.assert_array_equal(found[:7], np.array([math.inf, math.nan, 0, -0.0, 1e30, 0, 89], np.float32))
        np.testing.assert_allclose(found[7], 0, atol=1e-40)


@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 3, 33), (0, 4), (2, 9000)])
def test_gates_in_all_layouts(kernels, shape):
    rng = np.random.default_rng(6)
    gate, x = normal(rng, *shape), normal(rng, *shape)
    wanted = _exact_activations(gate.astype(np.float64))["silu"] * x
    reference = bits(kernels.silu(mx.array(gate), mx.array(x)))
    for a in layouts(gate):
        for b in layouts(x):
            found = kernels.silu(a, b)
            assert_close(found, wanted)
            assert bits(found) == reference


def test_the_clipped_gate(kernels):
    rng = np.random.default_rng(7)
    gate, x = normal(rng, 3, 101) * 6, normal(rng, 3, 101) * 6
    clipped = np.minimum(gate.astype(np.float64), 7)
    wanted = (np.clip(x.astype(np.float64), -7, 7) + 1) * clipped / (1 + np.exp(-1.702 * clipped))
    assert_close(kernels.swiglu_oai(mx.array(gate), mx.array(x), 1.702, 7.0), wanted)


def test_results_do_not_depend_on_the_number_of_threads(kernels):
    rng = np.random.default_rng(13)
    x, gate = mx.array(normal(rng, 300, 512)), mx.array(normal(rng, 300, 512))
    rotated = mx.array(normal(rng, 2, 8, 100, 64))

    def results():
        made = [
            kernels.rms_norm(x, None, 1e-6),
            kernels.layer_norm(x, None, None, 1e-6),
            kernels.silu(gate, x),
            kernels.rope(rotated, 64, False, 10000.0, 1.0, 7),
        ]
        return [bits(each) for each in made]

    before = kernels.threads()
    try:
        kernels.set_threads(1)
        alone = results()
        for count in (2, 5):
            kernels.set_threads(count)
            assert results() == alone
    finally:
        kernels.set_threads(before)


def test_inputs_that_do_not_fit_together_are_refused():
    x = mx.zeros((1, 4, 3, 8))
    with pytest.raises(ValueError, match="weight"):
        KERNELS.rms_norm(x, mx.zeros((7,)), 1e-6)
    with pytest.raises(ValueError, match="even"):
        KERNELS.rope(x, 7, False, 10000.0, 1.0, 0)
    with pytest.raises(ValueError, match="not both"):
        KERNELS.rope(x, 8, False, 10000.0, 1.0, 0, mx.ones((4,)))
    with pytest.raises(ValueError, match="one for each row"):
        KERNELS.rope(x, 8, False, 10000.0, 1.0, mx.array([1, 2]))
    with pytest.raises(ValueError, match="float32"):
        KERNELS.silu(x.astype(mx.bfloat16))


# As replacements of MLX's functions.


def _everything(kind):
    """Call every replaced function with inputs of one type."""
    rng = np.random.default_rng(16)
    x, w = mx.array(normal(rng, 2, 4, 5, 16)).astype(kind), mx.array(normal(rng, 16)).astype(kind)
    from mlx_lm.models import activations

    return [
        mx.fast.rms_norm(x, w, 1e-5),
        mx.fast.rms_norm(x, None, eps=1e-5, stream=mx.cpu),
        mx.fast.layer_norm(x, w, w, 1e-5),
        mx.fast.rope(x, 16, traditional=False, base=10000, scale=1.0, offset=3),
        mx.fast.rope(x, 16, traditional=True, base=10000.0, scale=1, offset=mx.array([3, 9], mx.uint32)),
        mx.fast.rope(x, 16, traditional=True, base=10000.0, scale=1, offset=mx.array([3, 9])),
        mx.fast.scaled_dot_product_attention(x, x, x, scale=0.25, mask="causal"),
        mx.fast.scaled_dot_product_attention(x, x[:, :2], x[:, :2], scale=0.25, mask=(w[:5] * 1).astype(kind)),
        mx.fast.scaled_dot_product_attention(x, x, x, scale=0.25, mask=w[:5] > 0, sinks=w[:4]),
        nn.silu(x),
        nn.SiLU()(x),
        nn.gelu(x),
        nn.gelu_approx(x),
        nn.gelu_fast_approx(x),
        activations.swiglu(x, x + 1),
        activations.swiglu(x, w),
        activations.precise_swiglu(x, x, x + 1),
        activations.swiglu_oai(x, x + 1),
        activations.swiglu_oai(x, x + 1, alpha=1.5, limit=1.0),
    ]


@pytest.mark.parametrize(("kind", "tolerance"), [(mx.float32, 2e-6), (mx.bfloat16, 0), (mx.float16, 0)])
def test_replaced_functions_equal_those_of_mlx(kind, tolerance):
    zoo.install()
    native_fused.uninstall()
    wanted = _everything(kind)
    mx.eval(wanted)
    native_fused.install(KERNELS)
    try:
        found = _everything(kind)
        mx.eval(found)
    finally:
        native_fused.uninstall()
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        a, b = (np.array(x.astype(mx.float32)) for x in (a, b))
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max()))


def test_functions_are_also_replaced_in_modules_that_imported_them_and_restored():
    zoo.install()
    native_fused.uninstall()
    from mlx_lm.models import activations, llama

    places = [(mx.fast, "rope"), (nn, "silu"), (activations, "swiglu"), (llama, "swiglu")]
    before = [getattr(place, name) for place, name in places]
    native_fused.install(KERNELS)
    native_fused.install(KERNELS)
    assert all(getattr(place, name) is not original for (place, name), original in zip(places, before, strict=True))
    assert llama.swiglu is activations.swiglu
    native_fused.uninstall()
    assert [getattr(place, name) for place, name in places] == before


def test_a_model_gives_the_logits_of_plain_mlx():
    config = {
        "model_type": "qwen3",
        "hidden_size": 64,
        "num_hidden_layers": 3,
        "intermediate_size": 96,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "rms_norm_eps": 1e-6,
        "vocab_size": 100,
        "max_position_embeddings": 512,
        "rope_theta": 1e6,
        "tie_word_embeddings": True,
    }
    native_fused.uninstall()
    model, _ = zoo.build(config)
    from mlx_lm.models.cache import KVCache

    prompt = mx.random.randint(0, 100, (2, 40), key=mx.random.key(1))

    def logits():
        cache = [KVCache() for _ in model.layers]
        first = model(prompt, cache=cache)
        following = [model(prompt[:, at : at + 1], cache=cache) for at in range(3)]
        return mx.concatenate([first, *following], axis=1)

    wanted = np.array(logits())
    native_fused.install(KERNELS)
    try:
        found = np.array(logits())
    finally:
        native_fused.uninstall()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
