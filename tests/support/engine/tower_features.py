"""What a tower sees, without an engine around it."""

from collections.abc import Sequence as Series

import mlx.core as mx

from sotto.engine.architectures.towers.tower import Features, Tower
from sotto.engine.vision.image_reader import ImageLayout


def features_of(tower: Tower, tiles: Series[mx.array], layout: ImageLayout) -> Features:
    """Return the features of an image, all computed at once."""
    steps = tower.steps(tiles, layout)
    while True:
        try:
            mx.eval(next(steps))
        except StopIteration as end:
            features: Features = end.value
            mx.eval(features.arrays)
            return features
