"""Decode steps from a tape: the operations of one more token, as a flat list that the native kernels run by themselves.

A step is of several sequences, one token each, or of several tokens of one sequence, as in a round of speculation. Each
token is a row, and gets the bits that it would get by itself.

A definition builds a graph of some hundred arrays for each token, always the same one. Building and scheduling it takes
time from the cores that compute. So the graph of a step is made once, with stand-ins for tokens, positions and caches;
the native module turns it into a list (`desktop/native/tape`), and each step from then on is one operation of MLX that
gives the same bits. A definition that computes something which no tape knows is called as ever.
"""

import logging
from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx

from sotto.engine.architectures.attention import Appended
from sotto.engine.architectures.cache_types import FullKVCache, SlidingKVCache
from sotto.engine.caches.batch import BatchKVCache, can_batch
from sotto.engine.generation.generation import Model
from sotto.engine.kernels import native

_log = logging.getLogger(__name__)

# Caches into which a step can write.
_KINDS = (FullKVCache, SlidingKVCache)


class _NotOnTapeError(Exception):
    """What a definition does with its caches that no tape knows."""


class TapedModel:
    """A model whose decode steps come from tapes where they can; called as the model is.

    All logits are computed, whether or not anybody reads them: prompts are for the model itself.
    """

    def __init__(self, model: Model, kernels: Any) -> None:
        """Stand for `model`.

        Args:
            model: Takes tokens [B, L] and `cache=` to logits [B, L, V], each row as if it were alone.
            kernels: The native module, which is in use.
        """
        self._model = model
        self._kernels = kernels
        # What is computed with more rows than these has other bits.
        self._most_rows: int = kernels.few_rows()
        self._tapes: dict[int, Any | None] = {}

    def __call__(self, tokens: mx.array, cache: Series[Any]) -> mx.array:
        """Return the logits [B, L, V] of `tokens` [B, L], which are appended to the caches."""
        length = tokens.shape[1]
        layers = _sequences_of(cache) if 1 in tokens.shape and tokens.size <= self._most_rows else None
        tape = self.tape(tokens.size, [sequences[0] for sequences in layers]) if layers else None
        if layers is None or tape is None:
            return self._model(tokens, cache=cache)
        each = [entry for entries in layers for entry in entries]
        positions = [entry.offset + ahead for entry in layers[0] for ahead in range(length)]
        slots: list[int] = []
        seen: list[int] = []
        for entry in each:
            slot, views = entry.extend(length)
            slots += range(slot, slot + length)
            seen += views
        buffers = [buffer for entry in each for buffer in (entry.keys, entry.values)]
        logits: mx.array = self._kernels.step(tape, tokens, positions, slots, seen, buffers)
        return logits

    def tape(self, rows: int, layers: Series[Any]) -> Any | None:
        """Return the tape of a step of so many tokens, made at its first use; None where there can be none.

        Args:
            rows: How many tokens.
            layers: The caches of a sequence.
        """
        if rows not in self._tapes:
            self._tapes[rows] = self._record(rows, layers)
        return self._tapes[rows]

    def _record(self, rows: int, layers: Series[Any]) -> Any | None:
        tokens, positions = self._kernels.placeholder_tokens(rows), self._kernels.placeholder_positions(rows)
        caches = [
            _RecordedCache(self._kernels, number, positions, getattr(layer, "max_size", None))
            for number, layer in enumerate(layers)
        ]
        tape, unknown = None, ""
        try:
            logits = self._model(tokens, cache=caches)
        except _NotOnTapeError as error:
            unknown = str(error)
        else:
            tape, unknown = self._kernels.record(logits, tokens, positions, len(layers))
        if tape is None:
            _log.debug("Steps of %d rows are computed without a tape: it does not know %s", rows, unknown)
        return tape


class _RecordedCache:
    """What a definition sees in place of a cache while its graph is made."""

    def __init__(self, kernels: Any, layer: int, positions: mx.array, window: int | None) -> None:
        self.offset = positions
        self._window = window
        self._kernels = kernels
        self._layer = layer

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[Appended, Appended]:
        def attend(queries: mx.array, scale: float, mask: Any, sinks: mx.array | None) -> mx.array:
            if mask is not None:
                raise _NotOnTapeError("a mask")
            found: mx.array | None = self._kernels.step_attention(queries, keys, values, self._layer, scale, sinks)
            if found is None:
                raise _NotOnTapeError("an attention of other shapes")
            return found

        both = Appended(attend)
        return both, both

    def keys_and_values(self) -> tuple[Appended, Appended]:
        raise _NotOnTapeError("layers that share a cache")

    def make_mask(self, length: int, window_size: int | None = None, return_array: bool = False) -> None:
        # One token sees all that its cache shows it, unless the definition lets it see less.
        shows_more = window_size is not None and (self._window is None or window_size < self._window)
        if length > 1 or shows_more:
            raise _NotOnTapeError("a mask")


def with_tapes(model: Model, config: Mapping[str, Any], caches: Series[Any]) -> Model:
    """Return `model` with tapes for its decode steps, or as it is where it can have none.

    Args:
        model: A loaded model, adapted to the device.
        config: Its config.
        caches: Caches like those that it will be called with.
    """
    kernels = native.kernels()
    if kernels is None or any(type(cache) not in _KINDS for cache in caches) or not can_batch(config, caches):
        return model
    return TapedModel(model, kernels)


def _sequences_of(caches: Series[Any]) -> list[tuple[Any, ...]] | None:
    """Return the caches of each layer, one for each sequence; None where they are of other kinds, empty, or unequal."""
    layers: list[tuple[Any, ...]] = []
    for cache in caches:
        sequences = cache.rows if type(cache) is BatchKVCache else (cache,)
        for index, cache in enumerate(sequences):
            if type(cache) not in _KINDS or cache.keys is None:
                return None
            if layers and cache.offset != layers[0][index].offset:
                return None
        layers.append(sequences)
    return layers
