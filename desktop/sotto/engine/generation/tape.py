"""Tapes: decode steps recorded as a flat list of operations, which the native kernels run by themselves.

A step is for several sequences with one token each, or for several tokens of one sequence, as in a round of speculative
decoding. Each token is a row, and its results are bit-identical to those that it would get alone.

A definition builds the same graph of some hundred arrays for each token, and building and scheduling it takes time from
the cores that compute. So the graph of a step is recorded once, with placeholders for tokens, positions and caches; the
native module turns it into a list (`desktop/native/tape`), and each later step is one operation of MLX with the same
results. Only latent attention adds up its scores in another order there. A definition with operations that tapes do not
support is called as usual, and so is a head for multi-token prediction after each step.
"""

import logging
from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx

from sotto.engine.architectures.attention import AddedScores, Appended
from sotto.engine.architectures.cache_types import (
    ArraysCache,
    CacheList,
    FullKVCache,
    HalfKVCache,
    QuantizedKVCache,
    SlidingKVCache,
)
from sotto.engine.architectures.prediction import Predicting, PredictionCache
from sotto.engine.caches.batch import BatchKVCache, BatchStates, can_batch
from sotto.engine.caches.caches import leaves
from sotto.engine.generation.generation import Model
from sotto.engine.kernels import native

_log = logging.getLogger(__name__)

# Caches of keys and values into which a step can write.
_KINDS = (FullKVCache, HalfKVCache, QuantizedKVCache, SlidingKVCache)


class _NotOnTapeError(Exception):
    """A definition uses its caches in a way that tapes do not support."""


class TapedModel:
    """A model whose decode steps are run from tapes if possible; called like the model.

    It computes all logits, so prompts should be fed to the model itself.
    """

    def __init__(self, model: Model, kernels: Any) -> None:
        """Wrap `model`.

        Args:
            model: Computes logits [B, L, V] from tokens [B, L] and `cache=`, each row as if it were alone.
            kernels: The native module, which must be installed.
        """
        self._model = model
        self._kernels = kernels
        # With more rows than these, results would differ in their last bits.
        self._most_rows: int = kernels.few_rows()
        self._tapes: dict[int, Any | None] = {}

    def __call__(self, tokens: mx.array, cache: Series[Any]) -> mx.array:
        """Return the logits [B, L, V] of `tokens` [B, L], which are appended to the caches."""
        length = tokens.shape[1]
        fits = 1 in tokens.shape and tokens.size <= self._most_rows
        layers = _sequences_of(_without_head(cache), length) if fits else None
        tape = self.tape(tokens.size, cache) if layers else None
        if layers is None or tape is None:
            return self._model(tokens, cache=cache)
        attending = [entries for entries in layers if type(entries[0]) is not ArraysCache]
        each = [entry for entries in attending for entry in entries]
        # Recurrent layers do not know positions.
        starts = [entry.rope_offset for entry in attending[0]] if attending else [0] * len(layers[0])
        positions = [start + ahead for start in starts for ahead in range(length)]
        slots: list[int] = []
        seen: list[int] = []
        for entry in each:
            slot, views = entry.extend(length)
            slots += range(slot, slot + length)
            seen += views
        states = [
            entry[index]
            for entries in layers
            if type(entries[0]) is ArraysCache
            for index in range(len(entries[0].cache))
            for entry in entries
        ]
        model = self._model
        width = model.width if isinstance(model, Predicting) else 0
        hidden = [mx.zeros((1, 1, width)) for _ in range(tokens.size)] if width else []
        logits: mx.array = self._kernels.step(
            tape, tokens, positions, slots, seen, [entry.buffers for entry in each], states + hidden
        )
        if not isinstance(model, Predicting):
            return logits
        return model.feed_head(tokens, mx.concatenate(hidden).reshape(*tokens.shape, width), cache[-1], logits)

    def tape(self, rows: int, layers: Series[Any]) -> Any | None:
        """Return the tape of a step, recorded at its first use; None if it is not supported.

        Args:
            rows: Number of tokens.
            layers: The caches of a sequence, or of several.
        """
        if rows not in self._tapes:
            self._tapes[rows] = self._record(rows, layers)
        return self._tapes[rows]

    def _record(self, rows: int, layers: Series[Any]) -> Any | None:
        tokens, positions = self._kernels.placeholder_tokens(rows), self._kernels.placeholder_positions(rows)
        placeholders = _Placeholders(self._kernels, rows, positions)
        caches = [placeholders.of(layer) for layer in _without_head(layers)]
        kept = placeholders.states
        before = [state for cache in kept for state in cache.states]
        tape, unknown = None, ""
        hidden: list[mx.array] = []
        try:
            if isinstance(self._model, Predicting):
                logits, *hidden = self._model.without_head(tokens, caches)
            else:
                logits = self._model(tokens, cache=caches)
        except _NotOnTapeError as error:
            unknown = str(error)
        else:
            # Hidden states are kept like those of recurrent layers, but never read.
            before += [self._kernels.placeholder_state(state.shape) for state in hidden]
            after = [state for cache in kept for state in cache.states] + hidden
            tape, unknown = self._kernels.record(logits, tokens, positions, placeholders.attending, before, after)
        if tape is None:
            _log.debug("Steps of %d rows are computed without a tape: it does not know %s", rows, unknown)
        return tape


