"""Conversion of GGUF's blocks to MLX's quantized matrices: packed words, scales and biases of groups of 32.

Where native kernels compute with a type as it is, nothing is converted, and its bits are kept (`kept`). Elsewhere types
with one scale for each group keep their codes, and lose at most what rounding a scale to 16 bits loses.

All others are quantized again to 8 bits: 256 steps over the range of 32 elements, with an error of at most half a step.
For Q6_K, the finest of them with 64 steps for 16 elements, that is at most an eighth of one of its own steps, compared
with the half step that it lost already. Keeping them as 16-bit floats would avoid this, but double both the memory and
the time for each token, so it is not offered.
"""

from collections.abc import Collection
from dataclasses import dataclass

import mlx.core as mx

from sotto.engine.gguf import blocks, tables
from sotto.engine.gguf.blocks import GROUP_SIZE
from sotto.engine.gguf.kept import KEPT, split

_AFFINE = {**blocks.AFFINE, **tables.AFFINE}
_DEQUANTIZERS = {**blocks.DEQUANTIZERS, **tables.DEQUANTIZERS}
_REQUANTIZED_BITS = 8
# Matrix products with other numbers of bits are twenty times as slow on a CPU.
_FAST_ON_CPU = (4, 8)
PLAIN_DTYPES = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a GGUF type is held in memory.

    Attributes:
        bits: Bits per element.
        mode: MLX's quantization mode: `affine`, or `mxfp4` with a scale of one byte and no bias; or that of a type
            which keeps its bits.
        exact: Whether the elements keep their values, apart from the rounding of scales.
    """

    bits: int
    mode: str = "affine"
    exact: bool = True

    @property
    def is_kept(self) -> bool:
        """Whether blocks keep their bits."""
        return self.mode in KEPT


def layout_of(kind: str, *, on_cpu: bool, kept: Collection[str] = ()) -> Layout | None:
    """Return how a GGUF type is held; None if it is not quantized.

    On a CPU, codes may get more bits than they need, because matrix products are then faster.

    Args:
        kind: The type.
        on_cpu: Whether the model is computed on a CPU.
        kept: The modes of `kept` that there are kernels for.
    """
    if kind in PLAIN_DTYPES:
        return None
    if kind.lower() in kept:
        return Layout(KEPT[kind.lower()].bits, kind.lower())
    if kind == "MXFP4":
        return Layout(4, "mxfp4")
    if kind not in _AFFINE:
        return Layout(_REQUANTIZED_BITS, exact=False)
    bits = _AFFINE[kind][0]
    return Layout(next(fast for fast in _FAST_ON_CPU if fast >= bits) if on_cpu else bits)


def repack(kind: str, raw: mx.array, layout: Layout, scales: mx.Dtype) -> tuple[mx.array, ...]:
    """Return packed words, scales and, for `affine`, biases; each with a row for each block.

    Args:
        kind: A quantized GGUF type.
        raw: The blocks, uint8 `[blocks, bytes of a block]`.
        layout: The result of `layout_of`.
        scales: Type of the scales and biases.
    """
    if layout.is_kept:
        return split(KEPT[layout.mode], raw)
    if kind == "MXFP4":
        low = blocks.bits(raw[:, 1:17], 2, 4).swapaxes(1, 2).reshape(-1, GROUP_SIZE)
        return pack_bits(low, 4), raw[:, :1]
    if kind in _AFFINE:
        found = _AFFINE[kind][1](raw)
        return pack_bits(found.codes, layout.bits), found.scales.astype(scales), found.biases.astype(scales)
    return _quantize_8bit(_DEQUANTIZERS[kind](raw), scales)


def dequantize(kind: str, raw: mx.array) -> mx.array:
    """Return the elements of blocks of any type as float32 `[blocks, size]`."""
    if kind in PLAIN_DTYPES:
        return raw.view(PLAIN_DTYPES[kind]).astype(mx.float32)
    if kind == "MXFP4":
        words, scales = repack(kind, raw, Layout(4, "mxfp4"), mx.float32)
        return mx.dequantize(words, scales, group_size=GROUP_SIZE, bits=4, mode="mxfp4").astype(mx.float32)
    return _AFFINE[kind][1](raw).dequantize() if kind in _AFFINE else _DEQUANTIZERS[kind](raw)


def pack_bits(codes: mx.array, bits: int) -> mx.array:
    """Pack codes, uint8 `[n, size]`, into a bit stream per row, uint32 `[n, size x bits / 32]`, lowest bits first."""
    if bits == 8:
        return mx.contiguous(codes).view(mx.uint32)
    # Eight codes in eight bytes become eight codes in `bits` bytes: first pairs are joined, then fours, then eights.
    eights = mx.contiguous(codes).view(mx.uint64)
    width, held = 8, bits
    for _ in range(3):
        low, high = _mask(2 * width, 0, held), _mask(2 * width, held, 2 * held)
        eights = (eights & low) | ((eights >> mx.array(width - held, mx.uint64)) & high)
        width, held = 2 * width, 2 * held
    streams = eights.view(mx.uint8).reshape(len(codes), -1, 8)[..., :bits]
    return mx.contiguous(streams).reshape(len(codes), -1).view(mx.uint32)


def _mask(lane: int, start: int, end: int) -> mx.array:
    """Return a 64-bit mask in which bits `start` to `end` of each lane of `lane` bits are set."""
    lane_mask = (1 << end) - (1 << start)
    return mx.array(sum(lane_mask << shift for shift in range(0, 64, lane)), mx.uint64)


def _quantize_8bit(elements: mx.array, scales: mx.Dtype) -> tuple[mx.array, mx.array, mx.array]:
    """Quantize elements, float32 `[n, size]`, to 8 bits, using the scales and biases after their rounding."""
    groups = elements.reshape(len(elements), -1, GROUP_SIZE)
    least, most = groups.min(axis=-1), groups.max(axis=-1)
    step = ((most - least) / 255).astype(scales)
    bias = least.astype(scales)
    wide = mx.maximum(step.astype(mx.float32), mx.finfo(mx.float32).smallest_normal)[..., None]
    codes = mx.round((groups - bias.astype(mx.float32)[..., None]) / wide)
    return pack_bits(mx.clip(codes, 0, 255).astype(mx.uint8).reshape(elements.shape), 8), step, bias
