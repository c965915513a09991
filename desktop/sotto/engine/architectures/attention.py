"""The attention function that mlx-lm's definitions call, extended to several sequences of different lengths.

Sequences that are decoded together share one forward pass, but each keeps its own keys and values. Nothing is padded or
concatenated, and the attention of each row is computed exactly as if it were alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx


class Ragged(mx.array):
    """Keys, values or masks of a batch whose rows differ in length.

    Latent attention multiplies queries by a part of each key itself. Python leaves this product to the right operand
    only if its class is derived from that of the left one. As an array this is empty, so that any other use fails.

    Attributes:
        rows: One for each row of the batch; arrays are [1, ...].
    """

    def __init__(self, rows: Sequence[Any]) -> None:
        """Combine `rows`."""
        super().__init__([])
        self.rows = tuple(rows)

    def swapaxes(self, axis1: int, axis2: int, **options: Any) -> "Ragged":
        """Return the rows with two axes exchanged."""
        return Ragged([row.swapaxes(axis1, axis2, **options) for row in self.rows])

    def __rmatmul__(self, left: mx.array) -> "Ragged":
        """Return the product of each row of `left` with the same row of this."""
        return Ragged([left[index : index + 1] @ row for index, row in enumerate(self.rows)])


class Appended(mx.array):
    """Placeholder for the keys and values of a cache while the graph of a step is recorded.

    See `sotto.engine.generation.tape`.

    Attributes:
        attend: Returns the attention to them, given queries, a scale, a mask and sinks.
    """

    def __init__(
        self, attend: Callable[[mx.array, float, Any, mx.array | None], mx.array], placeholder: mx.array
    ) -> None:
        """Record the function that computes the attention, and for any other use an array that cannot be evaluated."""
        super().__init__(placeholder)
        self.attend = attend

    def swapaxes(self, axis1: int, axis2: int, **options: Any) -> "Appended":
        """Return the same placeholder, as it is only used for products."""
        return self

    def __rmatmul__(self, left: mx.array) -> "AddedScores":  # type: ignore[misc]  # not an array
        """Return a placeholder for the products of queries with what was appended as values."""
        return AddedScores(left)


class AddedScores:
    """Placeholder for scores that latent attention computes from a part of each key, and passes on as a mask.

    Attributes:
        queries: [B, H, L, D], multiplied by the scale.
    """

    def __init__(self, queries: mx.array) -> None:
        """Record the queries."""
        self.queries = queries


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
