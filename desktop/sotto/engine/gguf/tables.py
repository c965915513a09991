"""Decoding of the IQ types whose elements are looked up in a table, eight or four at a time, with separate signs."""

from collections.abc import Callable, Mapping

import mlx.core as mx

from sotto.engine.gguf.blocks import GROUP_SIZE, Codes, bits, half, words
from sotto.engine.gguf.codebooks import entries

_SUPERBLOCK = 256
# Added to signed elements of at most 62 so that they become unsigned 8-bit codes.
_OFFSET = 128
_DELTA = 0.125


def _signs_of_bytes(raw: mx.array, start: int) -> mx.array:
    """Return the signs, int8 `[blocks, 256]`, from one bit per element in the 32 bytes at `start`."""
    return 1 - 2 * bits(raw[:, start : start + 32], 8, 1).reshape(-1, _SUPERBLOCK).astype(mx.int8)


def _signs_of_sevens(sevens: mx.array) -> mx.array:
    """Return the signs `[blocks, 256]` from 7 bits `[blocks, 32]` for each 8 elements.

    The eighth sign follows, because an even number of the eight elements is negative.
    """
    seven = bits(sevens, 7, 1).astype(mx.int8)
    eighth = seven.sum(axis=-1, keepdims=True).astype(mx.int8) & 1
    return 1 - 2 * mx.concatenate([seven, eighth], axis=-1).reshape(-1, _SUPERBLOCK)


def _elements(name: str, index: mx.array, signs: mx.array) -> mx.array:
    """Return the elements before scaling, int8 `[blocks, 256]`."""
    return entries(name)[index].reshape(-1, _SUPERBLOCK) * signs


def _codes(elements: mx.array, scales: mx.array) -> Codes:
    return Codes((elements.astype(mx.int16) + _OFFSET).astype(mx.uint8), scales, -_OFFSET * scales)


def _iq2_xxs(raw: mx.array) -> Codes:
    packed = words(raw, 2, 66, mx.uint32).reshape(-1, 8, 2)
    index = bits(packed[..., 0], 4, 8).reshape(-1, GROUP_SIZE)
    signs = _signs_of_sevens(bits(packed[..., 1], 4, 7).reshape(-1, GROUP_SIZE))
    scales = half(raw, 0) * ((packed[..., 1] >> 28).astype(mx.float32) + 0.5) * 0.25
    return _codes(_elements("IQ2_XXS", index, signs), scales)


def _iq3_xxs(raw: mx.array) -> Codes:
    packed = words(raw, 66, 98, mx.uint32)
    signs = _signs_of_sevens(bits(packed, 4, 7).reshape(-1, GROUP_SIZE))
    scales = half(raw, 0) * ((packed >> 28).astype(mx.float32) + 0.5) * 0.5
    return _codes(_elements("IQ3_XXS", raw[:, 2:66], signs), scales)


def _iq3_s(raw: mx.array) -> Codes:
    """Decode IQ3_S, whose elements, the odd numbers from -15 to 15, are 16 equal steps."""
    ninth = bits(raw[:, 66:74], 8, 1).reshape(-1, 64).astype(mx.uint16)
    elements = _elements("IQ3_S", raw[:, 2:66] | (ninth << 8), _signs_of_bytes(raw, 74))
    scales = half(raw, 0) * (2 * bits(raw[:, 106:110], 2, 4).reshape(-1, 8) + 1)
    return Codes(((elements + 15) >> 1).astype(mx.uint8), 2 * scales, -15 * scales)


def _iq1_s(raw: mx.array) -> Codes:
    high = words(raw, 34, 50, mx.uint16)
    index = raw[:, 2:34] | (bits(high, 4, 3).reshape(-1, GROUP_SIZE) << 8)
    scales = half(raw, 0) * (2 * ((high >> 12) & 7) + 1)
    delta = mx.where(high & 0x8000, -_DELTA, _DELTA)
    elements = entries("IQ1_S")[index].reshape(-1, _SUPERBLOCK)
    return Codes((elements + 1).astype(mx.uint8), scales, scales * (delta - 1))


def _scale_groups(elements: mx.array, scales: mx.array) -> mx.array:
    """Multiply the elements of each block by scales, `[blocks, groups]`."""
    return (elements.reshape(*scales.shape, -1) * scales[..., None]).reshape(-1, _SUPERBLOCK)


def _half_scales(raw: mx.array, start: int) -> mx.array:
    """Return a scale for each 16 elements, `[blocks, 16]`, from 4 bits each in the 8 bytes at `start`."""
    return half(raw, 0) * (bits(raw[:, start : start + 8], 2, 4).reshape(-1, 16).astype(mx.float32) + 0.5) * 0.25


def _iq2_xs(raw: mx.array) -> mx.array:
    packed = words(raw, 2, 66, mx.uint16)
    elements = _elements("IQ2_XS", packed & 511, _signs_of_sevens(packed >> 9))
    return _scale_groups(elements, _half_scales(raw, 66))


def _iq2_s(raw: mx.array) -> mx.array:
    high = bits(raw[:, 66:74], 4, 2).reshape(-1, GROUP_SIZE).astype(mx.uint16)
    elements = _elements("IQ2_S", raw[:, 2:34] | (high << 8), _signs_of_bytes(raw, 34))
    return _scale_groups(elements, _half_scales(raw, 74))


def _iq1_m(raw: mx.array) -> mx.array:
    packed = words(raw, 48, 56, mx.uint16)
    # The float16 scale of the block is spread over the upper 4 bits of the four words, lowest bits first.
    upper = ((packed >> 12) << (4 * mx.arange(4, dtype=mx.uint16))).sum(axis=-1, keepdims=True).astype(mx.uint16)
    scales = upper.view(mx.float16).astype(mx.float32) * (2 * bits(packed, 4, 3).reshape(-1, 16) + 1)
    high = bits(raw[:, 32:48], 2, 4).reshape(-1, GROUP_SIZE).astype(mx.uint16)
    index = raw[:, :32] | ((high & 7) << 8)
    delta = mx.where(high & 8, -_DELTA, _DELTA)
    return _scale_groups((entries("IQ1_S")[index] + delta[..., None]).reshape(-1, _SUPERBLOCK), scales)


AFFINE: Mapping[str, tuple[int, Callable[[mx.array], Codes]]] = {
    "IQ1_S": (2, _iq1_s),
    "IQ2_XXS": (8, _iq2_xxs),
    "IQ3_S": (4, _iq3_s),
    "IQ3_XXS": (8, _iq3_xxs),
}
DEQUANTIZERS: Mapping[str, Callable[[mx.array], mx.array]] = {"IQ1_M": _iq1_m, "IQ2_S": _iq2_s, "IQ2_XS": _iq2_xs}
