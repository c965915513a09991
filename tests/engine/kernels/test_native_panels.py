"""MLX's types with their rows interleaved: with VNNI the same bits as without, and elsewhere within the same bounds."""

import mlx.core as mx
import numpy as np
import pytest
from mlx import nn
from mlx.utils import tree_flatten

from families import FAMILIES
from native_kernels import (
    KERNELS,
    LEVELS,
    at_level,
    bits,
    kernels_at_each_level_with_blocks,
    needs_kernels,
    normal,
)
from sotto.engine.architectures.zoo import build
from sotto.engine.caches.caches import make_caches
from sotto.engine.kernels import native, native_products
from sotto.engine.kernels.native_panels import FLOAT_PANELS, arrange_in_panels, is_interleaved, panel_mode

pytestmark = [needs_kernels, pytest.mark.usefixtures("block_kernels")]
__all__ = ["kernels_at_each_level_with_blocks"]

# As in test_native_fixed.
STEP = 4e-7
ADDING = 5e-7

dtypes = pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16], ids=str)
# Of whole blocks, and with a last block of 64, 128 and 192 columns.
shapes = pytest.mark.parametrize(
    ("rows", "columns"),
    [(50, 256), (16, 512), (37, 768), (130, 2304), (50, 64), (16, 576), (37, 896), (130, 2880), (33, 1216)],
)
types = pytest.mark.parametrize(("width", "group"), [(4, 32), (4, 64), (8, 32), (8, 64)])


