"""How much memory a vision tower needs for an image beside its weights, traced like the passes of a language model.

The layers of a tower are alike, so of a large image only the first steps are traced, which is a matter of seconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten, tree_unflatten

from sotto.engine.architectures.towers.tower import Features, Tower
from sotto.engine.footprint.graph import Graph, trace
from sotto.engine.footprint.graph_memory import stepwise_peak
from sotto.engine.footprint.task_sizes import pace_here
from sotto.engine.memory.memory_needs import USUAL_IMAGE, SightPoint
from sotto.engine.vision.image_reader import ImageLayout, ImageReader
from sotto.errors import InvalidRequestError

# Pixels of images that are tried, each with four times those of the one before; no reader distinguishes larger ones.
_SIZES = tuple(1 << power for power in range(16, 28, 2))
# Images of equal size may be divided into more or fewer pieces by their proportions.
_PROPORTIONS = (1.0, 0.5, 2.0)
_MOST_OPERATIONS, _MOST_OF_LARGE = 30_000, 3_000
# Three channels in 32 bits.
_PIXEL_BYTES = 12
# A generator may hold so many arrays longer than it needs them: the keys, the values and the hidden states of the layer
# before.
_HELD = 3


def sight_points(tower: Tower, reader: ImageReader) -> Iterator[SightPoint]:
    """Yield samples of what seeing an image needs, the smallest first; larger ones than the last need no more.

    An image never needs less than a smaller one.

    Args:
        tower: A tower whose parameters have their final types and shapes; never evaluated.
        reader: What reads images for it.
    """
    before: ImageLayout | None = None
    made, steps, per_row, by_pixel = SightPoint(1, 0, 0), None, 0, 0.0
    for pixels in _SIZES:
        layout = largest_layout(reader, pixels)
        if layout is None or layout == before:
            continue
        traced = _traced(tower, layout, steps)
        needed = stepwise_peak(traced.graph, traced.kept, pace_here()) + traced.held
        if traced.kept:
            per_row, by_pixel = -(-traced.features // layout.rows), needed / _largest_tile(layout)
        features = per_row * layout.rows
        if not traced.kept:
            # Layers that attend to a whole image may come late. As steps are of about the same size, what these need
            # grows no faster than the image. Tiles are seen one after the other, and the features of each are held.
            needed = max(needed, round(by_pixel * _largest_tile(layout))) + features
        # Pixels are held until the work is done.
        needed += _PIXEL_BYTES * _size(layout)
        whole = layout.rows if reader.both_ways else 0
        made = SightPoint(pixels, max(made.nbytes, needed), max(made.features, features), max(made.whole, whole))
        yield made
        before = layout
        most = _MOST_OPERATIONS if pixels < USUAL_IMAGE else _MOST_OF_LARGE
        steps = max(1, most * traced.steps // len(traced.graph.operations))


def largest_layout(reader: ImageReader, pixels: int) -> ImageLayout | None:
    """Return the layout with most pixels of an image of so many; None if the reader takes none of that size."""
    found = []
    for proportion in _PROPORTIONS:
        width = max(1, round((pixels * proportion) ** 0.5))
        try:
            found.append(reader.lay_out(width, max(1, pixels // width)))
        except InvalidRequestError:
            continue
    return max(found, key=lambda layout: (_size(layout), layout.rows), default=None)


def _size(layout: ImageLayout) -> int:
    """Return how many pixels a tower sees of an image."""
    return sum(width * height for width, height in layout.tiles)


def _largest_tile(layout: ImageLayout) -> int:
    """Return how many pixels the largest piece of an image has."""
    return max(width * height for width, height in layout.tiles)


@dataclass(frozen=True, slots=True)
class _Traced:
    """The work on an image, perhaps without its end.

    Attributes:
        graph: Its outputs are the arrays that are evaluated one after the other, and then the features.
        kept: How many of the outputs are features; 0 without the end.
    """

    graph: Graph
    kept: int

    @property
    def steps(self) -> int:
        """How many times something is evaluated."""
        return len(self.graph.outputs) - self.kept + 1

    @property
    def features(self) -> int:
        """Bytes of the features."""
        return sum(self._sizes()[self.steps - 1 :])

    @property
    def held(self) -> int:
        """Bytes that may be held longer than needed."""
        return sum(sorted(self._sizes()[: self.steps - 1], reverse=True)[:_HELD])

    def _sizes(self) -> list[int]:
        sizes = []
        for name in self.graph.outputs:
            nbytes = self.graph.itemsizes[name]
            for side in self.graph.shapes[name]:
                nbytes *= side
            sizes.append(nbytes)
        return sizes


def _traced(tower: Tower, layout: ImageLayout, most: int | None) -> _Traced:
    """Return the work on an image, or its first `most` steps."""
    module: nn.Module = tower
    parameters = tree_flatten(module.parameters())
    names = [name for name, _ in parameters]
    count, kept = len(layout.tiles), 0

    def see(*arrays: mx.array) -> list[mx.array]:
        nonlocal kept
        module.update(tree_unflatten(list(zip(names, arrays[count:], strict=True))))
        evaluated: list[mx.array] = []
        steps = tower.steps(arrays[:count], layout)
        try:
            while most is None or len(evaluated) < most:
                evaluated.append(next(steps))
        except StopIteration as end:
            features: Features = end.value
            kept = len(features.arrays)
            evaluated += features.arrays
        return evaluated

    tiles = [mx.zeros((height, width, 3)) for width, height in layout.tiles]
    try:
        return _Traced(trace(see, tiles, [array for _, array in parameters]), kept)
    finally:
        module.update(tree_unflatten(parameters))
