"""Codes of 2, 3, 5 and 6 bits, which the kernels hold in 4 or 8: the values are those of MLX."""

import json
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from mlx import nn
from mlx.utils import tree_flatten

from families import FAMILIES
from loading import PLENTY, load
from native_kernels import KERNELS, bits, needs_kernels
from sotto.engine.architectures.zoo import build
from sotto.engine.footprint.model_needs import needs_of
from sotto.engine.kernels.widened_codes import describe_widening, growth_of
from sotto.engine.memory.memory_plan import Limits
from sotto.store.opening import open_model, record_of
from sotto.store.records import TensorFile, TensorInfo

pytestmark = needs_kernels

WIDE = {2: 4, 3: 4, 5: 8, 6: 8}
widths = pytest.mark.parametrize("width", WIDE)
TOKENS = mx.array([[3, 9, 11, 4, 4, 60, 2]])


@widths
@pytest.mark.parametrize("group", [32, 64, 128])
@pytest.mark.parametrize("shape", [(5, 256), (3, 40, 384), (1, 128)])
def test_values_stay_as_they_are(width, group, shape):
    mx.random.seed(width)
    codes, scales, biases = mx.quantize(mx.random.normal(shape), group, width)
    wanted = mx.dequantize(codes, scales, biases, group, width)
    found = mx.dequantize(KERNELS.widen(codes, width), scales, biases, group, WIDE[width])
    assert bits(found) == bits(wanted)


def test_large_matrices_are_widened_on_all_threads():
    codes = mx.array(np.random.default_rng(0).integers(0, 1 << 32, (700, 6 * 128), np.uint32))
    scales, biases = mx.ones((700, 64)), mx.zeros((700, 64))
    found = mx.dequantize(KERNELS.widen(codes, 6), scales, biases, 64, 8)
    assert bits(found) == bits(mx.dequantize(codes, scales, biases, 64, 6))


@pytest.mark.parametrize(
    ("codes", "width"), [(mx.zeros((2, 12), mx.uint32), 4), (mx.zeros((2, 7), mx.uint32), 6), (mx.zeros((2, 6)), 6)]
)
def test_other_codes_are_refused(codes, width):
    with pytest.raises(ValueError, match="should have 2, 3, 5 or 6 bits"):
        KERNELS.widen(codes, width)


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a model with matrices of so many bits, and returns it and its config."""

    def write(name, width, group=64):
        mx.random.seed(3)
        sizes = {"hidden_size": 192, "intermediate_size": 256, "moe_intermediate_size": 128}
        model, _ = build(config := FAMILIES[name] | sizes | {"tie_word_embeddings": True})
        model.set_dtype(mx.bfloat16)
        nn.quantize(
            model,
            group,
            width,
            class_predicate=lambda _, layer: hasattr(layer, "to_quantized") and layer.weight.shape[-1] % group == 0,
        )
        quantization = {"group_size": group, "bits": width}
        config = config | {"quantization": quantization, "quantization_config": quantization}
        mx.save_safetensors(str(tmp_path / "model.safetensors"), dict(tree_flatten(model.parameters())))
        (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
        return open_model(record_of(tmp_path)), model

    return write


@widths
@pytest.mark.parametrize("name", ["exaone4", "olmoe"])
def test_a_model_has_the_logits_of_its_values_and_the_planned_bytes(written, name, width):
    source, model = written(name, width)
    needs, loaded = needs_of(source, PLENTY, KERNELS), load(source)
    assert needs.unknown == ""
    assert needs.weight_bytes == loaded.weight_bytes
    widths = {layer.bits for layer in loaded.model.modules() if hasattr(layer, "bits")}
    assert widths == {WIDE[width]}
    model.set_dtype(mx.float32)
    wanted = model(TOKENS)
    assert mx.abs(loaded.model(TOKENS) - wanted).max().item() < 2e-3 * mx.abs(wanted).max().item()


@pytest.mark.parametrize(("width", "group"), [(2, 64), (3, 64), (5, 32), (6, 64)])
def test_a_model_stays_as_it_is_stored_where_wider_codes_have_no_room(written, width, group):
    source, _ = written("exaone4", width, group)
    files = source.tensor_files
    growth = growth_of(files, source.config)
    matrices = sum(layer.nbytes for name, layer in mx.load(str(files[0].path)).items() if layer.dtype == mx.uint32)
    assert growth == pytest.approx(matrices * (WIDE[width] / width - 1), abs=1)
    assert describe_widening(files, source.config).startswith(f"int{width} in {WIDE[width]} bits (")
    tight = int(1.15 * source.weight_bytes) + growth // 2
    limits = Limits(tight, 1 << 40, "a test")
    needs, loaded = needs_of(source, limits, KERNELS), load(source, limits=limits)
    assert {layer.bits for layer in loaded.model.modules() if hasattr(layer, "bits")} == {width}
    assert needs.repacked == ""
    wide = needs_of(source, PLENTY, KERNELS)
    assert wide.repacked == describe_widening(files, source.config)
    assert wide.weight_bytes - growth == pytest.approx(needs.weight_bytes, rel=0.15)


@pytest.mark.parametrize("group", [32, 64])
def test_other_models_do_not_grow(written, group):
    source, _ = written("exaone4", 4, group)
    assert growth_of(source.tensor_files, source.config) == 0
    assert describe_widening(source.tensor_files, source.config) == ""


def test_a_matrix_may_have_bits_of_its_own():
    tensors = {
        # As many words for a scale: 2 bits in groups of 64, and 4 bits in groups of 32.
        "a.weight": TensorInfo("U32", (2, 16), 0, 128),
        "a.scales": TensorInfo("BF16", (2, 4), 128, 144),
        "b.weight": TensorInfo("U32", (2, 16), 144, 272),
        "b.scales": TensorInfo("BF16", (2, 4), 272, 288),
    }
    file = TensorFile(Path("model.safetensors"), "", tensors, {})
    few, usual = {"bits": 2, "group_size": 64}, {"bits": 4, "group_size": 32}
    assert growth_of([file], {"quantization": few | {"b": usual}}) == 128
    assert growth_of([file], {"quantization": usual | {"b": few}}) == 128
    assert growth_of([file], {"quantization": few}) == 256
    assert growth_of([file], {"quantization": usual}) == growth_of([file], {}) == 0


def test_what_a_file_says_may_be_anything():
    tensors = {
        "a.weight": TensorInfo("U32", (), 0, 4),
        "a.scales": TensorInfo("F16", (), 4, 6),
        "b.weight": TensorInfo("U32", (2, 6), 6, 54),
        "b.scales": TensorInfo("F16", (2, 0), 54, 54),
        # Blocks of Q6_K with their own scales.
        "c.weight": TensorInfo("U32", (2, 48), 54, 438),
        "c.scales": TensorInfo("U16", (2, 9), 438, 474),
        "d.weight": TensorInfo("U32", (2, 12), 474, 570),
        "d.scales": TensorInfo("BF16", (2, 2), 570, 578),
    }
    file = TensorFile(Path("model.safetensors"), "", tensors, {})
    strange = {"bits": "2", "group_size": None, "a": [], "d": {"bits": "2"}}
    for config in ({}, {"quantization": []}, {"quantization": {"bits": [6]}}, {"quantization": strange}):
        assert describe_widening([file], config) == "4 or 8 bits (128 B)"
