"""What a model sees: the features of images, computed in steps and kept for later prompts.

The features of an image are needed once for each prompt that shows it and whose tokens are not cached. Requests that
show the same image at the same time share the work on it.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from weakref import WeakValueDictionary

import mlx.core as mx

from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.towers.tower import Features, Steps, Tower, normalised
from sotto.engine.vision.image_reader import ImageReader, ReadImage
from sotto.engine.vision.prompt_images import PlacedImage, Positions

# The part of the budget for caches that features of images may take.
_SHARE = 8


class Looking:
    """The work on one image.

    Attributes:
        features: What was seen; None until the work is done.
    """

    def __init__(self, tower: Tower, reader: ImageReader, image: ReadImage) -> None:
        """Begin; `step` does the work."""
        self._tower = tower
        self._reader = reader
        self._image = image
        self._steps = self._begin()
        self.features: Features | None = None

    def step(self) -> bool:
        """Compute the next part, and return whether the work is done; if it fails, others who share it begin anew."""
        if self.features is None:
            try:
                self.features = self._next()
            except Exception:
                self._steps = self._begin()
                raise
        return self.features is not None

    def _next(self) -> Features | None:
        try:
            part = next(self._steps)
        except StopIteration as end:
            features: Features = end.value
            mx.eval(features.arrays)
            return features
        mx.eval(part)
        return None

    def _begin(self) -> Steps:
        tiles = [normalised(tile, self._reader.normalization) for tile in self._image.tiles]
        return self._tower.steps(tiles, self._image.layout)


class Vision:
    """The tower of a loaded model, and what it has seen. Belongs to the thread that owns MLX.

    Attributes:
        reader: How the model takes images.
    """

    def __init__(
        self, tower: Tower, reader: ImageReader, budget: Callable[[], int], count: Callable[[object, int], None]
    ) -> None:
        """Start without images.

        Args:
            tower: The model's tower.
            reader: How the model takes images.
            budget: Returns the bytes of all caches of the model; a part of them is for features.
            count: Is told how many bytes of features are held, for an owner.
        """
        self.reader = reader
        self._tower = tower
        self._budget = budget
        self._count = count
        self._kept: OrderedDict[str, Features] = OrderedDict()
        self._looking: WeakValueDictionary[str, Looking] = WeakValueDictionary()

    @property
    def nbytes(self) -> int:
        """Bytes of all features that are kept."""
        return sum(features.nbytes for features in self._kept.values())

    def look(self, image: ReadImage) -> Features | Looking:
        """Return the features of an image, or the work on it. Who keeps that, keeps it from being forgotten."""
        features = self._kept.get(image.key)
        if features is not None:
            self._kept.move_to_end(image.key)
            return features
        looking = self._looking.get(image.key)
        if looking is None:
            looking = Looking(self._tower, self.reader, image)
            self._looking[image.key] = looking
        return looking

    def keep(self, image: ReadImage, features: Features) -> None:
        """Keep the features of an image for later prompts, as far as there is room."""
        self._kept[image.key] = features
        self._kept.move_to_end(image.key)
        while len(self._kept) > 1 and self.nbytes > self._budget() // _SHARE:
            self._kept.popitem(last=False)
        self._count(self, self.nbytes)

    def clear(self) -> None:
        """Forget what was seen."""
        self._kept.clear()
        self._count(self, 0)


def view_of(
    shown: Sequence[tuple[PlacedImage, Features]],
    done: int,
    end: int,
    positions: Positions | None,
    *,
    both_ways: bool,
) -> View:
    """Return what the tokens `done` to `end` of a prompt show.

    Args:
        shown: The images in the prompt that stand between the two, at least in part.
        done: Number of tokens before the chunk.
        end: Number of tokens up to its end.
        positions: Those of the prompt; None for models that count tokens.
        both_ways: Whether the tokens of an image attend to each other in both directions.
    """
    length = end - done
    index = [0] * length
    parts = [mx.zeros_like(shown[0][1].rows[:1])]
    deep: list[list[mx.array]] = [[mx.zeros_like(layer[:1])] for layer in shown[0][1].deep]
    before = 1
    for placed, features in shown:
        for row, place in enumerate(placed.places):
            if done <= place < end:
                index[place - done] = before + row
        parts.append(features.rows)
        for layers, layer in zip(deep, features.deep, strict=True):
            layers.append(layer)
        before += len(placed.places)
    chosen = mx.array(index)
    axes = None if positions is None else mx.array([list(axis[done:end]) for axis in positions.axes])
    together = tuple((placed.start - done, placed.end - done) for placed, _ in shown) if both_ways else ()
    return View(
        features=mx.concatenate(parts)[chosen][None],
        shows=(chosen > 0)[None],
        deep=tuple(mx.concatenate(layers)[chosen][None] for layers in deep),
        positions=axes,
        together=together,
    )