class _Placeholders:
    """The placeholders of a sequence's caches while a graph is recorded.

    Attributes:
        attending: Number of caches of keys and values.
        states: The placeholders of recurrent states.
    """

    def __init__(self, kernels: Any, rows: int, positions: mx.array) -> None:
        self.attending = 0
        self.states: list[_RecordedStates] = []
        self._kernels = kernels
        self._rows = rows
        self._positions = positions

    def of(self, layer: Any) -> Any:
        """Return a new placeholder for what a sequence, or several, have for a layer."""
        if isinstance(layer, CacheList):
            return CacheList(*(self.of(part) for part in layer.caches))
        one = _sequences(layer)[0]
        if type(one) is ArraysCache:
            shapes = [(self._rows, *state.shape[1:]) for state in one.cache]
            self.states.append(_RecordedStates([self._kernels.placeholder_state(shape) for shape in shapes]))
            return self.states[-1]
        self.attending += 1
        return _RecordedCache(self._kernels, self.attending - 1, self._positions, getattr(one, "max_size", None))


class _RecordedCache:
    """The placeholder of a cache while a graph is recorded."""

    def __init__(self, kernels: Any, layer: int, positions: mx.array, window: int | None) -> None:
        self.offset = self.rope_offset = positions
        self._window = window
        self._kernels = kernels
        self._layer = layer
        self._appended: Appended | None = None

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[Appended, Appended]:
        # The function must not refer to `self`: nothing would free such a cycle soon.
        kernels, layer = self._kernels, self._layer

        def attend(queries: mx.array, scale: float, mask: Any, sinks: mx.array | None) -> mx.array:
            added = mask.queries if isinstance(mask, AddedScores) else None
            if mask is not None and added is None:
                raise _NotOnTapeError("a mask")
            found: mx.array | None = kernels.step_attention(queries, keys, values, layer, scale, sinks, added)
            if found is None:
                raise _NotOnTapeError("an attention of other shapes")
            return found

        self._appended = Appended(attend, kernels.placeholder_state(keys.shape))
        return self.keys_and_values()

    def keys_and_values(self) -> tuple[Appended, Appended]:
        if self._appended is None:
            raise _NotOnTapeError("layers that share a cache with one after them")
        return self._appended, self._appended

    def make_mask(self, length: int, window_size: int | None = None, return_array: bool = False) -> None:
        # A single token needs no mask unless the definition shows it less than its cache holds.
        shows_more = window_size is not None and (self._window is None or window_size < self._window)
        if length > 1 or shows_more:
            raise _NotOnTapeError("a mask")


class _RecordedStates:
    """The placeholder of recurrent states while a graph is recorded.

    Attributes:
        states: The states, [rows, ...]: at first placeholders, then what the definition replaces them with.
    """

    lengths = None
    left_padding = None

    def __init__(self, states: Series[mx.array]) -> None:
        self.states = list(states)

    def __getitem__(self, index: int) -> mx.array:
        return self.states[index]

    def __setitem__(self, index: int, value: mx.array) -> None:
        self.states[index] = value

    def make_mask(self, length: int) -> None:
        """Return no mask: nothing is padded."""

    def advance(self, length: int) -> None:
        """Do nothing, as nothing is padded."""


def with_tapes(model: Model, config: Mapping[str, Any], caches: Series[Any]) -> Model:
    """Return `model` with tapes for its decode steps, or unchanged if it cannot have any.

    Args:
        model: A loaded model, adapted to the device.
        config: Its config.
        caches: Caches of the types that it will be called with.
    """
    kernels = native.kernels()
    if (
        kernels is None
        or any(type(cache) not in (*_KINDS, ArraysCache) for cache in leaves(_without_head(caches)))
        or not can_batch(config, caches)
    ):
        return model
    return TapedModel(model, kernels)


def _without_head(caches: Series[Any]) -> Series[Any]:
    """Return the caches of a model's layers, without that of a head for multi-token prediction."""
    return caches[:-1] if caches and isinstance(_sequences(caches[-1])[0], PredictionCache) else caches


def _sequences(cache: Any) -> tuple[Any, ...]:
    """Return what each sequence has in a cache."""
    return cache.rows if type(cache) in (BatchKVCache, BatchStates) else (cache,)


def _sequences_of(caches: Series[Any], length: int) -> list[tuple[Any, ...]] | None:
    """Return the caches of each layer, one per sequence; None for other types, empty or unequal ones.

    Args:
        caches: One for each layer.
        length: Number of tokens of each sequence. Recurrent states can only take one at a time.
    """
    layers: list[tuple[Any, ...]] = []
    first: tuple[Any, ...] = ()
    for cache in leaves(caches):
        sequences = _sequences(cache)
        layers.append(sequences)
        if type(sequences[0]) is ArraysCache:
            if length > 1 or any(state is None for entry in sequences for state in entry.cache):
                return None
            continue
        first = first or sequences
        for entry, other in zip(sequences, first, strict=True):
            if type(entry) not in _KINDS or not entry.buffers or entry.offset != other.offset:
                return None
    return layers
