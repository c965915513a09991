"""Tensors computed slice by slice, compared with the same computed at once and with other implementations."""

import math

import gguf
import mlx.core as mx
import numpy as np
import pytest

from checkpoints import write_tensors
from sotto.engine.gguf.gguf_names import Order, Place
from sotto.engine.quantizing import computing
from sotto.store.importing.import_plan import Computed, Making, Part
from sotto.store.importing.quant_types import QUANT_TYPES
from sotto.store.safetensors_header import read_header

DTYPES = {"U32": mx.uint32, "U8": mx.uint8, "BF16": mx.bfloat16, "F16": mx.float16, "F32": mx.float32}


@pytest.fixture(autouse=True)
def small_slices(monkeypatch):
    """Have even small tensors consist of several slices."""
    monkeypatch.setattr(computing, "_SLICE_ELEMENTS", 1 << 13)


def written(path, **arrays):
    """Write arrays, and return them as parts of a source."""
    write_tensors(path, arrays)
    tensors = read_header(path).tensors
    return {name: Part(path, info.dtype, info.shape, info.start, info.end) for name, info in tensors.items()}


def computed(tensor):
    """Return the outputs of a tensor, and the number of bytes that were read."""
    contents = [b"" for _ in tensor.outputs()]
    read = slices = 0
    for pieces, count in computing.compute(tensor):
        contents = [content + bytes(piece) for content, piece in zip(contents, pieces, strict=True)]
        read += count
        slices += 1
    assert sum(map(len, contents)) == tensor.nbytes
    arrays = []
    for content, (_, dtype, shape) in zip(contents, tensor.outputs(), strict=True):
        arrays.append(mx.array(memoryview(content)).view(DTYPES[dtype]).reshape(shape))
    return arrays, read, slices


def assert_equal(found, expected):
    assert len(found) == len(expected)
    for array, wanted in zip(found, expected, strict=True):
        assert array.dtype == wanted.dtype
        assert mx.array_equal(array, wanted).item()


@pytest.mark.parametrize("dtype", ["BF16", "F16", "F32"])
@pytest.mark.parametrize("kind", QUANT_TYPES)
def test_slices_have_the_bits_of_the_whole(tmp_path, kind, dtype):
    mx.random.seed(3)
    weight = (0.02 * mx.random.normal((300, 192))).astype(DTYPES[dtype])
    (part,) = written(tmp_path / "w", weight=weight).values()
    arrays, read, slices = computed(Computed((part,), weight.shape, dtype, kind))
    found = QUANT_TYPES[kind]
    assert_equal(arrays, mx.quantize(weight, group_size=found.group, bits=found.bits, mode=found.mode))
    assert (read, slices > 5) == (weight.nbytes, True)


def test_experts_are_stacked_in_order(tmp_path):
    mx.random.seed(4)
    experts = [mx.random.normal((40, 128)).astype(mx.bfloat16) for _ in range(5)]
    parts = tuple(written(tmp_path / "w", **{str(number): array for number, array in enumerate(experts)}).values())
    assert_equal(computed(Computed(parts, (5, 40, 128), "BF16"))[0], [mx.stack(experts)])
    arrays = computed(Computed(parts, (5, 40, 128), "BF16", "int4"))[0]
    assert_equal(arrays, mx.quantize(mx.stack(experts), group_size=64, bits=4))


@pytest.mark.parametrize("shape", [(300, 200), (2, 300, 200), (128, 128)])
def test_fp8_is_multiplied_by_the_scales_of_its_blocks(tmp_path, shape):
    mx.random.seed(5)
    codes = mx.to_fp8(mx.random.normal(shape))
    *outer, rows, columns = shape
    scales = mx.random.uniform(0.5, 2, (*outer, math.ceil(rows / 128), math.ceil(columns / 128)))
    parts = written(tmp_path / "w", weight=codes, scale=scales)
    weight = Part(tmp_path / "w", "F8_E4M3", shape, parts["weight"].start, parts["weight"].end)
    tensor = Computed((weight,), shape, "BF16", "", Making.BLOCK_FP8, (parts["scale"],))
    (found,), read, _ = computed(tensor)
    spread = np.repeat(np.repeat(np.array(scales), 128, -2), 128, -1)[..., :rows, :columns]
    expected = np.array(mx.from_fp8(codes, dtype=mx.float32)) * spread
    assert mx.array_equal(found, mx.array(expected).astype(mx.bfloat16)).item()
    assert read == codes.nbytes + scales.nbytes


def test_scales_of_other_types_are_read_as_such(tmp_path):
    codes = mx.to_fp8(mx.ones((128, 128)))
    scales = mx.full((1, 1), 1.5, mx.bfloat16)
    parts = written(tmp_path / "w", weight=codes, scale=scales)
    weight = Part(tmp_path / "w", "F8_E4M3", (128, 128), parts["weight"].start, parts["weight"].end)
    ((found,), _, _) = computed(Computed((weight,), (128, 128), "BF16", "", Making.BLOCK_FP8, (parts["scale"],)))
    assert mx.all(found == 1.5).item()


@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0", "F16", "BF16", "F32"])
@pytest.mark.parametrize("heads", [0, 4])
def test_rows_of_gguf_files_are_decoded_and_put_in_order(tmp_path, kind, heads):
    weight = np.random.default_rng(6).standard_normal((256, 128), np.float32)
    blocks = gguf.quants.quantize(weight, gguf.GGMLQuantizationType[kind])
    path = tmp_path / "w"
    path.write_bytes(blocks.tobytes())
    part = Part(path, kind, weight.shape, 0, blocks.nbytes)
    expected = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[kind]).reshape(weight.shape)
    if heads:
        # As llama.cpp's converter does, but backwards.
        expected = expected.reshape(heads, -1, 2, 128).swapaxes(1, 2).reshape(weight.shape)
    place = Place("w", Order(heads, 2) if heads else None, -1)
    made = Computed((part,), weight.shape, "F32", "", Making.GGUF, place=place)
    ((found,), read, slices) = computed(made)
    assert np.array_equal(np.array(found), expected - 1)
    assert (read, slices > 1) == (blocks.nbytes, True)
    quantized = computed(Computed((part,), weight.shape, "F32", "int8", Making.GGUF, place=place))[0]
    assert_equal(quantized, mx.quantize(mx.array(expected - 1), group_size=64, bits=8))


def test_latent_projections_are_joined_by_heads(tmp_path):
    mx.random.seed(7)
    keys, values = mx.random.normal((4, 64, 8)), mx.random.normal((4, 16, 64))
    parts = tuple(written(tmp_path / "w", keys=keys, values=values).values())
    ((found,), _, _) = computed(Computed(parts, (4 * 24, 64), "F32", "", Making.LATENT))
    for head in range(4):
        assert mx.array_equal(found[24 * head : 24 * head + 8], keys[head].T).item()
        assert mx.array_equal(found[24 * head + 8 : 24 * head + 24], values[head]).item()
