"""Fresh caches for a model, and the kinds of cache that the borrowed definitions know."""

from typing import Any

from mlx import nn

from sotto.engine import zoo

# The package of definitions must be found before anything in it is imported.
zoo.install()

from mlx_lm.models.cache import ConcatenateKVCache, KVCache, RotatingKVCache  # noqa: E402

__all__ = ["ConcatenateKVCache", "KVCache", "PlannedKVCache", "RotatingKVCache", "make_caches"]


class PlannedKVCache(KVCache):  # type: ignore[misc]
    """A KV cache of a model that computes everything in another way once the context is longer than `boundary`.

    Attributes:
        boundary: The longest context, in tokens, that is computed in the first way.
        planned: How many tokens whoever fills the cache knows that it will hold; 0 when that is not known.
    """

    def __init__(self, boundary: int) -> None:
        """Start empty."""
        super().__init__()
        self.boundary = boundary
        self.planned = 0

    def context(self, length: int) -> int:
        """Return the context in use while `length` more tokens are computed."""
        return int(max(self.planned, self.offset + length))


def make_caches(model: nn.Module) -> list[Any]:
    """Return one empty cache for each layer, of the kinds that the model's layers need."""
    if hasattr(model, "make_cache"):
        return list(model.make_cache())
    return [KVCache() for _ in model.layers]
