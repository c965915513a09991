"""Pooling: combining the last hidden states of a text's tokens into one vector, chunk by chunk.

Modes, names and formulas are those of sentence-transformers.
"""

from collections.abc import Sequence

import mlx.core as mx

from sotto.engine.config.pooling_config import FIRST, LAST, MAX, MEAN, ROOT, WEIGHTED

_LEAST_LENGTH = 1e-12


class Pool:
    """Accumulates the hidden states of a batch of texts, chunk by chunk."""

    def __init__(self, modes: Sequence[str]) -> None:
        """Start empty; `modes` are names from `sotto.engine.config.pooling_config`."""
        self._modes = modes
        self._tokens = mx.array(0.0)
        self._weights = mx.array(0.0)
        self._sum = mx.array(0.0)
        self._weighted = mx.array(0.0)
        self._first: mx.array | None = None
        self._most = mx.array(-mx.inf)
        self._last = mx.array(0.0)

    def add(self, hidden: mx.array, mask: mx.array) -> None:
        """Add the next chunk.

        Args:
            hidden: Hidden states [B, L, D].
            mask: [B, L], true for tokens and false for the padding after them; at least one token in each row.
        """
        hidden = hidden.astype(mx.float32)
        there = mask.astype(mx.float32)[..., None]
        counts = there.sum(axis=1)
        if self._first is None:
            self._first = hidden[:, 0]
        if WEIGHTED in self._modes:
            weights = there * (self._tokens[..., None] + mx.arange(1, hidden.shape[1] + 1)[None, :, None])
            self._weighted = self._weighted + (hidden * weights).sum(axis=1)
            self._weights = self._weights + weights.sum(axis=1)
        if MEAN in self._modes or ROOT in self._modes:
            self._sum = self._sum + (hidden * there).sum(axis=1)
        if MAX in self._modes:
            self._most = mx.maximum(self._most, mx.where(mask[..., None], hidden, -mx.inf).max(axis=1))
        if LAST in self._modes:
            places = counts.astype(mx.int32)[..., None] - 1
            self._last = mx.take_along_axis(hidden, mx.broadcast_to(places, (*places.shape[:2], hidden.shape[2])), 1)
            self._last = self._last[:, 0]
        self._tokens = self._tokens + counts

    @property
    def state(self) -> list[mx.array]:
        """The accumulated arrays, to evaluate between two steps."""
        first = [] if self._first is None else [self._first]
        return [*first, self._tokens, self._weights, self._sum, self._weighted, self._most, self._last]

    def vectors(self) -> mx.array:
        """Return one vector for each text, [B, modes * D]."""
        return mx.concatenate([self._vector(mode) for mode in self._modes], axis=-1)

    def _vector(self, mode: str) -> mx.array:
        if mode == FIRST:
            assert self._first is not None  # something was added
            return self._first
        ways = {
            MEAN: lambda: self._sum / self._tokens,
            ROOT: lambda: self._sum / mx.sqrt(self._tokens),
            WEIGHTED: lambda: self._weighted / self._weights,
            MAX: lambda: self._most,
            LAST: lambda: self._last,
        }
        return ways[mode]()


def normalise(vectors: mx.array) -> mx.array:
    """Return vectors [..., D] scaled to length 1; zeros stay zeros."""
    lengths = mx.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / mx.maximum(lengths, _LEAST_LENGTH)
