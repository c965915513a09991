"""Masking of the logits of tokens that a grammar does not allow."""

from collections.abc import Sequence

import mlx.core as mx

_BITS = 32
_BYTES = 4
_NOTHING = -float("inf")


def mask_logits(logits: mx.array, masks: Sequence[bytes | None]) -> mx.array:
    """Return logits with -inf for every token that may not follow; nothing is evaluated.

    Args:
        logits: [R, V].
        masks: For each row, the bit mask of allowed tokens from `sotto.engine.grammar.guides`; None to allow all.
            Tokens beyond the end of a mask are not allowed.
    """
    rows, width = logits.shape
    size = -(-width // _BITS) * _BYTES
    every = b"\xff" * size
    packed = b"".join(every if mask is None else mask[:size].ljust(size, b"\0") for mask in masks)
    words = mx.array(memoryview(packed).cast("I")).reshape(rows, -1, 1)  # type: ignore[arg-type]
    bits = (words >> mx.arange(_BITS, dtype=mx.uint32)) & 1
    return mx.where(bits.reshape(rows, -1)[:, :width] == 1, logits, mx.array(_NOTHING, dtype=logits.dtype))
