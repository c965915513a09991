"""One forward pass over several sequences, each with its own caches.

To the definitions, these caches look like those of one sequence, but for a batch of rows: positions are an array, keys
and values are `Ragged`, and recurrent states are concatenated along the first axis and split again. So a sequence can
join or leave at any step, and no memory is spent on padding.
"""

from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx

from sotto.engine.architectures.attention import Ragged
from sotto.engine.architectures.cache_types import ArraysCache, CacheList, FullKVCache, PlannedKVCache, SlidingKVCache
from sotto.engine.caches.caches import leaves
from sotto.engine.config.architecture_table import architecture

# Most sequences in one step. Up to this many rows, the native kernels compute each row bit for bit as if it were alone.
MAX_BATCH_ROWS = 16


class BatchKVCache:
    """The KV caches that several sequences have for one layer.

    Attributes:
        rows: One cache for each row of the batch.
    """

    def __init__(self, rows: Series[Any]) -> None:
        """Combine `rows`."""
        self.rows = tuple(rows)

    @property
    def offset(self) -> mx.array:
        """Tokens fed to each row, int32 [rows]."""
        return mx.array([row.offset for row in self.rows], dtype=mx.int32)

    @property
    def rope_offset(self) -> mx.array:
        """The position of the next token of each row, int32 [rows]."""
        return mx.array([row.rope_offset for row in self.rows], dtype=mx.int32)

    def update_and_fetch(self, keys: mx.array, values: mx.array) -> tuple[Ragged, Ragged]:
        """Append each row's tokens to its cache, and return all keys and values of each row."""
        fetched = [
            row.update_and_fetch(keys[index : index + 1], values[index : index + 1])
            for index, row in enumerate(self.rows)
        ]
        return Ragged([k for k, _ in fetched]), Ragged([v for _, v in fetched])

    def keys_and_values(self) -> tuple[Ragged, Ragged]:
        """Return all keys and values of each row, for layers that share another layer's cache."""
        fetched = [row.keys_and_values() for row in self.rows]
        return Ragged([k for k, _ in fetched]), Ragged([v for _, v in fetched])

    def make_mask(self, length: int, **options: Any) -> Any:
        """Return the rows' masks; a single one where all of them are "causal" or None."""
        masks = [row.make_mask(length, **options) for row in self.rows]
        return masks[0] if all(mask is None or isinstance(mask, str) for mask in masks) else Ragged(masks)


class BatchStates:
    """The recurrent states that several sequences have for one layer, in place of an `ArraysCache`.

    A sequence without states is computed alone (`Generation.can_share`): only its definition knows the initial state.
    """

    lengths = None
    left_padding = None

    def __init__(self, rows: Series[ArraysCache]) -> None:
        """Combine `rows`."""
        self.rows = tuple(rows)

    def __getitem__(self, index: int) -> mx.array | None:
        """Return state number `index` of all rows, concatenated; None before the first token."""
        states = [row[index] for row in self.rows]
        return None if all(state is None for state in states) else mx.concatenate(states, axis=0)

    def __setitem__(self, index: int, value: mx.array) -> None:
        """Split `value` among the rows as their state number `index`."""
        for number, row in enumerate(self.rows):
            row[index] = value[number : number + 1]

    def make_mask(self, length: int) -> None:
        """Return no mask: nothing is padded."""

    def advance(self, length: int) -> None:
        """Do nothing; definitions report progress here only for the sake of padding."""


def can_batch(config: Mapping[str, Any], caches: Series[Any]) -> bool:
    """Return whether sequences of a model with this config and such caches can share a forward pass."""
    inner = config.get("text_config")
    found = [architecture(part) for part in (config, inner) if isinstance(part, Mapping)]
    # An inner model that never occurs alone has no entry that says it.
    if not found[0].batches or any(entry.name and not entry.batches for entry in found):
        return False
    kinds = {type(leaf) for leaf in leaves(caches)}
    known = all(issubclass(kind, FullKVCache | SlidingKVCache | ArraysCache) for kind in kinds)
    return known and PlannedKVCache not in kinds


def batch_caches(sequences: Series[Series[Any]]) -> list[Any]:
    """Return one batch cache per layer for a forward pass over several sequences.

    Args:
        sequences: The caches of each sequence, in the order of the rows.
    """
    return [_batch_layer(rows) for rows in zip(*sequences, strict=True)]


def _batch_layer(rows: Series[Any]) -> Any:
    if isinstance(rows[0], CacheList):
        return CacheList(*(_batch_layer(parts) for parts in zip(*(row.caches for row in rows), strict=True)))
    if isinstance(rows[0], ArraysCache):
        return BatchStates(rows)
    return BatchKVCache(rows)
