"""The memory needs of a model on any machine: its weights, its caches, and the work memory of computing.

Weights and caches are counted to the byte, and the work memory is found by simulating the computation, see
`sotto.engine.footprint.model_needs`. Unknown values are None. Does not import MLX.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

# Pixels of an image for which there is room whenever there is room for a model: about 1000 x 1000.
USUAL_IMAGE = 1 << 20


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
class SightPoint:
    """What seeing an image needs beside weights and caches.

    Attributes:
        pixels: Of the image.
        nbytes: Peak memory while its features are computed.
        features: Bytes of its features, which are held while its tokens are fed.
        whole: How many tokens stand for it that must be fed as one chunk; 0 if they may be divided.
    """

    pixels: int
    nbytes: int
    features: int
    whole: int = 0


@dataclass(frozen=True)
class ModelNeeds:
    """The needs of a model on any machine.

    Plans ask for the same needs at thousands of context lengths, so what these have in common is computed once.

    Attributes:
        weight_bytes: Bytes of the weights as they are held in memory.
        loading_bytes: Further bytes needed temporarily while loading.
        layers: The caches of all layers that have one; None if unknown.
        work: Samples of the work memory, in any order; empty if unknown.
        longest_context: Maximum context length of the model in tokens; None if it has none.
        unknown: One sentence why something is unknown; empty if nothing is.
        repacked: How the types of a GGUF file are held, for people; empty if weights stay as they are stored.
        sight: Samples of what seeing an image needs, the smallest first; larger ones than the last need no more. Empty
            for a model that does not see.
    """

    weight_bytes: int
    loading_bytes: int
    layers: tuple[CacheNeed, ...] | None
    work: tuple[WorkPoint, ...]
    longest_context: int | None
    unknown: str = ""
    repacked: str = ""
    sight: tuple[SightPoint, ...] = ()

    def cache_bytes(self, context: int) -> int | None:
        """Return the bytes of all caches with a context of `context` tokens, or None if unknown."""
        if self.layers is None:
            return None
        total = 0
        for layer, count in self._different_layers.items():
            nbytes = layer.nbytes(context)
            if nbytes is None:
                return None
            total += count * nbytes
        return total

    @cached_property
    def _different_layers(self) -> Mapping[CacheNeed, int]:
        """How many layers have each cache."""
        return Counter(self.layers or ())

    def work_bytes(self, context: int, chunk: int, pixels: int = USUAL_IMAGE) -> int | None:
        """Return the work memory of filling a context, in which there may be images, and decoding; None if unknown.

        Args:
            context: Tokens of the context.
            chunk: Tokens that are fed at a time.
            pixels: Of the largest image.
        """
        if not self.sight:
            return self.text_work_bytes(context, chunk)
        whole = min(context, max(chunk, self._of_image(pixels, lambda point: point.whole)))
        work = self.text_work_bytes(context, whole)
        if work is None:
            return None
        held = self._of_image(pixels, lambda point: point.features)
        return max(work + held, self._of_image(pixels, lambda point: point.nbytes))

    def _of_image(self, pixels: int, amount: Callable[[SightPoint], int]) -> int:
        """Interpolate between the samples for images."""
        return _line([(point.pixels, amount(point)) for point in self.sight], min(pixels, self.sight[-1].pixels))

    def text_work_bytes(self, context: int, chunk: int) -> int | None:
        """Return the work memory of filling a context in chunks and then decoding; None if unknown.

        It is interpolated between samples. As the real curve is the maximum of several lines, the interpolation is
        never below it. It never decreases with a longer context or a larger chunk.
        """
        if not self.work:
            return None
        least, columns = 0, []
        for size, row in self._work_by_chunk.items():
            least = max(least, _line(row, context))
            columns.append((size, least))
        return _line(columns, chunk)

    @cached_property
    def _work_by_chunk(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """Contexts and bytes for each size of chunk, in order; the bytes never decrease."""
        rows: dict[int, dict[int, int]] = {}
        for point in sorted(self.work, key=lambda point: (point.chunk, point.context)):
            row = rows.setdefault(point.chunk, {})
            row[point.context] = max([point.nbytes, *row.values()])
        return {size: list(row.items()) for size, row in rows.items()}


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
