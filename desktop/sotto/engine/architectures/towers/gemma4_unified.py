"""The embedding of images in Gemma 4 models without a tower: squares of pixels, projected and given two positions."""

from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers.patch_order import patches_in_rows
from sotto.engine.architectures.towers.stepping import in_type_of
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.vision_values import real, whole
from sotto.errors import UnsupportedModelError

_CHANNELS = 3
_AXES = 2
_WIDTH = 3840


class Embedder(nn.Module):  # type: ignore[misc]
    """Normalises what a tower has seen, and projects it to the width of the language model."""

    def __init__(self, width: int, output: int, eps: float) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._eps = eps
        self.embedding_projection = nn.Linear(width, output, bias=False)

    def __call__(self, x: mx.array) -> mx.array:
        """Return features [N, output] of [N, width]."""
        features: mx.array = self.embedding_projection(mx.fast.rms_norm(x, None, self._eps))
        return features


class VisionEmbedder(nn.Module):  # type: ignore[misc]
    """Squares of pixels and the positions of their columns and rows."""

    def __init__(self, side: int, width: int, positions: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self._side = side
        self.patch_ln1 = nn.LayerNorm(_CHANNELS * side**2)
        self.patch_dense = nn.Linear(_CHANNELS * side**2, width)
        self.patch_ln2 = nn.LayerNorm(width)
        self.pos_embedding = mx.zeros((positions, _AXES, width))
        self.pos_norm = nn.LayerNorm(width)

    def __call__(self, tile: mx.array) -> mx.array:
        """Return [N, width] for an image [H, W, 3]."""
        columns, places = tile.shape[1] // self._side, mx.arange(tile.shape[0] * tile.shape[1] // self._side**2)
        x = self.patch_ln2(self.patch_dense(self.patch_ln1(patches_in_rows(tile, self._side))))
        x = x + self.pos_embedding[places % columns, 0] + self.pos_embedding[places // columns, 1]
        normed: mx.array = self.pos_norm(x)
        return normed


class UnifiedTower(nn.Module):  # type: ignore[misc]
    """What stands in the place of a tower."""

    def __init__(self, vision: Mapping[str, Any], output: int) -> None:
        """Build the module without its weights.

        Args:
            vision: The part `vision_config` of a config.
            output: The width of the language model.

        Raises:
            UnsupportedModelError: The config describes nothing of this kind.
        """
        super().__init__()
        width = whole(vision, "mm_embed_dim", _WIDTH)
        if whole(vision, "output_proj_dims", width) != width:
            raise UnsupportedModelError("output_proj_dims of its vision should be the same as mm_embed_dim.")
        side = whole(vision, "patch_size", 16, most=1024) * whole(vision, "pooling_kernel_size", 3, most=64)
        self.vision_embedder = VisionEmbedder(side, width, whole(vision, "mm_posemb_size", 1120))
        self.embed_vision = Embedder(width, output, real(vision, "rms_norm_eps", 1e-6))

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in one part."""
        hidden = self.vision_embedder(in_type_of(tiles[0], self.vision_embedder.pos_norm.weight))
        yield hidden
        return Features(self.embed_vision(hidden))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return a checkpoint's weights by the names of the parameters."""
        return {name.removeprefix("model."): array for name, array in weights.items()}
