"""What all vision towers have in common: what they take and give, and how their work is divided into steps."""

from collections.abc import Generator
from collections.abc import Sequence as Series
from dataclasses import dataclass
from typing import Any, Protocol

import mlx.core as mx

from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.images.decoded_image import DecodedImage


@dataclass(frozen=True, slots=True)
class Features:
    """What a tower has seen in one image.

    Attributes:
        rows: [N, D], in the place of the embeddings of N tokens, before any scaling of embeddings by the model.
        deep: Each [N, D], to be added to the hidden states after the first layers of the model (deepstack).
    """

    rows: mx.array
    deep: tuple[mx.array, ...] = ()

    @property
    def arrays(self) -> list[mx.array]:
        """All its arrays."""
        return [self.rows, *self.deep]

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(array.nbytes for array in self.arrays)


Steps = Generator[mx.array, None, Features]
"""The work on one image: yields arrays to evaluate, each after a part of it, and returns the features."""


class Tower(Protocol):
    """A vision tower with its projector. A module of MLX, whose parameters have the names of the checkpoint."""

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts of a few layers.

        Args:
            tiles: Its pieces, each [H, W, 3], normalised.
            layout: How it stands in the prompt.
        """

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of its parameters, from those of a checkpoint."""


def normalised(tile: DecodedImage, normalization: Normalization) -> mx.array:
    """Return the pixels of a piece as float32 [H, W, 3]."""
    read: Any = memoryview(tile.pixels)
    pixels = mx.array(read).reshape(tile.height, tile.width, 3)
    mean, std = mx.array(normalization.mean), mx.array(normalization.std)
    return (pixels.astype(mx.float32) / 255 - mean) / std