def matrix(shape, width, group, dtype):
    """Return random words, scales and biases."""
    rng = np.random.default_rng(5)
    words = rng.integers(0, 1 << 32, (*shape[:-1], shape[-1] * width // 32), np.uint32)
    scales, biases = (mx.array(normal(rng, *shape[:-1], shape[-1] // group)).astype(dtype) for _ in range(2))
    return mx.array(words), scales, biases


def in_panels(words, scales, biases):
    """Return the same matrix as the kernels take it, by what a model with such a layer becomes."""
    return KERNELS.interleave(words), KERNELS.interleave(mx.stack([scales, biases], axis=-1).flatten(-2))


def computed_alike(rows, group):
    """Return whether so many rows have the same bits whether those of the weights are interleaved or not."""
    return KERNELS.level() == "vnni" or (KERNELS.level() == "amx" and (rows <= KERNELS.few_rows() or group == 64))


def agree(found, wanted, x, exact, biases):
    """Check a product with interleaved rows against that without or, where this is another way, against float64."""
    group = exact.shape[1] // biases.shape[1]
    if wanted is not None and computed_alike(len(x), group):
        assert bits(found) == bits(wanted)
        return
    x, exact, biases = (np.array(array, np.float64) for array in (x, exact, np.repeat(biases, group, axis=1)))
    largest = np.abs(x).reshape(len(x), -1, group).max(axis=-1)
    weights = np.abs(exact).reshape(len(exact), -1, group).sum(axis=-1)
    sizes = np.abs(exact - biases) + np.abs(biases)
    error = STEP * largest @ weights.T + ADDING * np.abs(x) @ sizes.T
    assert np.all(np.abs(np.array(found, np.float64) - x @ exact.T) <= error)


@dtypes
@types
@shapes
def test_products_and_rows(rows, columns, width, group, dtype):
    parts = matrix((rows, columns), width, group, dtype)
    words, both = in_panels(*parts)
    mode = panel_mode(width, group)
    rng = np.random.default_rng(1)
    x = mx.array(normal(rng, 40, columns) * np.exp(3 * normal(rng, 40, columns)))
    scales, biases = (part.astype(mx.float32) for part in parts[1:])
    exact = mx.dequantize(parts[0], scales, biases, group, width)
    for few in (0, 1, 50):
        KERNELS.set_few_rows(few)
        try:
            for count in (1, 2, 3, 4, 5, 8, 9, 17, 40):
                wanted = KERNELS.quantized_matmul(x[:count], *parts, True, group, width, "affine")
                found = KERNELS.quantized_matmul(x[:count], words, both, None, True, group, width, mode)
                agree(found, wanted, x[:count], exact, biases)
        finally:
            KERNELS.set_few_rows(0)
    ids = mx.array([0, rows - 1, rows // 2])
    wanted = KERNELS.embedding(ids, *parts, group, width, "affine")
    assert bits(KERNELS.embedding(ids, words, both, None, group, width, mode)) == bits(wanted)


@pytest.mark.parametrize(("mode", "group"), [("mxfp4", 32), ("nvfp4", 16)])
@shapes
def test_products_and_rows_of_floating_point_codes(rows, columns, mode, group):
    rng = np.random.default_rng(6)
    words = mx.array(rng.integers(0, 1 << 32, (rows, columns // 8), np.uint32))
    # Exponents that are the same whether subnormal or not, or any numbers in eight bits but NaN.
    numbers = rng.integers(110, 130, (rows, columns // group))
    scales = mx.array((numbers if mode == "mxfp4" else numbers % 7 * 37 % 126 + 128 * (numbers % 2)).astype(np.uint8))
    scales[:3, 0] = mx.array([0, 1, 2], mx.uint8)
    arranged = KERNELS.interleave(words), KERNELS.interleave(scales)
    x = mx.array(normal(rng, 40, columns) * np.exp(3 * normal(rng, 40, columns)))
    exact = mx.dequantize(words, scales, None, group, 4, mode, dtype=mx.float32)
    # Codes are made unsigned by adding what stands for 6, which is taken off again as a bias.
    unit = mx.dequantize(mx.full((rows, columns // 8), 0x22222222, mx.uint32), scales, None, group, 4, mode)
    biases = 6 * np.abs(np.array(unit.astype(mx.float32)))[:, ::group]
    for count in (1, 2, 3, 4, 5, 8, 9, 17, 40):
        found = KERNELS.quantized_matmul(x[:count], *arranged, None, True, group, 4, FLOAT_PANELS[mode])
        # Without its rows interleaved, NVFP4 is always multiplied as float32.
        wanted = None
        if mode == "mxfp4":
            wanted = KERNELS.quantized_matmul(x[:count], words, scales, None, True, group, 4, mode)
        agree(found, wanted, x[:count], exact, biases)
    ids = mx.array([0, rows - 1, rows // 2])
    wanted = KERNELS.embedding(ids, words, scales, None, group, 4, mode)
    assert bits(KERNELS.embedding(ids, *arranged, None, group, 4, FLOAT_PANELS[mode])) == bits(wanted)


def test_a_scale_that_is_not_a_number_makes_its_row_so():
    words = mx.zeros((40, 32), mx.uint32)
    scales = mx.full((40, 16), 0x38, mx.uint8)
    scales[17, 3] = mx.array(0x7F, mx.uint8)
    x = mx.array(normal(np.random.default_rng(3), 20, 256))
    for count in (1, 20):
        parts = KERNELS.interleave(words), KERNELS.interleave(scales)
        found = KERNELS.quantized_matmul(x[:count], *parts, None, True, 16, 4, FLOAT_PANELS["nvfp4"])
        np.testing.assert_array_equal(np.isnan(np.array(found)), np.arange(40)[None].repeat(count, 0) == 17)


@types
def test_products_with_chosen_experts(width, group):
    parts = matrix((5, 40, 512), width, group, mx.bfloat16)
    words, both = in_panels(*parts)
    x, chosen = mx.array(normal(np.random.default_rng(2), 7, 1, 1, 512)), mx.array([[0, 3]] * 5 + [[4, 1], [2, 2]])
    mode = panel_mode(width, group)
    found = KERNELS.gather_qmm(x, words, both, None, None, chosen, True, group, width, mode)
    for row, experts in enumerate(chosen.tolist()):
        for place, expert in enumerate(experts):
            own = [part[expert] for part in (words, both)]
            alone = KERNELS.quantized_matmul(x[row, 0], *own, None, True, group, width, mode)
            assert bits(found[row, place]) == bits(alone)
    if computed_alike(1, group):
        wanted = KERNELS.gather_qmm(x, *parts, None, chosen, True, group, width, "affine")
        assert bits(found) == bits(wanted)


def _is_quantized(_, layer):
    return hasattr(layer, "to_quantized") and layer.weight.shape[-1] % 64 == 0


def wide(name, mode):
    """Return a model whose matrices have whole blocks, with its config."""
    mx.random.seed(3)
    model, config = build(
        FAMILIES[name]
        | {"hidden_size": 256, "intermediate_size": 512, "moe_intermediate_size": 256, "tie_word_embeddings": True}
    )
    model.set_dtype(mx.bfloat16)
    groups = {"affine": 64, "mxfp4": 32, "nvfp4": 16}
    nn.quantize(model, groups[mode], 4, mode=mode, class_predicate=_is_quantized)
    mx.eval(model.parameters())
    return model, config


def prepared(model):
    """Arrange a model as when it is loaded."""
    tensors = dict(tree_flatten(model.parameters()))
    arrange_in_panels(model, tensors, KERNELS)
    blocks = native_products.with_blocks(model)
    stored = native_products.as_stored(model)
    for name, array in tensors.items():
        if name in blocks:
            tensors[name] = KERNELS.interleave(array)
        elif name not in stored and mx.issubdtype(array.dtype, mx.floating):
            tensors[name] = array.astype(mx.float32)
    model.load_weights(list(tensors.items()), strict=True)


@pytest.mark.parametrize("mode", ["affine", "mxfp4", "nvfp4"])
@pytest.mark.parametrize("name", ["exaone4", "granitemoe", "olmoe", "qwen3_5_text"])
def test_models_give_the_same_results(name, mode):
    native.install()
    plain, _ = wide(name, mode)
    arranged, _ = wide(name, mode)
    for model in (plain, arranged):
        for path, array in tree_flatten(model.parameters()):
            if not path.endswith((".scales", ".biases")) and array.dtype == mx.bfloat16:
                model.load_weights([(path, array.astype(mx.float32))], strict=False)
    prepared(arranged)
    modes = {layer.mode for layer in arranged.modules() if hasattr(layer, "mode")}
    assert ("affine4_panels64" if mode == "affine" else FLOAT_PANELS[mode]) in modes
    for ids in ([[3, 9, 11, 4, 4, 60, 2]], [[5]], [[1]]):
        found, wanted = (model(mx.array(ids), cache=make_caches(model)) for model in (arranged, plain))
        if mode != "nvfp4" and computed_alike(len(ids[0]), 64):
            assert bits(found) == bits(wanted)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())


def test_layers_that_do_not_fit_stay_as_they_are():
    for columns, group, width, dtype in (
        (96, 32, 4, mx.bfloat16),
        (512, 128, 4, mx.bfloat16),
        (512, 64, 2, mx.bfloat16),
        (512, 64, 4, mx.float32),
    ):
        layer = nn.Linear(columns, 32, bias=False)
        layer.set_dtype(dtype)
        model = nn.Sequential(nn.QuantizedLinear.from_linear(layer, group, width))
        tensors = dict(tree_flatten(model.parameters()))
        before = dict(tensors)
        arrange_in_panels(model, tensors, KERNELS)
        assert tensors == before
        assert model.layers[0].mode == "affine"
    with at_level(LEVELS.index("portable")):
        layer = nn.Linear(512, 32, bias=False)
        layer.set_dtype(mx.bfloat16)
        model = nn.Sequential(nn.QuantizedLinear.from_linear(layer, 64, 4))
        arrange_in_panels(model, dict(tree_flatten(model.parameters())), KERNELS)
        assert not is_interleaved(model.layers[0].mode)
