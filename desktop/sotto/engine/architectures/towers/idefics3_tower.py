"""The tower of Idefics 3 and SmolVLM: SigLIP for each tile, and squares of patches joined by a projection."""

from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers.clip import VisionEncoder, checked, encoder_config, sanitize_encoder
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.image_reader import ImageLayout

_ENCODER, _PROJECTOR = "vision_model", "connector."


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
        self._merged = checked(config, "scale_factor", 2)
        wide = checked(config.get("text_config") or {}, "hidden_size", 4096)
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
        vision = encoder_config({"vision_config": {"model_type": "idefics3_vision", **config.get("vision_config", {})}})
        self.vision_model = VisionEncoder(vision, [checked(vision, "num_hidden_layers")], ends_in_norm=True)
        self.connector = Connector(config, checked(vision, "hidden_size"))

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
        return projector | sanitize_encoder(plain, _ENCODER, self.vision_model)


def make_tower(config: Mapping[str, Any]) -> Idefics3Tower:
    """Return the tower of a model of type `idefics3` or `smolvlm`.

    Raises:
        UnsupportedModelError: The config asks for something else than these towers do.
    """
    return Idefics3Tower(config)
