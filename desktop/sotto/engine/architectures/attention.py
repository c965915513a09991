"""The attention function that mlx-lm's definitions call, extended to several sequences of different lengths.

Sequences that are decoded together share one forward pass, but each keeps its own keys and values. Nothing is padded or
concatenated, and the attention of each row is computed exactly as if it were alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx


class Ragged:
    """Keys, values or masks of a batch whose rows differ in length.

    Attributes:
        rows: One for each row of the batch; arrays are [1, ...].
    """

    def __init__(self, rows: Sequence[Any]) -> None:
        """Combine `rows`."""
        self.rows = tuple(rows)


class Appended:
    """Placeholder for the keys and values of a cache while the graph of a step is recorded.

    See `sotto.engine.generation.tape`.

    Attributes:
        attend: Returns the attention to them, given queries, a scale, a mask and sinks.
    """

    def __init__(self, attend: Callable[[mx.array, float, Any, mx.array | None], mx.array]) -> None:
        """Record the function that computes the attention."""
        self.attend = attend


class Projected:
    """Keys or values of all heads, as what a layer would make of one latent vector for each token.

    They are never made: attention is linear in keys and values, so queries and outputs are projected instead, as in
    decode steps. For a long context that takes a fraction of the time, as a chunk of a prompt is shorter.

    Attributes:
        layer: The layer, with a matrix for each head.
        latent: [B, 1, T, rank].
    """

    def __init__(self, layer: Callable[[mx.array], mx.array], latent: mx.array) -> None:
        """Record a layer and its input."""
        self.layer = layer
        self.latent = latent


def attend(
    queries: mx.array,
    keys: Any,
    values: Any,
    cache: Any,
    scale: float,
    mask: Any,
    sinks: mx.array | None = None,
) -> mx.array:
    """Return the attention output, [B, H, L, D].

    Has the signature of `mlx_lm.models.base.scaled_dot_product_attention`, which it replaces.

    Args:
        queries: [B, H, L, D].
        keys: An array, `Ragged`, `Appended` or `Projected`.
        values: Of the same kind as `keys`.
        cache: Unused; part of the signature.
        scale: Factor of the scores before the softmax.
        mask: An array, "causal", None or, for ragged keys, `Ragged`.
        sinks: Scores [H] that take part in the softmax without a value; None for none.
    """
    if isinstance(keys, Appended):
        return keys.attend(queries, scale, mask, sinks)
    if isinstance(keys, Projected):
        made = isinstance(values, Projected)
        found = attend(keys.layer(queries), keys.latent, values.latent if made else values, cache, scale, mask, sinks)
        return values.layer(found) if made else found
    if not isinstance(keys, Ragged):
        return mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask=mask, sinks=sinks)
    masks = mask.rows if isinstance(mask, Ragged) else [mask] * len(keys.rows)
    outputs = [
        mx.fast.scaled_dot_product_attention(queries[row : row + 1], k, v, scale=scale, mask=m, sinks=sinks)
        for row, (k, v, m) in enumerate(zip(keys.rows, values.rows, masks, strict=True))
    ]
    return mx.concatenate(outputs, axis=0)


def install() -> None:
    """Make the definitions that are imported afterwards use `attend`."""
    from mlx_lm.models import base

    # WORKAROUND: mlx-lm can only batch sequences by padding them. Check at each upgrade that its definitions still
    # import this function from `base`, with the same signature.
    replacement: Callable[..., mx.array] = attend
    base.scaled_dot_product_attention = replacement
