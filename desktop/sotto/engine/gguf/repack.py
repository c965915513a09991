"""From GGUF's blocks to MLX's quantized matrices: packed words, scales and biases of groups of 32.

Where each group has one scale the codes are taken over, and nothing is lost but what rounding a scale to 16 bits may.
The others are quantized anew to 8 bits: of 256 steps over the range of 32 elements, none is more than half a step off.
Q6_K, the finest of them, has 64 steps for 16 elements; so that is an eighth of a step of the coarser 16 at most, where
making it took half a step. As 16-bit numbers they would take twice the memory, and each token twice the time, to save
that; so it is not offered.
"""

from dataclasses import dataclass

import mlx.core as mx

from sotto.engine.gguf import blocks, tables
from sotto.engine.gguf.blocks import GROUP

_AFFINE = {**blocks.AFFINE, **tables.AFFINE}
_DEQUANTIZERS = {**blocks.DEQUANTIZERS, **tables.DEQUANTIZERS}
_REQUANTIZED = 8
# Products with other widths take a CPU twenty times as long.
_FAST_ON_CPU = (4, 8)
PLAIN = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a type is held.

    Attributes:
        bits: Bits of an element.
        mode: MLX's name of the kind: `affine`, or `mxfp4` with a scale of one byte and no bias.
        exact: Whether its elements stay what they were, to the rounding of a scale.
    """

    bits: int
    mode: str = "affine"
    exact: bool = True


def layout_of(kind: str, *, on_cpu: bool) -> Layout | None:
    """Return how a type is held, or None where its elements stay plain numbers.

    On a CPU codes may have more bits than they need, where products with them are fast.
    """
    if kind in PLAIN:
        return None
    if kind == "MXFP4":
        return Layout(4, "mxfp4")
    if kind not in _AFFINE:
        return Layout(_REQUANTIZED, exact=False)
    bits = _AFFINE[kind][0]
    return Layout(next(fast for fast in _FAST_ON_CPU if fast >= bits) if on_cpu else bits)


def repack(kind: str, raw: mx.array, layout: Layout, scales: mx.Dtype) -> tuple[mx.array, ...]:
    """Return blocks as MLX's packed words, scales and, but for `mxfp4`, biases; each with a row for each block.

    Args:
        kind: A type that is no plain one.
        raw: uint8 `[blocks, bytes of a block]`.
        layout: How it is held, as `layout_of` says.
        scales: Type of scales and biases.
    """
    if kind == "MXFP4":
        low = blocks.bits(raw[:, 1:17], 2, 4).swapaxes(1, 2).reshape(-1, GROUP)
        return pack_bits(low, 4), raw[:, :1]
    if kind in _AFFINE:
        found = _AFFINE[kind][1](raw)
        return pack_bits(found.codes, layout.bits), found.scales.astype(scales), found.biases.astype(scales)
    return _quantize_8bit(_DEQUANTIZERS[kind](raw), scales)


def dequantize(kind: str, raw: mx.array) -> mx.array:
    """Return the elements of blocks as float32 `[blocks, size]`, for types that no layout of MLX can hold."""
    if kind in PLAIN:
        return raw.view(PLAIN[kind]).astype(mx.float32)
    if kind == "MXFP4":
        words, scales = repack(kind, raw, Layout(4, "mxfp4"), mx.float32)
        return mx.dequantize(words, scales, group_size=GROUP, bits=4, mode="mxfp4").astype(mx.float32)
    return _AFFINE[kind][1](raw).dequantize() if kind in _AFFINE else _DEQUANTIZERS[kind](raw)


def pack_bits(codes: mx.array, bits: int) -> mx.array:
    """Return codes uint8 `[n, size]` as one stream of bits a row, uint32 `[n, size x bits / 32]`, lowest bits first."""
    if bits == 8:
        return mx.contiguous(codes).view(mx.uint32)
    # Eight codes in eight bytes become eight codes in `bits` bytes: pairs are joined, then pairs of these, and again.
    eights = mx.contiguous(codes).view(mx.uint64)
    width, held = 8, bits
    for _ in range(3):
        low, high = _mask(2 * width, 0, held), _mask(2 * width, held, 2 * held)
        eights = (eights & low) | ((eights >> mx.array(width - held, mx.uint64)) & high)
        width, held = 2 * width, 2 * held
    streams = eights.view(mx.uint8).reshape(len(codes), -1, 8)[..., :bits]
    return mx.contiguous(streams).reshape(len(codes), -1).view(mx.uint32)


def _mask(lane: int, start: int, end: int) -> mx.array:
    """Return 64 bits of which those from `start` to `end` of each lane are set."""
    one = (1 << end) - (1 << start)
    return mx.array(sum(one << place for place in range(0, 64, lane)), mx.uint64)


def _quantize_8bit(elements: mx.array, scales: mx.Dtype) -> tuple[mx.array, mx.array, mx.array]:
    """Return elements float32 `[n, size]` in 8 bits, by the scales and biases as they are after rounding."""
    groups = elements.reshape(len(elements), -1, GROUP)
    least, most = groups.min(axis=-1), groups.max(axis=-1)
    step = ((most - least) / 255).astype(scales)
    bias = least.astype(scales)
    wide = mx.maximum(step.astype(mx.float32), mx.finfo(mx.float32).smallest_normal)[..., None]
    codes = mx.round((groups - bias.astype(mx.float32)[..., None]) / wide)
    return pack_bits(mx.clip(codes, 0, 255).astype(mx.uint8).reshape(elements.shape), 8), step, bias
