"""Tracing a model's forward pass at any context length, with caches that have shapes but no content.

A short pass shows what each cache is fed; after that, its state at any length can be constructed.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten, tree_map

from sotto.engine.caches.caches import leaves, make_caches
from sotto.engine.footprint.graph import Graph, trace
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed

DECODE = 1
STEP = 256


@dataclass(frozen=True, slots=True)
class Layer:
    """The cache of one layer, and what the layer feeds it.

    Attributes:
        leaf: The cache.
        fresh: Its attributes while it was empty.
        state: Its attributes after two tokens.
        fed: Shapes and types of the keys and values of a token; None for caches without keys and values.
    """

    leaf: Any
    fresh: dict[str, Any]
    state: dict[str, Any]
    fed: tuple[tuple[tuple[int, ...], mx.Dtype], ...] | None

    @property
    def window(self) -> int | None:
        """Number of tokens that a token sees; None for all."""
        window: int | None = self.fresh.get("max_size") or self.fresh.get("chunk_size")
        return window

    def filled(self, *lengths: int) -> dict[str, Any]:
        """Return the attributes after feeding tokens in pieces of these lengths."""
        if self.fed is None:
            return self.state
        _set(self.leaf, self.fresh)
        for length in lengths:
            if length > 0:
                pieces = (mx.zeros((*shape[:-2], length, shape[-1]), dtype=dtype) for shape, dtype in self.fed)
                self.leaf.update_and_fetch(*pieces)
        return dict(vars(self.leaf))

    def after(self, length: int, chunk: int) -> dict[str, Any]:
        """Return the attributes after `length` tokens in chunks, with no room left in the buffers if possible."""
        if self.window is None or self.fed is None or length <= chunk:
            state = self.filled(length)
            # The context ends with the chunk, and caches of the whole context allocate no more than that.
            return state | {"max_tokens": length + chunk} if "max_tokens" in state else state
        pieces = [min(self.window, length - chunk), chunk]
        state = self.filled(*pieces)
        room = state["keys"].shape[-2] - (state["offset"] - state["first"]) if "first" in state else 0
        return self.filled(*pieces, room)

    def need(self, config: Mapping[str, Any]) -> CacheNeed:
        """Return the needs of the cache."""
        if self.fed is None:
            kind = CacheKind.RECURRENT if _nbytes(self.state) else CacheKind.OTHER
            return CacheNeed(kind, 0, _nbytes(self.state))
        once, twice = _nbytes(self.filled(STEP)), _nbytes(self.filled(2 * STEP))
        per_token = (twice - once) // STEP
        constant = once - STEP * per_token
        if self.window is not None:
            return self._sliding_need(self.window, once)
        inner = config.get("text_config") or {}
        latent = (config.get("kv_lora_rank") or inner.get("kv_lora_rank")) and self.fed[0][0][1] == 1
        return CacheNeed(CacheKind.LATENT if latent else CacheKind.FULL, per_token, constant)

    def _sliding_need(self, window: int, once: int) -> CacheNeed:
        per_token = sum(dtype.size * math.prod(shape) // shape[-2] for shape, dtype in self.fed or ())
        most = _nbytes(self.filled(window, DECODE)) // per_token
        return CacheNeed(CacheKind.SLIDING, per_token, 0, most, min(STEP, most))


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A model with caches that have shapes but no content, and can be set to any length.

    Attributes:
        model: The model; never evaluated.
        caches: The caches as its forward pass takes them.
        layers: The same caches, with nested lists flattened.
        places: The container and the key of each parameter.
    """

    model: nn.Module
    caches: list[Any]
    layers: tuple[Layer, ...]
    places: tuple[tuple[Any, Any], ...]

    @classmethod
    def of(cls, model: nn.Module, kv_bits: int | None = None) -> "Rehearsal":
        """Return the model with caches that were fed two tokens.

        Args:
            model: The model; never evaluated.
            kv_bits: Bits of keys and values in layers that allow it; None leaves them as computed.
        """
        caches = make_caches(model, kv_bits)
        parts = list(leaves(caches))
        fresh = [_copy(vars(leaf)) for leaf in parts]
        seen: dict[int, tuple[tuple[tuple[int, ...], mx.Dtype], ...]] = {}
        for leaf in parts:
            if hasattr(leaf, "update_and_fetch"):
                leaf.update_and_fetch = _watch(leaf, seen)
        model(mx.array([[0, 0]]), cache=caches)
        for leaf in parts:
            vars(leaf).pop("update_and_fetch", None)
        states = [_copy(vars(leaf)) for leaf in parts]
        return cls(
            model,
            caches,
            tuple(Layer(*each) for each in zip(parts, fresh, states, map(seen.get, map(id, parts)), strict=True)),
            tuple(_places(model)),
        )

    def graph(self, chunk: int, context: int) -> Graph:
        """Return the graph of feeding the last `chunk` tokens of a context.

        Args:
            chunk: Number of tokens; 1 for a decode step, which also computes the logits.
            context: All tokens of the context; those before the chunk are already in the caches.
        """
        states = [layer.after(context - chunk, chunk) for layer in self.layers]
        flat = [value for state in states for _, value in tree_flatten([state]) if isinstance(value, mx.array)]
        parameters = [holder[key] for holder, key in self.places]

        def step(*arrays: mx.array) -> list[mx.array]:
            held = iter(arrays[: len(flat)])
            for layer, state in zip(self.layers, states, strict=True):
                _set(layer.leaf, tree_map(lambda value: next(held) if isinstance(value, mx.array) else value, state))
            self._put(arrays[len(flat) + 1 :])
            logits = self.model(arrays[len(flat)], cache=self.caches)
            if chunk == DECODE:
                return [logits[:, -1, :]]
            new = tree_flatten([cache.state for cache in self.caches])
            return [value for _, value in new if isinstance(value, mx.array)]

        tokens = mx.zeros((1, chunk), dtype=mx.int32)
        try:
            return trace(step, flat, [tokens, *parameters])
        finally:
            self._put(parameters)

    def _put(self, arrays: Sequence[mx.array]) -> None:
        for (holder, key), array in zip(self.places, arrays, strict=True):
            holder[key] = array


def round_up(tokens: int) -> int:
    """Round `tokens` up to a multiple of the caches' step."""
    return -(-tokens // STEP) * STEP


def _places(model: nn.Module) -> Iterator[tuple[Any, Any]]:
    """Yield the container and the key of each parameter of a model, in the order of `model.parameters()`."""
    for name, _ in tree_flatten(model.parameters()):
        *path, last = (int(part) if part.isdecimal() else part for part in name.split("."))
        yield reduce(getitem, path, model), last


def _watch(leaf: Any, seen: dict[int, Any]) -> Callable[[mx.array, mx.array], Any]:
    """Return an `update_and_fetch` for a cache that records what it is fed."""
    feed = type(leaf).update_and_fetch

    def update_and_fetch(keys: mx.array, values: mx.array) -> Any:
        seen[id(leaf)] = ((keys.shape, keys.dtype), (values.shape, values.dtype))
        return feed(leaf, keys, values)

    return update_and_fetch


def _set(leaf: Any, attributes: Mapping[str, Any]) -> None:
    """Replace all attributes of a cache."""
    vars(leaf).clear()
    vars(leaf).update(_copy(attributes))


def _copy(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Copy attributes, including their lists and dictionaries."""
    copied: dict[str, Any] = tree_map(lambda value: value, dict(attributes))
    return copied


def _nbytes(attributes: Mapping[str, Any]) -> int:
    return sum(value.nbytes for _, value in tree_flatten([dict(attributes)]) if isinstance(value, mx.array))
