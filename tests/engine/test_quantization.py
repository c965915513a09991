"""Quantized weights: what shapes and files say, and the layers of our own."""

from pathlib import Path

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx import nn

from checkpoints import QWEN3_MOE, TYPES
from sotto.engine import zoo
from sotto.engine.quantization import (
    GLOBAL_SCALE_UNIT,
    ByteScaledEmbedding,
    Declaration,
    Declarations,
    ScaledLinear,
    ScaledSwitchLinear,
    Scheme,
    declaration,
    infer,
    quantize_layers,
)
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.records import TensorFile


def file_with(metadata):
    return TensorFile(Path("blob"), "", {}, metadata)


class Model(nn.Module):
    """One layer to be quantized."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer


def quantized(shape, mode="nvfp4", bits=4, group_size=16):
    packed, scales, *biases = mx.quantize(mx.random.normal(shape), mode=mode, bits=bits, group_size=group_size)
    names = ("layer.weight", "layer.scales", "layer.biases")
    return dict(zip(names, (packed, scales, *biases), strict=False))


class TestDeclaration:
    def test_a_tensors_own_entry_comes_before_that_of_the_file(self):
        file = file_with({"quant_type": "int4", "group_size": "64", "b.quant_type": "int8", "b.group_size": "32"})
        assert declaration(file, "a") == Declaration("a", "int4", 64)
        assert declaration(file, "b") == Declaration("b", "int8", 32)

    def test_each_of_the_two_is_looked_up_on_its_own(self):
        file = file_with({"quant_type": "int4", "b.group_size": "32"})
        assert declaration(file, "a") == Declaration("a", "int4", None)
        assert declaration(file, "b") == Declaration("b", "int4", 32)

    def test_no_metadata_says_nothing(self):
        assert declaration(file_with({"format": "mlx"}), "a") is None

    def test_an_unknown_type_is_refused(self):
        with pytest.raises(UnsupportedModelError, match="a is quantized as 'int7'"):
            declaration(file_with({"quant_type": "int7"}), "a")

    @pytest.mark.parametrize("text", ["many", "-64", "6.4"])
    def test_a_group_size_that_is_no_number_is_an_error(self, text):
        with pytest.raises(BrokenModelError, match=f"group size of a is '{text}'"):
            declaration(file_with({"group_size": text}), "a")

    @pytest.mark.parametrize(("name", "bits"), [("Q4", 4), ("fp4", 4), ("INT4", 4), ("q8", 8), ("FP8", 8)])
    def test_old_names_of_affine_types_agree(self, name, bits):
        Declaration("a", name, None).check(Scheme("affine", bits, 64))
        with pytest.raises(BrokenModelError, match=name):
            Declaration("a", name, None).check(Scheme("affine", 12 - bits, 64))

    @pytest.mark.parametrize("declared", [Declaration("a", "int8", 32), Declaration("a", None, 32)])
    def test_a_contradiction_names_both(self, declared):
        with pytest.raises(BrokenModelError, match=r"32, but its shape can only be int4 in groups of 64"):
            declared.check(Scheme("affine", 4, 64))


class TestInfer:
    @given(
        bits=st.sampled_from([2, 3, 4, 5, 6, 8]),
        group_size=st.sampled_from([32, 64, 128]),
        groups=st.integers(1, 5),
        experts=st.sampled_from([(), (3,)]),
    )
    def test_every_affine_type_is_told_from_its_shapes(self, bits, group_size, groups, experts):
        width = group_size * groups
        packed, scales, _ = mx.quantize(mx.zeros((*experts, 4, width)), bits=bits, group_size=group_size)
        assert infer("a", width, packed, scales) == Scheme("affine", bits, group_size)

    @pytest.mark.parametrize("mode", ["mxfp4", "mxfp8", "nvfp4"])
    def test_byte_scaled_types(self, mode):
        packed, scales = mx.quantize(mx.zeros((4, 96)), mode=mode)
        _, bits, group_size = TYPES[mode]
        assert infer("a", 96, packed, scales) == Scheme(mode, bits, group_size)

    @pytest.mark.parametrize(
        ("weight", "scales", "error", "text"),
        [
            (mx.zeros((4, 16)), mx.zeros((4, 2)), BrokenModelError, "weight is float32"),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((5, 2)), BrokenModelError, "4 x 16 and its scales are 5 x 2"),
            (mx.zeros((4, 17), mx.uint32), mx.zeros((4, 2)), BrokenModelError, "cannot hold 128 columns"),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((4, 3)), BrokenModelError, "cannot hold 128 columns"),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((4, 8)), UnsupportedModelError, "groups of 16 with float32"),
            (
                mx.zeros((4, 32), mx.uint32),
                mx.zeros((4, 8), mx.uint8),
                UnsupportedModelError,
                "groups of 16 with uint8",
            ),
            (mx.zeros((4, 16), mx.uint32), mx.zeros((4, 2), mx.int32), UnsupportedModelError, "int32 scales"),
        ],
    )
    def test_what_cannot_be_is_refused(self, weight, scales, error, text):
        with pytest.raises(error, match=text):
            infer("a", 128, weight, scales)


class TestLayers:
    def test_a_linear_layer_with_a_global_scale(self):
        mx.random.seed(0)
        model, weights = Model(nn.Linear(64, 32)), quantized((32, 64))
        weights |= {"layer.global_scale": mx.array([0.25 * GLOBAL_SCALE_UNIT]), "layer.bias": mx.random.normal((32,))}
        meant = mx.dequantize(weights["layer.weight"], weights["layer.scales"], mode="nvfp4").astype(mx.float32) * 0.25
        quantize_layers(model, weights, Declarations(()), mx.float32)
        model.load_weights(list(weights.items()), strict=True)
        assert isinstance(model.layer, ScaledLinear)
        x = mx.random.normal((3, 64))
        assert mx.allclose(model.layer(x), x @ meant.T + weights["layer.bias"], atol=1e-4)
        assert model.layer(x.astype(mx.bfloat16)).dtype == mx.float32  # the bias decides, as in a plain layer

    @pytest.mark.parametrize("scale", [mx.array(0.5), mx.array([0.5, 1.0, 2.0, 4.0])])
    def test_experts_with_global_scales(self, scale):
        mx.random.seed(0)
        definition, _ = zoo.build(QWEN3_MOE)
        model, weights = Model(definition.layers[0].mlp.switch_mlp.up_proj), quantized((4, 64, 64))
        weights["layer.global_scale"] = scale * GLOBAL_SCALE_UNIT
        meant = mx.dequantize(weights["layer.weight"], weights["layer.scales"], mode="nvfp4").astype(mx.float32)
        meant = meant * mx.broadcast_to(scale, (4,))[:, None, None]
        quantize_layers(model, weights, Declarations(()), mx.float32)
        model.load_weights(list(weights.items()), strict=True)
        assert isinstance(model.layer, ScaledSwitchLinear)
        x, chosen = mx.random.normal((2, 1, 1, 64)), mx.array([[3, 0], [1, 2]])
        expected = mx.stack([mx.stack([x[i, 0] @ meant[int(chosen[i, j])].T for j in range(2)]) for i in range(2)])
        assert mx.allclose(model.layer(x, chosen), expected, atol=1e-4)

    @pytest.mark.parametrize("mode", ["mxfp4", "mxfp8", "nvfp4"])
    @pytest.mark.parametrize("factor", [None, 0.125])
    def test_an_embedding_looks_rows_up_in_the_type_of_the_model(self, mode, factor):
        mx.random.seed(0)
        model, weights = Model(nn.Embedding(10, 64)), quantized((10, 64), *TYPES[mode])
        meant = mx.dequantize(weights["layer.weight"], weights["layer.scales"], mode=mode).astype(mx.float32)
        if factor and mode == "nvfp4":
            weights["layer.global_scale"] = mx.array(factor * GLOBAL_SCALE_UNIT)
            meant = meant * factor
        quantize_layers(model, weights, Declarations(()), mx.float32)
        model.load_weights(list(weights.items()), strict=True)
        assert isinstance(model.layer, ByteScaledEmbedding)
        rows = model.layer(mx.array([[1, 7]]))
        assert rows.dtype == mx.float32
        assert mx.allclose(rows, meant[mx.array([[1, 7]])], atol=1e-6)
        x = mx.random.normal((2, 64))
        assert mx.allclose(model.layer.as_linear(x), x @ meant.T, atol=1e-4)

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"layer.biases": None}, BrokenModelError, "has no biases"),
            ({"layer.global_scale": mx.array(1.0)}, UnsupportedModelError, "global scale, which only nvfp4"),
        ],
    )
    def test_companions_that_do_not_belong_are_refused(self, change, error, text):
        model, weights = Model(nn.Linear(64, 32, bias=False)), quantized((32, 64), "affine", 4, 64)
        weights = {name: array for name, array in (weights | change).items() if array is not None}
        with pytest.raises(error, match=text):
            quantize_layers(model, weights, Declarations(()), mx.float32)

    def test_biases_beside_byte_scales_are_refused(self):
        weights = quantized((32, 64)) | {"layer.biases": mx.zeros((32, 4))}
        with pytest.raises(BrokenModelError, match="has biases, which make no sense"):
            quantize_layers(Model(nn.Linear(64, 32, bias=False)), weights, Declarations(()), mx.float32)

    def test_a_global_scale_of_another_size_is_refused(self):
        weights = quantized((32, 64)) | {"layer.global_scale": mx.ones((32,))}
        with pytest.raises(BrokenModelError, match="one number a matrix"):
            quantize_layers(Model(nn.Linear(64, 32, bias=False)), weights, Declarations(()), mx.float32)
