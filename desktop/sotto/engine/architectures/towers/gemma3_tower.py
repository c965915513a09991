"""The vision tower of Gemma 3: SigLIP, whose patches are averaged in squares, normalised and projected."""

from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers.siglip import SiglipArgs, SiglipTower, sanitize
from sotto.engine.architectures.towers.stepping import in_type_of
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.gemma3_images import Grid
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.vision_values import part, vision_of, whole

_PROJECTION = "multi_modal_projector.mm_input_projection"


class SoftNorm(nn.Module):  # type: ignore[misc]
    """An RMS norm whose weight is stored less 1."""

    def __init__(self, width: int, eps: float) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.weight = mx.zeros((width,))
        self._eps = eps

    def __call__(self, x: mx.array) -> mx.array:
        """Return `x` normalised along its last axis."""
        return mx.fast.rms_norm(x, 1 + self.weight, self._eps)


class Projector(nn.Module):  # type: ignore[misc]
    """Averages squares of patches, and projects each square to the width of the language model."""

    def __init__(self, args: SiglipArgs, grid: Grid, output: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._grid = grid
        self.mm_input_projection = nn.Linear(args.width, output, bias=False)
        self.mm_soft_emb_norm = SoftNorm(args.width, args.eps)

    def __call__(self, x: mx.array) -> mx.array:
        """Return features [N, D] of hidden states [1, patches, width]."""
        tokens, size = self._grid.tokens, self._grid.square
        # As many patches as squares cover; a rest at the right and at the bottom is not seen.
        seen = x.reshape(self._grid.patches, self._grid.patches, -1)[: tokens * size, : tokens * size]
        squares = seen.reshape(tokens, size, tokens, size, -1).mean(axis=(1, 3))
        normed = self.mm_soft_emb_norm(squares.reshape(tokens * tokens, -1))
        features: mx.array = self.mm_input_projection(normed)
        return features


class Gemma3Tower(nn.Module):  # type: ignore[misc]
    """The tower and its projector."""

    def __init__(self, args: SiglipArgs, grid: Grid, output: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.vision_tower = SiglipTower(args)
        self.multi_modal_projector = Projector(args, grid, output)

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts."""
        model = self.vision_tower.vision_model
        tile = in_type_of(tiles[0], model.post_layernorm.weight)
        hidden = yield from model.steps(model.embeddings(tile))
        return Features(self.multi_modal_projector(hidden))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return a checkpoint's weights by the names and with the shapes of the tower's parameters."""
        found = sanitize(weights)
        if (projection := found.pop(f"{_PROJECTION}_weight", None)) is not None:
            # A layer has its weight the other way round, and is computed by the native products.
            found[f"{_PROJECTION}.weight"] = mx.contiguous(projection.T)
        return found


def make_tower(config: Mapping[str, Any]) -> Gemma3Tower:
    """Return the tower of a model without its weights.

    Raises:
        UnsupportedModelError: Its config describes no tower of this kind.
    """
    grid = Grid.of(config)
    args = SiglipArgs.of(vision_of(config), grid.patches**2)
    return Gemma3Tower(args, grid, whole(part(config, "text_config"), "hidden_size", 2304))
