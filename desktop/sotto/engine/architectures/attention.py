"""Attention as the borrowed definitions call it, for one sequence or for several of unequal lengths at once.

Sequences that decode together share one forward pass, but each keeps its own keys and values: nothing is padded or
copied together, and a row's attention is computed exactly as if the row were alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx


class Ragged:
    """What each row of a batch has for itself: keys, values or a mask, in the order of the rows.

    Attributes:
        rows: One for each row; arrays are [1, ...].
    """

    def __init__(self, rows: Sequence[Any]) -> None:
        """Put rows together."""
        self.rows = tuple(rows)


class Appended:
    """Stands for the keys and values of a cache while the graph of a step is recorded.

    See `sotto.engine.generation.tape`.

    Attributes:
        attend: Returns the attention of queries to them, for the queries, a scale, a mask and sinks.
    """

    def __init__(self, attend: Callable[[mx.array, float, Any, mx.array | None], mx.array]) -> None:
        """Stand for what `attend` attends to."""
        self.attend = attend


def attend(
    queries: mx.array,
    keys: Any,
    values: Any,
    cache: Any,
    scale: float,
    mask: Any,
    sinks: mx.array | None = None,
) -> mx.array:
    """Return the attention of `queries` [B, H, L, D] to `keys` and `values`, arrays or of a kind above, shaped like it.

    Has the signature of `mlx_lm.models.base.scaled_dot_product_attention`, which it stands in for.
    """
    if isinstance(keys, Appended):
        return keys.attend(queries, scale, mask, sinks)
    if not isinstance(keys, Ragged):
        return mx.fast.scaled_dot_product_attention(queries, keys, values, scale=scale, mask=mask, sinks=sinks)
    masks = mask.rows if isinstance(mask, Ragged) else [mask] * len(keys.rows)
    each = [
        mx.fast.scaled_dot_product_attention(queries[row : row + 1], k, v, scale=scale, mask=m, sinks=sinks)
        for row, (k, v, m) in enumerate(zip(keys.rows, values.rows, masks, strict=True))
    ]
    return mx.concatenate(each, axis=0)


def install() -> None:
    """Make the definitions use `attend`; works on those that are imported afterwards."""
    from mlx_lm.models import base

    stands_in: Callable[..., mx.array] = attend
    base.scaled_dot_product_attention = stands_in
