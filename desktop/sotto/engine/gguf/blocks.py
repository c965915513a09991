"""Decoding of the blocks of GGUF's types into a code for each element, and a scale and a bias for each group of 32.

An element is `scale x code + bias`. Types that do not have this form, because 16 elements share a scale or 8 an offset,
are decoded to floats. All arrays have a row for each block. The layout of each type is that of
https://github.com/ggml-org/ggml (src/ggml-common.h, src/ggml-quants.c).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import mlx.core as mx

GROUP_SIZE = 32
_SUPERBLOCK = 256
# The 16 values of the IQ4 types.
_IQ4_VALUES = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


@dataclass(frozen=True, slots=True)
class Codes:
    """Decoded blocks in the form of MLX's affine types.

    Attributes:
        codes: uint8 `[blocks, size]`, each below 2 ** bits.
        scales: float32 `[blocks, size / 32]`.
        biases: float32 `[blocks, size / 32]`.
    """

    codes: mx.array
    scales: mx.array
    biases: mx.array

    def dequantize(self) -> mx.array:
        """Return the elements as float32 `[blocks, size]`."""
        groups = self.codes.reshape(len(self.codes), -1, GROUP_SIZE).astype(mx.float32)
        return (groups * self.scales[..., None] + self.biases[..., None]).reshape(self.codes.shape)


def half(raw: mx.array, start: int) -> mx.array:
    """Return the float16 at byte `start` of each block, as float32 `[blocks, 1]`."""
    return mx.contiguous(raw[:, start : start + 2]).view(mx.float16).astype(mx.float32)


def words(raw: mx.array, start: int, end: int, dtype: mx.Dtype) -> mx.array:
    """Return part of each block as integers.

    Args:
        raw: The blocks, uint8 `[blocks, bytes of a block]`.
        start: First byte.
        end: Byte after the last one.
        dtype: Type of the integers.
    """
    return mx.contiguous(raw[:, start:end]).view(dtype)


def bits(values: mx.array, count: int, width: int) -> mx.array:
    """Split each value, lowest bits first, into `count` numbers of `width` bits: `[..., n]` to `[..., n, count]`."""
    shifts = mx.arange(count, dtype=values.dtype) * width
    return (values[..., None] >> shifts) & ((1 << width) - 1)


def _nibbles(raw: mx.array, start: int) -> mx.array:
    """Return the 32 4-bit numbers in the 16 bytes at `start`: all low halves, then all high ones."""
    packed = raw[:, start : start + 16]
    return mx.concatenate([packed & 15, packed >> 4], axis=-1)


def _fifth_bits(raw: mx.array, start: int) -> mx.array:
    """Return the fifth bit of each of 32 elements, from the 4 bytes at `start`, as 0 or 16."""
    return (bits(words(raw, start, start + 4, mx.uint32), GROUP_SIZE, 1).reshape(-1, GROUP_SIZE) << 4).astype(mx.uint8)


def _q4_0(raw: mx.array) -> Codes:
    scale = half(raw, 0)
    return Codes(_nibbles(raw, 2), scale, -8 * scale)


def _q4_1(raw: mx.array) -> Codes:
    return Codes(_nibbles(raw, 4), half(raw, 0), half(raw, 2))


def _q5_0(raw: mx.array) -> Codes:
    scale = half(raw, 0)
    return Codes(_nibbles(raw, 6) | _fifth_bits(raw, 2), scale, -16 * scale)


def _q5_1(raw: mx.array) -> Codes:
    return Codes(_nibbles(raw, 8) | _fifth_bits(raw, 4), half(raw, 0), half(raw, 2))


def _q8_0(raw: mx.array) -> Codes:
    scale = half(raw, 0)
    return Codes(raw[:, 2:34] ^ 128, scale, -128 * scale)


def _k_scales(raw: mx.array) -> tuple[mx.array, mx.array]:
    """Return the scales and biases of the 8 groups of Q4_K and Q5_K.

    They have 6 bits each; the upper 2 bits of the last four are stored apart from the lower 4.
    """
    first, second, third = raw[:, 4:8], raw[:, 8:12], raw[:, 12:16]
    scales = mx.concatenate([first & 63, (third & 15) | ((first >> 6) << 4)], axis=-1)
    least = mx.concatenate([second & 63, (third >> 4) | ((second >> 6) << 4)], axis=-1)
    return half(raw, 0) * scales, -half(raw, 2) * least


def _k_nibbles(raw: mx.array, start: int) -> mx.array:
    """Return the 256 4-bit numbers in the 128 bytes at `start`: of each 32 bytes the low halves, then the high ones."""
    packed = raw[:, start : start + 128].reshape(-1, 4, 1, GROUP_SIZE)
    return mx.concatenate([packed & 15, packed >> 4], axis=2).reshape(-1, _SUPERBLOCK)


def _q4_k(raw: mx.array) -> Codes:
    return Codes(_k_nibbles(raw, 16), *_k_scales(raw))


def _q5_k(raw: mx.array) -> Codes:
    fifth = bits(raw[:, 16:48], 8, 1).swapaxes(1, 2).reshape(-1, _SUPERBLOCK)
    return Codes(_k_nibbles(raw, 48) | (fifth << 4), *_k_scales(raw))


def _scale_groups_of_16(codes: mx.array, scales: mx.array) -> mx.array:
    """Multiply codes by scales that belong to 16 elements each."""
    return (codes.reshape(len(codes), -1, 16).astype(mx.float32) * scales[..., None]).reshape(codes.shape)


def _two_bit_codes(raw: mx.array, start: int) -> mx.array:
    """Return the 256 2-bit numbers in the 64 bytes at `start`: of each 32 bytes the lowest bits, then the next."""
    return bits(raw[:, start : start + 64].reshape(-1, 2, GROUP_SIZE), 4, 2).swapaxes(2, 3).reshape(-1, _SUPERBLOCK)


def _q6_k(raw: mx.array) -> mx.array:
    low = raw[:, :128].reshape(-1, 2, 64)
    low = mx.concatenate([low & 15, low >> 4], axis=-1).reshape(-1, _SUPERBLOCK)
    codes = (low | (_two_bit_codes(raw, 128) << 4)).astype(mx.int8) - 32
    return _scale_groups_of_16(codes, half(raw, 208) * words(raw, 192, 208, mx.int8))


def _q3_k(raw: mx.array) -> mx.array:
    high = bits(raw[:, :32], 8, 1).swapaxes(1, 2).reshape(-1, _SUPERBLOCK)
    codes = (_two_bit_codes(raw, 32) | (high << 2)).astype(mx.int8) - 4
    low = mx.concatenate([raw[:, 96:104] & 15, raw[:, 96:104] >> 4], axis=-1)
    upper = bits(raw[:, 104:108], 4, 2).swapaxes(1, 2).reshape(-1, 16)
    scales = (low | (upper << 4)).astype(mx.int8) - 32
    return _scale_groups_of_16(codes, half(raw, 108) * scales)


def _q2_k(raw: mx.array) -> mx.array:
    scales, least = half(raw, 80) * (raw[:, :16] & 15), half(raw, 82) * (raw[:, :16] >> 4)
    return _scale_groups_of_16(_two_bit_codes(raw, 16), scales) - mx.repeat(least, 16, axis=-1)


def _iq4(codes: mx.array, scales: mx.array) -> Codes:
    values = mx.array([value + 128 for value in _IQ4_VALUES], dtype=mx.uint8)
    return Codes(values[codes], scales, -128 * scales)


def _iq4_nl(raw: mx.array) -> Codes:
    return _iq4(_nibbles(raw, 2), half(raw, 0))


def _iq4_xs(raw: mx.array) -> Codes:
    upper = bits(words(raw, 2, 4, mx.uint16), 8, 2).reshape(-1, 8).astype(mx.uint8)
    scales = (bits(raw[:, 4:8], 2, 4).reshape(-1, 8) | (upper << 4)).astype(mx.int8) - 32
    packed = raw[:, 8:136].reshape(-1, 8, 16)
    codes = mx.concatenate([packed & 15, packed >> 4], axis=-1).reshape(-1, _SUPERBLOCK)
    return _iq4(codes, half(raw, 0) * scales)


def _ternary(codes: mx.array, scale: mx.array) -> Codes:
    scales = mx.broadcast_to(scale, (len(codes), _SUPERBLOCK // GROUP_SIZE))
    return Codes(codes, scales, -scales)


def _tq1_0(raw: mx.array) -> Codes:
    """Decode TQ1_0, whose bytes are fractions of 256 with five ternary digits, the highest first."""
    powers = mx.array([1, 3, 9, 27, 81], dtype=mx.uint8)

    def digits(start: int, end: int, count: int) -> mx.array:
        shifted = raw[:, None, start:end] * powers[:count, None]  # The uint8 overflow drops the higher digits.
        return ((shifted.astype(mx.uint16) * 3) >> 8).astype(mx.uint8).reshape(len(raw), -1)

    codes = mx.concatenate([digits(0, 32, 5), digits(32, 48, 5), digits(48, 52, 4)], axis=-1)
    return _ternary(codes, half(raw, 52))


def _tq2_0(raw: mx.array) -> Codes:
    return _ternary(_two_bit_codes(raw, 0), half(raw, 64))


# The bits of each type's codes and the function that decodes its blocks. The IQ types with tables are in `tables`.
AFFINE: Mapping[str, tuple[int, Callable[[mx.array], Codes]]] = {
    "Q4_0": (4, _q4_0),
    "Q4_1": (4, _q4_1),
    "Q4_K": (4, _q4_k),
    "Q5_0": (5, _q5_0),
    "Q5_1": (5, _q5_1),
    "Q5_K": (5, _q5_k),
    "Q8_0": (8, _q8_0),
    "IQ4_NL": (8, _iq4_nl),
    "IQ4_XS": (8, _iq4_xs),
    "TQ1_0": (2, _tq1_0),
    "TQ2_0": (2, _tq2_0),
}
DEQUANTIZERS: Mapping[str, Callable[[mx.array], mx.array]] = {"Q6_K": _q6_k, "Q3_K": _q3_k, "Q2_K": _q2_k}
