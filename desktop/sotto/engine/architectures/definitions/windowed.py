"""A base class for models in which every layer sees only the last `sliding_window` tokens."""

from typing import Any

import mlx.core as mx
from mlx_lm.models.cache import KVCache, RotatingKVCache


class Windowed:
    """Adds a sliding window to one of mlx-lm's models whose layers all share one mask; comes first among the bases.

    The mask comes from the first layer's cache, so a cache that keeps no more than the window is all that is needed.
    `args` has `sliding_window`, None if all layers see everything.

    WORKAROUND: mlx-lm's definitions ignore the window. Check at each upgrade which of them have learnt it.
    """

    args: Any
    layers: Any

    def __call__(self, inputs: mx.array, cache: list[Any] | None = None, **options: Any) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L]."""
        logits: mx.array = super().__call__(inputs, cache or self.make_cache(), **options)  # type: ignore[misc]
        return logits

    def make_cache(self) -> list[Any]:
        """Return one empty cache for each layer."""
        window = self.args.sliding_window
        return [RotatingKVCache(max_size=window) if window else KVCache() for _ in self.layers]
