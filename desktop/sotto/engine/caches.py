"""Fresh caches for a model, and the kinds of cache that the borrowed definitions know."""

from typing import Any

from mlx import nn

from sotto.engine import zoo

# The package of definitions must be found before anything in it is imported.
zoo.install()

from mlx_lm.models.cache import ConcatenateKVCache, KVCache, RotatingKVCache  # noqa: E402

__all__ = ["ConcatenateKVCache", "KVCache", "RotatingKVCache", "make_caches"]


def make_caches(model: nn.Module) -> list[Any]:
    """Return one empty cache for each layer, of the kinds that the model's layers need."""
    if hasattr(model, "make_cache"):
        return list(model.make_cache())
    return [KVCache() for _ in model.layers]
