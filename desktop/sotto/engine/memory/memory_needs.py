"""The memory needs of a model on any machine: its weights, its caches, and the work memory of computing.

Weights and caches are counted to the byte, and the work memory is found by simulating the computation, see
`sotto.engine.footprint.model_needs`. Unknown values are None. Does not import MLX.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class CacheKind(StrEnum):
    """The kind of cache of a layer."""

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
        bytes_per_token: Bytes per token; None if unknown.
        constant_bytes: Bytes of the empty cache.
        window: Maximum tokens of a sliding cache; None for no limit.
        step: Number of tokens by which it grows.
    """

    kind: CacheKind
    bytes_per_token: int | None
    constant_bytes: int = 0
    window: int | None = None
    step: int = 1

    def nbytes(self, context: int) -> int | None:
        """Return its bytes with a context of `context` tokens, or None if unknown."""
        if self.bytes_per_token is None:
            return None
        tokens = -(-context // self.step) * self.step
        if self.window is not None:
            tokens = min(tokens, self.window)
        return self.constant_bytes + tokens * self.bytes_per_token


@dataclass(frozen=True, slots=True)
class WorkPoint:
    """The peak memory, beside weights and caches, of feeding the last `chunk` tokens of a context.

    A chunk of one token is a decode step, which also computes the logits.
    """

    chunk: int
    context: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class ModelNeeds:
    """The needs of a model on any machine.

    Attributes:
        weight_bytes: Bytes of the weights as they are held in memory.
        loading_bytes: Further bytes needed temporarily while loading.
        layers: The caches of all layers that have one; None if unknown.
        work: Samples of the work memory, in any order; empty if unknown.
        longest_context: Maximum context length of the model in tokens; None if it has none.
        unknown: One sentence why something is unknown; empty if nothing is.
        repacked: How the types of a GGUF file are held, for people; empty if weights stay as they are stored.
    """

    weight_bytes: int
    loading_bytes: int
    layers: tuple[CacheNeed, ...] | None
    work: tuple[WorkPoint, ...]
    longest_context: int | None
    unknown: str = ""
    repacked: str = ""

    def cache_bytes(self, context: int) -> int | None:
        """Return the bytes of all caches with a context of `context` tokens, or None if unknown."""
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
        """Return the work memory of filling a context in chunks and then decoding; None if unknown.

        It is interpolated between samples. As the real curve is the maximum of several lines, the interpolation is
        never below it. It never decreases with a longer context or a larger chunk.
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
    """Interpolate `points` linearly at `at`: constant before them, proportional after them."""
    after = bisect_right(points, at, key=lambda point: point[0])
    if after == 0:
        return points[0][1]
    x0, y0 = points[after - 1]
    # Rounded up, so that the result is never too small.
    if after == len(points):
        return -(-y0 * at // x0)
    x1, y1 = points[after]
    return y0 - (y0 - y1) * (at - x0) // (x1 - x0)
