"""The tower of Idefics 3 and SmolVLM: SigLIP for each tile, and squares of patches joined by a projection."""

from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers.clip import VisionEncoder, args_of
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.idefics3_images import MOST_MERGED
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.llava_images import SIGLIP
from sotto.engine.vision.vision_values import part, vision_of, whole

_ENCODER, _PROJECTOR = "vision_model", "connector."
# What transformers takes for keys that are missing from a config, where SigLIP's are others.
_VALUES: Mapping[str, Any] = {"hidden_size": 1152, "num_attention_heads": 16, "patch_size": 32}


class Projection(nn.Module):  # type: ignore[misc]
    """The only layer of the connector."""

    def __init__(self, width: int, wide: int) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.proj = nn.Linear(width, wide, bias=False)


class Connector(nn.Module):  # type: ignore[misc]
    """From the hidden states of patches to features."""

    def __init__(self, config: Mapping[str, Any], width: int) -> None:
        """Build the module without its weights; `width` is that of the hidden states."""
        super().__init__()
        self._merged = whole(config, "scale_factor", 2, most=MOST_MERGED)
        wide = whole(part(config, "text_config"), "hidden_size", 4096)
        self.modality_projection = Projection(width * self._merged**2, wide)

    def __call__(self, x: mx.array) -> mx.array:
        """Return the features of a square grid `x` [N, D] of patches."""
        side, some = int(len(x) ** 0.5), self._merged
        squares = x.reshape(side // some, some, side // some, some, -1).swapaxes(1, 2)
        found: mx.array = self.modality_projection.proj(squares.reshape((side // some) ** 2, -1))
        return found


class Idefics3Tower(nn.Module):  # type: ignore[misc]
    """SigLIP with a connector."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        super().__init__()
        args = args_of({"vision_config": {"model_type": SIGLIP, **_VALUES, **vision_of(config)}})
        self.vision_model = VisionEncoder(args, [args.layers], is_clip=False, ends_in_norm=True)
        self.connector = Connector(config, args.width)

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts of a few layers."""
        seen = []
        for tile in tiles:
            (state,) = yield from self.vision_model.steps(tile)
            seen.append(self.connector(state))
            yield seen[-1]
        return Features(mx.concatenate(seen))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of its parameters, from those of a checkpoint."""
        plain = {name.removeprefix("model."): array for name, array in weights.items()}
        projector = {name: array for name, array in plain.items() if name.startswith(_PROJECTOR)}
        encoder: dict[str, mx.array] = self.vision_model.sanitize(plain, _ENCODER)
        return projector | encoder


def make_tower(config: Mapping[str, Any]) -> Idefics3Tower:
    """Return the tower of a model of type `idefics3` or `smolvlm`.

    Raises:
        UnsupportedModelError: The config asks for something else than these towers do.
    """
    return Idefics3Tower(config)
