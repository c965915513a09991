"""Creation and description of the caches of one sequence, one for each layer of a model."""

from collections.abc import Iterator, Sequence
from typing import Any

from mlx import nn

from sotto.engine.architectures.cache_types import (
    GROUP_SIZES,
    ArraysCache,
    CacheList,
    FullKVCache,
    HalfKVCache,
    KVCache,
    PlannedKVCache,
    QuantizedKVCache,
    RotatingKVCache,
    SlidingKVCache,
)
from sotto.engine.architectures.prediction import PredictionCache

_HALF_BITS = 16


def make_caches(model: nn.Module, kv_bits: int | None = None, max_tokens: int | None = None) -> list[Any]:
    """Return one empty cache for each layer, of the kind that the layer needs.

    Args:
        model: A loaded model.
        kv_bits: Hold full KV caches in 16 bits, or quantize them to 8 or 4; None leaves them in the model's type.
            Layers with a sliding window, a recurrent state or several caches are always left so.
        max_tokens: The longest possible context, so that full caches allocate no more; None if it is unknown.
    """
    made = list(model.make_cache()) if hasattr(model, "make_cache") else [KVCache() for _ in model.layers]
    return [_replacement(cache, kv_bits, max_tokens) for cache in made]


def full_cache(kv_bits: int | None = None, max_tokens: int | None = None) -> FullKVCache:
    """Return an empty cache that holds all tokens of one layer; see `make_caches`."""
    if kv_bits == _HALF_BITS:
        return HalfKVCache(max_tokens)
    return QuantizedKVCache(kv_bits, max_tokens) if kv_bits else FullKVCache(max_tokens)


def kv_note(caches: Sequence[Any], kv_bits: int | None) -> str:
    """Return a note on how many layers have the requested bits and why others have not; empty if none were requested.

    Args:
        caches: One for each layer, after at least one token.
        kv_bits: The requested bits; None for those of the model's type.
    """
    if not kv_bits:
        return ""
    others = [_part_as_computed(cache) for cache in caches]
    held = others.count("")
    note = f"{held} of {len(others)} layers {'holds' if held == 1 else 'hold'} keys and values in {kv_bits} bits"
    kept = sorted(set(others) - {""}, reverse=True)
    return f"{note}; {' and '.join(kept)} are left as they are" if kept else note


def leaves(caches: Sequence[Any]) -> Iterator[Any]:
    """Yield the caches, each `CacheList` replaced by its members."""
    for cache in caches:
        if hasattr(cache, "caches"):
            yield from leaves(cache.caches)
        else:
            yield cache


def _part_as_computed(cache: Any) -> str:
    """Return what a layer holds as it was computed; empty if it holds everything in the requested bits."""
    if isinstance(cache, HalfKVCache):
        return ""
    if isinstance(cache, QuantizedKVCache):
        return "" if cache.group_size else f"heads whose width is not a multiple of {GROUP_SIZES[-1]}"
    if isinstance(cache, CacheList):
        return "layers with several caches"
    if isinstance(cache, ArraysCache):
        return "recurrent states"
    if isinstance(cache, PredictionCache):
        return "the prediction head"
    return "contexts computed in two ways" if isinstance(cache, PlannedKVCache) else "sliding windows"


def _replacement(cache: Any, kv_bits: int | None, max_tokens: int | None) -> Any:
    """Return our cache in place of mlx-lm's where we have one, else the cache itself."""
    if type(cache) is KVCache:
        return full_cache(kv_bits, max_tokens)
    if isinstance(cache, PlannedKVCache | PredictionCache):
        cache.max_tokens = max_tokens
    if type(cache) is RotatingKVCache and cache.keep == 0:
        return SlidingKVCache(cache.max_size)
    if type(cache) is CacheList:
        # Never quantized, because some definitions with several caches in a layer access their arrays directly.
        return CacheList(*(_replacement(member, None, max_tokens) for member in cache.caches))
    return cache
