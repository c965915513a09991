"""Custom layers for quantized weights, compared with products with the dequantized matrices."""

import mlx.core as mx
import pytest
from mlx import nn

from checkpoints import QWEN3_MOE, TYPES
from sotto.engine.architectures import zoo
from sotto.engine.config.quantization import Declarations
from sotto.engine.weights.quantized_layers import (
    GLOBAL_SCALE_UNIT,
    ByteScaledEmbedding,
    ScaledLinear,
    ScaledSwitchLinear,
    quantize_layers,
)
from sotto.errors import BrokenModelError, UnsupportedModelError


class Model(nn.Module):
    """A model with one layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer


def quantized(shape, mode="nvfp4", bits=4, group_size=16):
    packed, scales, *biases = mx.quantize(mx.random.normal(shape), mode=mode, bits=bits, group_size=group_size)
    names = ("layer.weight", "layer.scales", "layer.biases")
    return dict(zip(names, (packed, scales, *biases), strict=False))


def test_a_linear_layer_with_a_global_scale():
    mx.random.seed(0)
    model, weights = Model(nn.Linear(64, 32)), quantized((32, 64))
    weights |= {"layer.global_scale": mx.array([0.25 * GLOBAL_SCALE_UNIT]), "layer.bias": mx.random.normal((32,))}
    exact = mx.dequantize(weights["layer.weight"], weights["layer.scales"], mode="nvfp4").astype(mx.float32) * 0.25
    quantize_layers(model, weights, Declarations(()), mx.float32)
    model.load_weights(list(weights.items()), strict=True)
    assert isinstance(model.layer, ScaledLinear)
    x = mx.random.normal((3, 64))
    assert mx.allclose(model.layer(x), x @ exact.T + weights["layer.bias"], atol=1e-4)
    assert model.layer(x.astype(mx.bfloat16)).dtype == mx.float32  # the type of the bias decides, as in a plain layer


@pytest.mark.parametrize("scale", [mx.array(0.5), mx.array([0.5, 1.0, 2.0, 4.0])])
def test_experts_with_global_scales(scale):
    mx.random.seed(0)
    definition, _ = zoo.build(QWEN3_MOE)
    model, weights = Model(definition.layers[0].mlp.switch_mlp.up_proj), quantized((4, 64, 64))
    weights["layer.global_scale"] = scale * GLOBAL_SCALE_UNIT
    exact = mx.dequantize(weights["layer.weight"], weights["layer.scales"], mode="nvfp4").astype(mx.float32)
    exact = exact * mx.broadcast_to(scale, (4,))[:, None, None]
    quantize_layers(model, weights, Declarations(()), mx.float32)
    model.load_weights(list(weights.items()), strict=True)
    assert isinstance(model.layer, ScaledSwitchLinear)
    x, chosen = mx.random.normal((2, 1, 1, 64)), mx.array([[3, 0], [1, 2]])
    expected = mx.stack([mx.stack([x[i, 0] @ exact[int(chosen[i, j])].T for j in range(2)]) for i in range(2)])
    assert mx.allclose(model.layer(x, chosen), expected, atol=1e-4)


@pytest.mark.parametrize("mode", ["mxfp4", "mxfp8", "nvfp4"])
@pytest.mark.parametrize("factor", [None, 0.125])
def test_an_embedding_looks_rows_up_in_the_type_of_the_model(mode, factor):
    mx.random.seed(0)
    model, weights = Model(nn.Embedding(10, 64)), quantized((10, 64), *TYPES[mode])
    exact = mx.dequantize(weights["layer.weight"], weights["layer.scales"], mode=mode).astype(mx.float32)
    if factor and mode == "nvfp4":
        weights["layer.global_scale"] = mx.array(factor * GLOBAL_SCALE_UNIT)
        exact = exact * factor
    quantize_layers(model, weights, Declarations(()), mx.float32)
    model.load_weights(list(weights.items()), strict=True)
    assert isinstance(model.layer, ByteScaledEmbedding)
    rows = model.layer(mx.array([[1, 7]]))
    assert rows.dtype == mx.float32
    assert mx.allclose(rows, exact[mx.array([[1, 7]])], atol=1e-6)
    x = mx.random.normal((2, 64))
    assert mx.allclose(model.layer.as_linear(x), x @ exact.T, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"layer.biases": None}, BrokenModelError, "has no biases"),
        ({"layer.global_scale": mx.array(1.0)}, UnsupportedModelError, "global scale, which only nvfp4"),
    ],
)
def test_missing_or_unexpected_companions_are_refused(change, error, text):
    model, weights = Model(nn.Linear(64, 32, bias=False)), quantized((32, 64), "affine", 4, 64)
    weights = {name: array for name, array in (weights | change).items() if array is not None}
    with pytest.raises(error, match=text):
        quantize_layers(model, weights, Declarations(()), mx.float32)


def test_biases_beside_byte_scales_are_refused():
    weights = quantized((32, 64)) | {"layer.biases": mx.zeros((32, 4))}
    with pytest.raises(BrokenModelError, match="has biases, which it should not have"):
        quantize_layers(Model(nn.Linear(64, 32, bias=False)), weights, Declarations(()), mx.float32)


def test_a_global_scale_of_another_size_is_refused():
    weights = quantized((32, 64)) | {"layer.global_scale": mx.ones((32,))}
    with pytest.raises(BrokenModelError, match="one number for each matrix"):
        quantize_layers(Model(nn.Linear(64, 32, bias=False)), weights, Declarations(()), mx.float32)
