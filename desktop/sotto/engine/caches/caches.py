"""The caches of one sequence: fresh ones for a model, of the kinds that its layers need, and what to say of them."""

from collections.abc import Iterator, Sequence
from typing import Any

from mlx import nn

from sotto.engine.architectures.cache_types import (
    GROUPS,
    ArraysCache,
    CacheList,
    FullKVCache,
    KVCache,
    PlannedKVCache,
    QuantizedKVCache,
    RotatingKVCache,
    SlidingKVCache,
)


def make_caches(model: nn.Module, kv_bits: int | None = None, most: int | None = None) -> list[Any]:
    """Return one empty cache for each layer, of the kinds that the model's layers need.

    Args:
        model: A loaded model.
        kv_bits: Hold full KV caches in 8 or 4 bits; None as they come. Layers with a sliding window, a recurrent state
            or several caches of their own are left alone.
        most: The most tokens of a context; caches that hold all of it make no room for more. None where that is not
            known.
    """
    made = list(model.make_cache()) if hasattr(model, "make_cache") else [KVCache() for _ in model.layers]
    return [_ours(cache, kv_bits, most) for cache in made]


def kv_note(caches: Sequence[Any], kv_bits: int | None) -> str:
    """Say which layers hold keys and values in few bits, and what is left as it is; nothing where none was to.

    Args:
        caches: One for each layer, which have seen a token.
        kv_bits: The bits that were asked for.
    """
    if not kv_bits:
        return ""
    whys = [_why_whole(cache) for cache in caches]
    held = whys.count("")
    note = f"{held} of {len(whys)} layers {'holds' if held == 1 else 'hold'} keys and values in {kv_bits} bits"
    kept = sorted(set(whys) - {""}, reverse=True)
    return f"{note}; {' and '.join(kept)} are left as they are" if kept else note


def leaves(caches: Sequence[Any]) -> Iterator[Any]:
    """Yield the caches with lists of caches taken apart."""
    for cache in caches:
        if hasattr(cache, "caches"):
            yield from leaves(cache.caches)
        else:
            yield cache


def _why_whole(cache: Any) -> str:
    """Return what of a layer is not held in few bits; nothing where all of it is."""
    if isinstance(cache, QuantizedKVCache):
        return "" if cache.group_size else f"heads whose width is no multiple of {GROUPS[-1]}"
    if isinstance(cache, CacheList):
        return "layers with several caches"
    if isinstance(cache, ArraysCache):
        return "recurrent states"
    return "contexts computed in two ways" if isinstance(cache, PlannedKVCache) else "sliding windows"


def _ours(cache: Any, kv_bits: int | None, most: int | None) -> Any:
    if type(cache) is KVCache:
        return QuantizedKVCache(kv_bits, most) if kv_bits else FullKVCache(most)
    if isinstance(cache, PlannedKVCache):
        cache.most = most
    if type(cache) is RotatingKVCache and cache.keep == 0:
        return SlidingKVCache(cache.max_size)
    if type(cache) is CacheList:
        # Definitions with several caches in a layer look into them.
        return CacheList(*(_ours(cach, None, most) for cach in cache.caches))
    return cache
