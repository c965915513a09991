"""What memory a model needs, whatever the machine: its weights, its caches, and what computing takes beside them.

Weights and caches are counted to the byte, and the memory that computing takes was found by playing the computation
through, see `sotto.engine.footprint.model_needs`. What is not known is None. Imports nothing of MLX.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class CacheKind(StrEnum):
    """What a layer keeps of the tokens before."""

    FULL = "full"
    SLIDING = "sliding"
    RECURRENT = "recurrent"
    LATENT = "latent"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class CacheNeed:
    """The cache of one layer.

    Attributes:
        kind: How it grows.
        bytes_per_token: Bytes for each token that it holds; None when that is not known.
        constant_bytes: Bytes that it takes even when empty.
        window: Most tokens that a sliding one holds; None where there is no such limit.
        step: It grows by this many tokens at a time.
    """

    kind: CacheKind
    bytes_per_token: int | None
    constant_bytes: int = 0
    window: int | None = None
    step: int = 1

    def nbytes(self, context: int) -> int | None:
        """Return the bytes that it takes when the context holds `context` tokens, or None when that is not known."""
        if self.bytes_per_token is None:
            return None
        tokens = -(-context // self.step) * self.step
        if self.window is not None:
            tokens = min(tokens, self.window)
        return self.constant_bytes + tokens * self.bytes_per_token


@dataclass(frozen=True, slots=True)
class WorkPoint:
    """Memory beside weights and caches that feeding the last `chunk` tokens of a context takes at most.

    A chunk of one token stands for decoding, in which scores of the whole vocabulary are computed.
    """

    chunk: int
    context: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class ModelNeeds:
    """What a model needs, whatever the machine.

    Attributes:
        weight_bytes: Bytes of the weights as they are held in memory.
        loading_bytes: Bytes beside them for a moment while they are read.
        layers: One cache for each layer that has one; None when they are not known.
        work: Samples of the memory that computing takes, in any order; empty when it is not known.
        longest_context: Tokens of the longest context that the model was made for, or None when it does not say.
        unknown: One sentence why something is not known; empty when everything is.
        repacked: How the types of a GGUF file are held, for people; empty where weights stay as they are stored.
    """

    weight_bytes: int
    loading_bytes: int
    layers: tuple[CacheNeed, ...] | None
    work: tuple[WorkPoint, ...]
    longest_context: int | None
    unknown: str = ""
    repacked: str = ""

    def cache_bytes(self, context: int) -> int | None:
        """Return the bytes of all caches when the context holds `context` tokens, or None when that is not known."""
        if self.layers is None:
            return None
        total = 0
        for layer in self.layers:
            nbytes = layer.nbytes(context)
            if nbytes is None:
                return None
            total += nbytes
        return total

    def work_bytes(self, context: int, chunk: int) -> int | None:
        """Return the memory that filling a context in chunks and then decoding takes beside weights and caches.

        Between samples it is interpolated: it is the most of several lines, so a straight line between two samples lies
        on it or above. It never falls when the context grows, nor when the chunk does.
        """
        if not self.work:
            return None
        rows: dict[int, dict[int, int]] = {}
        for point in sorted(self.work, key=lambda point: (point.chunk, point.context)):
            row = rows.setdefault(point.chunk, {})
            row[point.context] = max([point.nbytes, *row.values()])
        least, columns = 0, []
        for size in sorted(rows):
            least = max(least, _line(list(rows[size].items()), context))
            columns.append((size, least))
        return _line(columns, chunk)


def _line(points: Sequence[tuple[int, int]], at: int) -> int:
    """Return the height at `at` of a line through `points`: flat before them, in proportion after them."""
    after = bisect_right(points, at, key=lambda point: point[0])
    if after == 0:
        return points[0][1]
    x0, y0 = points[after - 1]
    # Rounded up, so that nothing is missing in the end.
    if after == len(points):
        return -(-y0 * at // x0)
    x1, y1 = points[after]
    return y0 - (y0 - y1) * (at - x0) // (x1 - x0)
