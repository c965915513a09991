"""Lookups in tables of every format, compared with those of MLX."""

import mlx.core as mx
import numpy as np
import pytest
from mlx import nn

from native_kernels import KERNELS, bits, needs_kernels
from sotto.engine.kernels import native

pytestmark = needs_kernels

IDS = [
    np.array([[3, 0, 69]]),
    np.array([5]),
    np.array(7),
    np.zeros((0, 2), dtype=int),
    np.arange(69, -1, -3).reshape(2, 12),
]
PACKED = [
    *[("affine", group, bits_of) for group in (32, 64, 128) for bits_of in (4, 8)],
    ("mxfp4", 32, 4),
    ("mxfp8", 32, 8),
    ("nvfp4", 16, 4),
]


def table(dtype=mx.float32):
    rng = np.random.default_rng(2)
    return mx.array(rng.standard_normal((70, 256)).astype(np.float32) * np.exp(rng.uniform(-9, 3, (70, 1)))).astype(
        dtype
    )


@pytest.mark.parametrize("kind", [mx.uint32, mx.int32])
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16, mx.float16])
def test_plain_tables(dtype, kind):
    whole = table(dtype)
    for weight in (whole, whole.T.T, mx.concatenate([whole, whole], axis=1)[:, :256]):
        for ids in IDS:
            found = KERNELS.embedding(mx.array(ids).astype(kind), weight, None, None, None, None, "")
            assert found.dtype == mx.float32
            assert bits(found) == bits(whole[mx.array(ids)].astype(mx.float32))


@pytest.mark.parametrize("scales_in", [mx.float32, mx.bfloat16, mx.float16])
@pytest.mark.parametrize(("mode", "group", "bits_of"), PACKED)
def test_packed_tables(mode, group, bits_of, scales_in):
    if mode != "affine" and scales_in != mx.float32:
        pytest.skip("its scales always have the same type")
    weight, *others = mx.quantize(table(), group_size=group, bits=bits_of, mode=mode)
    if mode == "affine":
        others = [part.astype(scales_in) for part in others]
    scales, biases = [*others, None][:2]
    wide = [
        None if part is None else part.astype(mx.float32) if mode == "affine" else part for part in (scales, biases)
    ]
    wanted = mx.dequantize(weight, *wide, group_size=group, bits=bits_of, mode=mode, dtype=mx.float32)
    for ids in IDS:
        found = KERNELS.embedding(mx.array(ids).astype(mx.uint32), weight, scales, biases, group, bits_of, mode)
        assert bits(found) == bits(wanted[mx.array(ids)])


def test_every_byte_of_the_floating_formats():
    for mode, group in (("mxfp8", 32), ("nvfp4", 16)):
        per_row = 4 if mode == "mxfp8" else 8
        words = mx.arange(256 * 32 // per_row, dtype=mx.uint32).reshape(-1, 32 // per_row) * 0x01030507
        for first in range(0, 255, 51):
            scales = (mx.arange(len(words) * 32 // group) % 100 + first % 27).astype(mx.uint8).reshape(len(words), -1)
            wanted = mx.dequantize(
                words, scales, None, group_size=group, bits=32 // per_row, mode=mode, dtype=mx.float32
            )
            found = KERNELS.embedding(
                mx.arange(len(words), dtype=mx.uint32), words, scales, None, group, 32 // per_row, mode
            )
            np.testing.assert_array_equal(np.array(found), np.array(wanted))


def test_unsupported_inputs_are_left_to_mlx():
    ids = mx.array([1])
    weight, scales, biases = mx.quantize(table(), group_size=64, bits=6)
    assert KERNELS.embedding(ids, weight, scales, biases, 64, 6, "affine") is None
    assert KERNELS.embedding(ids.astype(mx.int64), table(), None, None, None, None, "") is None
    assert KERNELS.embedding(ids, mx.zeros((4, 4), mx.int32), None, None, None, None, "") is None


def test_an_id_beyond_the_end_fails():
    with pytest.raises(RuntimeError, match="beyond the end"):
        mx.eval(KERNELS.embedding(mx.array([70]), table(), None, None, None, None, ""))


def test_embedding_layers_use_the_kernel():
    native.install()
    try:
        layer = nn.Embedding(70, 256)
        layer.weight = table(mx.bfloat16)
        assert bits(layer(mx.array([[4, 2]]))) == bits(table(mx.bfloat16)[mx.array([[4, 2]])].astype(mx.float32))
        packed = nn.QuantizedEmbedding.from_embedding(layer, 64, 4)
        found = packed(mx.array([[4, 2]]))
        assert found.dtype == mx.float32
        assert found.shape == (1, 2, 256)
    finally:
        native.uninstall()
