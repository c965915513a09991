"""The tower of LLaVA 1.5: CLIP or SigLIP, and a projector of two layers."""

from collections.abc import Generator, Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.architectures.towers import pixtral_tower
from sotto.engine.architectures.towers.clip import VisionEncoder, args_of, is_clip, taps_of
from sotto.engine.architectures.towers.tower import Features, Steps, Tower
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.vision_values import flag, part, whole

_LAST_BUT_ONE = -2
_ENCODER, _PROJECTOR = "vision_tower", "multi_modal_projector."


class Projector(nn.Module):  # type: ignore[misc]
    """From hidden states of an encoder to features."""

    def __init__(self, config: Mapping[str, Any], width: int) -> None:
        """Build the module without its weights.

        Args:
            config: The model's config.
            width: Of the hidden states.

        Raises:
            ValueError: There is no activation of the name that the config has.
        """
        super().__init__()
        wide = whole(part(config, "text_config"), "hidden_size", 4096)
        bias = flag(config, "multimodal_projector_bias", True)
        self._activate = activation(str(config.get("projector_hidden_act") or "gelu"))
        self.linear_1 = nn.Linear(width, wide, bias=bias)
        self.linear_2 = nn.Linear(wide, wide, bias=bias)

    def __call__(self, x: mx.array) -> mx.array:
        """Return the features [N, W] of hidden states [N, D]."""
        found: mx.array = self.linear_2(self._activate(self.linear_1(x)))
        return found


class LlavaTower(nn.Module):  # type: ignore[misc]
    """CLIP or SigLIP with a projector."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        super().__init__()
        args = args_of(config)
        taps = taps_of(config, args.layers, _LAST_BUT_ONE)
        self._first = int(config.get("vision_feature_select_strategy", "default") == "default")
        self.vision_tower = VisionEncoder(args, taps, is_clip=is_clip(config))
        self.multi_modal_projector = Projector(config, len(taps) * args.width)

    def tile_steps(self, tile: mx.array) -> Generator[mx.array, None, mx.array]:
        """Compute the features [N, W] of a tile [H, W, 3]."""
        states = yield from self.vision_tower.steps(tile)
        features: mx.array = self.multi_modal_projector(mx.concatenate(states, axis=-1)[self._first :])
        return features

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts of a few layers."""
        return Features((yield from self.tile_steps(tiles[0])))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of its parameters, from those of a checkpoint."""
        plain = {name.removeprefix("model."): array for name, array in weights.items()}
        projector = {name: array for name, array in plain.items() if name.startswith(_PROJECTOR)}
        encoder: dict[str, mx.array] = self.vision_tower.sanitize(plain, _ENCODER)
        return projector | encoder


def make_tower(config: Mapping[str, Any]) -> Tower:
    """Return the tower of a model of type `llava`: LLaVA 1.5, or Pixtral as transformers names it.

    Raises:
        UnsupportedModelError: The config asks for something else than these towers do.
    """
    if part(config, "vision_config").get("model_type") == "pixtral":
        return pixtral_tower.make_tower(config)
    return LlavaTower(config)
