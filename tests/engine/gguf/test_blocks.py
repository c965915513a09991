"""GGUF's blocks, decoded and repacked for MLX, have the values that the gguf package gives them."""

import gguf
import mlx.core as mx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gguf_writing import HALVES, random_blocks
from sotto.engine.gguf import repack
from sotto.engine.gguf.blocks import GROUP_SIZE
from sotto.store.gguf.block_types import BLOCK_TYPES
from thoroughness import examples

ROUNDED = {"Q2_K", "Q3_K", "Q6_K", "IQ1_M", "IQ2_S", "IQ2_XS"}
COUNT = 200
# Half of the smallest step between two scales in float16.
SMALLEST = 2**-25
kinds = pytest.mark.parametrize("kind", HALVES)


def through_mlx(kind, raw, dtype, *, on_cpu=False):
    """Repack blocks and return their elements as MLX dequantizes them."""
    layout = repack.layout_of(kind, on_cpu=on_cpu)
    words, scales, *biases = repack.repack(kind, mx.array(raw), layout, dtype)
    if scales.dtype != mx.uint8:
        scales, biases = scales.astype(mx.float32), [bias.astype(mx.float32) for bias in biases]
    found = mx.dequantize(words, scales, *biases, group_size=GROUP_SIZE, bits=layout.bits, mode=layout.mode)
    return np.array(found.astype(mx.float32))


def test_every_type_is_supported_and_has_the_right_size():
    assert {kind.name for kind in BLOCK_TYPES.values()} == set(HALVES) | set(repack.PLAIN_DTYPES)
    for number, kind in BLOCK_TYPES.items():
        quantization = gguf.GGMLQuantizationType(number)
        assert (kind.name, gguf.GGML_QUANT_SIZES[quantization]) == (quantization.name, (kind.size, kind.nbytes))


@kinds
def test_blocks_are_dequantized_as_by_the_gguf_package(kind):
    raw, wanted = random_blocks(kind, COUNT)
    assert np.array_equal(np.array(repack.dequantize(kind, mx.array(raw))), wanted)


@kinds
@pytest.mark.parametrize("on_cpu", [True, False])
def test_repacked_blocks_are_exact_or_at_most_half_a_step_of_8_bits_off(kind, on_cpu):
    raw, wanted = random_blocks(kind, COUNT)
    found = through_mlx(kind, raw, mx.float32, on_cpu=on_cpu)
    assert repack.layout_of(kind, on_cpu=on_cpu).exact is (kind not in ROUNDED)
    if kind not in ROUNDED:
        # Only the float32 rounding of a product of two scaled numbers remains.
        assert np.allclose(found, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())
        return
    groups = wanted.reshape(-1, GROUP_SIZE)
    half_steps = np.ptp(groups, axis=1) / 255 / 2
    off = np.abs(found - wanted).reshape(-1, GROUP_SIZE).max(axis=1)
    assert (off <= half_steps * 1.001 + 1e-12).all()


@kinds
@pytest.mark.parametrize(("scales", "rounding"), [(mx.float16, 2**-11), (mx.bfloat16, 2**-8)])
def test_only_the_rounding_of_16_bit_scales_changes_the_values(kind, scales, rounding):
    raw, wanted = random_blocks(kind, COUNT)
    found = through_mlx(kind, raw, scales)
    groups = wanted.reshape(-1, GROUP_SIZE)
    # The rounding of a scale and a bias, over up to 256 steps, and for requantized types half a step more.
    allowed = 3 * rounding * np.abs(groups).max(axis=1) + (np.ptp(groups, axis=1) / 510 * 1.5 if kind in ROUNDED else 0)
    assert (np.abs(found - wanted).reshape(-1, GROUP_SIZE).max(axis=1) <= allowed + SMALLEST * 256).all()


def eight_bits(wanted, dtype):
    """Return numbers after MLX's own quantization to 8 bits with scales of this type."""
    words, *others = mx.quantize(mx.array(wanted).astype(dtype), group_size=GROUP_SIZE, bits=8)
    return np.array(mx.dequantize(words, *(part.astype(mx.float32) for part in others), group_size=GROUP_SIZE, bits=8))


@kinds
@pytest.mark.parametrize(("on_cpu", "dtype"), [(True, mx.float16), (False, mx.float16), (False, mx.bfloat16)])
def test_no_type_loses_more_than_8_bits_would(kind, on_cpu, dtype):
    """On a CPU, and on a GPU with activations of either type."""
    raw, wanted = random_blocks(kind, COUNT)
    lost = np.abs(through_mlx(kind, raw, dtype, on_cpu=on_cpu) - wanted).max()
    assert lost <= np.abs(eight_bits(wanted, dtype) - wanted).max()


@pytest.mark.parametrize(("kind", "bits", "on_cpu"), [("Q4_K", 4, 4), ("Q5_K", 5, 8), ("IQ1_S", 2, 4), ("Q8_0", 8, 8)])
def test_a_cpu_gets_the_bits_for_which_it_has_fast_kernels(kind, bits, on_cpu):
    assert (repack.layout_of(kind, on_cpu=False).bits, repack.layout_of(kind, on_cpu=True).bits) == (bits, on_cpu)


@given(st.sampled_from([2, 3, 4, 5, 6, 8]), st.integers(0, 2**32 - 1))
def test_mlx_unpacks_the_packed_codes(bits, seed):
    codes = np.random.default_rng(seed).integers(0, 1 << bits, (3, 64), dtype=np.uint8)
    words = repack.pack_bits(mx.array(codes), bits)
    scales, biases = mx.ones((3, 2)), mx.zeros((3, 2))
    assert np.array_equal(np.array(mx.dequantize(words, scales, biases, group_size=GROUP_SIZE, bits=bits)), codes)


@examples(50)
@given(arrays.arrays(np.float32, (2, 64), elements=st.floats(-60000, 60000, width=32)))
@example(np.full((2, 64), 3.44e-40, np.float32) * (np.arange(64) == 0))
def test_requantized_numbers_are_at_most_half_a_step_off(numbers):
    words, scales, biases = repack._quantize_8bit(mx.array(numbers), mx.float32)
    found = np.array(mx.dequantize(words, scales, biases, group_size=GROUP_SIZE, bits=8))
    groups = numbers.reshape(-1, GROUP_SIZE)
    step = np.ptp(groups, axis=1) / 255
    # Steps that are subnormal count as 0, far below what the scales of any type can express.
    allowed = step * 0.501 + np.abs(groups).max(axis=1) * 1e-6 + 256 * np.finfo(np.float32).smallest_normal
    assert (np.abs(found - numbers).reshape(-1, GROUP_SIZE).max(axis=1) <= allowed).all()
