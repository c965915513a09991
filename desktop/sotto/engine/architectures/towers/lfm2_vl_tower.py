"""The vision tower of LFM2-VL: SigLIP 2 for images of any proportions, and a projector that joins neighbours.

As in "SigLIP 2: Multilingual Vision-Language Encoders" (arXiv 2502.14786): the positions that were learned for a square
are resized to the shape of each image.
"""

import math
from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.architectures.towers.siglip import SiglipArgs, SiglipTower, sanitize
from sotto.engine.architectures.towers.stepping import in_type_of
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.vision_values import flag, part, vision_of, whole
from sotto.errors import UnsupportedModelError


class Projector(nn.Module):  # type: ignore[misc]
    """Joins squares of patches, and projects each square to the width of the language model."""

    def __init__(self, config: Mapping[str, Any], width: int) -> None:
        """Build the module without its weights.

        Args:
            config: The model's config.
            width: Of the tower's hidden states.

        Raises:
            UnsupportedModelError: The config describes no projector of this kind.
            ValueError: There is no activation of that name.
        """
        super().__init__()
        self._size = whole(config, "downsample_factor", 2, most=64)
        self._activate = activation(str(config.get("projector_hidden_act") or "gelu"))
        joined, hidden = width * self._size**2, whole(config, "projector_hidden_size", 2560)
        bias, output = flag(config, "projector_bias", True), whole(part(config, "text_config"), "hidden_size", 2560)
        if flag(config, "projector_use_layernorm", True):
            self.layer_norm = nn.LayerNorm(joined)
        self.linear_1 = nn.Linear(joined, hidden, bias=bias)
        self.linear_2 = nn.Linear(hidden, output, bias=bias)

    def __call__(self, x: mx.array, rows: int, columns: int) -> mx.array:
        """Return features [N, D] of the hidden states [1, rows * columns, width] of a piece."""
        size = self._size
        squares = x.reshape(rows // size, size, columns // size, size, -1).transpose(0, 2, 1, 3, 4)
        joined = squares.reshape(rows * columns // size**2, -1)
        if "layer_norm" in self:
            joined = self.layer_norm(joined)
        features: mx.array = self.linear_2(self._activate(self.linear_1(joined)))
        return features


class Lfm2VlTower(nn.Module):  # type: ignore[misc]
    """The tower and its projector."""

    def __init__(self, config: Mapping[str, Any], args: SiglipArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._patch = args.patch
        self.vision_tower = SiglipTower(args)
        self.multi_modal_projector = Projector(config, args.width)

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts."""
        model = self.vision_tower.vision_model
        rows = []
        for tile in tiles:
            shape = (tile.shape[0] // self._patch, tile.shape[1] // self._patch)
            positions = resized(model.embeddings.positions, *shape)
            typed = in_type_of(tile, model.post_layernorm.weight)
            steps = model.steps(model.embeddings.patches(typed) + positions)
            rows.append(self.multi_modal_projector((yield from steps), *shape))
            yield rows[-1]
        return Features(mx.concatenate(rows))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return a checkpoint's weights by the names and with the shapes of the tower's parameters."""
        return sanitize(weights)


def make_tower(config: Mapping[str, Any]) -> Lfm2VlTower:
    """Return the tower of a model without its weights.

    Raises:
        UnsupportedModelError: Its config describes no tower of this kind.
    """
    vision = vision_of(config)
    positions = whole(vision, "num_patches", 256)
    if math.isqrt(positions) ** 2 != positions:
        raise UnsupportedModelError(f"num_patches of its vision is {positions}; it should be the square of a number.")
    return Lfm2VlTower(config, SiglipArgs.of(vision, positions))


def resized(positions: mx.array, rows: int, columns: int) -> mx.array:
    """Return learned positions [N, D] of a square, resized to an image of so many patches, [rows * columns, D].

    Each is an average of its neighbours along each axis, of more of them where the image has fewer patches than were
    learned: bilinear interpolation with antialiasing.
    """
    side = math.isqrt(positions.shape[0])
    square = positions.astype(mx.float32).reshape(side, side, -1)
    along_columns = mx.tensordot(_weights(side, columns), square, [[1], [1]]).swapaxes(0, 1)
    both = mx.tensordot(_weights(side, rows), along_columns, [[1], [0]])
    return both.reshape(rows * columns, -1).astype(positions.dtype)


def _weights(side: int, length: int) -> mx.array:
    """Return how much each of `side` positions counts for each of `length` new ones, [length, side]."""
    scale = side / length
    centres = (mx.arange(length) + 0.5) * scale - 0.5
    weights = mx.maximum(1 - mx.abs(mx.arange(side) - centres[:, None]) / max(scale, 1), 0)
    return weights / weights.sum(axis=1, keepdims=True)
