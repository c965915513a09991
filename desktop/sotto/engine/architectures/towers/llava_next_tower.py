"""The tower of LLaVA Next and Granite Vision: that of LLaVA for each tile, whose features are joined to one grid."""

from collections.abc import Mapping
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx

from sotto.engine.architectures.towers.llava_tower import LlavaTower
from sotto.engine.architectures.towers.tower import Features, Steps
from sotto.engine.vision.image_reader import ImageLayout
from sotto.engine.vision.llava_next_images import SheetLayout
from sotto.engine.vision.vision_values import part, whole

_NEWLINE = "image_newline"


class LlavaNextTower(LlavaTower):
    """CLIP or SigLIP with a projector, for an image in tiles."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Build the module without its weights."""
        super().__init__(config)
        self.image_newline = mx.zeros(whole(part(config, "text_config"), "hidden_size", 4096))

    def steps(self, tiles: Series[mx.array], layout: ImageLayout) -> Steps:
        """Compute the features of an image, in parts of a few layers."""
        if not isinstance(layout, SheetLayout):
            raise TypeError("The layout is not of an image in tiles.")
        seen = []
        for tile in tiles:
            seen.append((yield from self.tile_steps(tile)))
            yield seen[-1]
        (down, across), (rows, columns) = layout.sheet, layout.grid
        # [tiles down, tiles across, patches down, patches across, W]
        side = int(len(seen[1]) ** 0.5)
        sheet = mx.stack(seen[1:]).reshape(down, across, side, side, -1)
        sheet = sheet.swapaxes(1, 2).reshape(down * side, across * side, -1)
        top, left = (down * side - rows) // 2, (across * side - columns) // 2
        shown = sheet[top : top + rows, left : left + columns]
        newlines = mx.broadcast_to(self.image_newline.astype(shown.dtype), (rows, 1, shown.shape[-1]))
        lines = mx.concatenate([shown, newlines], axis=1).reshape(-1, shown.shape[-1])
        return Features(mx.concatenate([seen[0], lines]))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of its parameters, from those of a checkpoint."""
        plain = {name.removeprefix("model."): array for name, array in weights.items()}
        newline = {_NEWLINE: plain[_NEWLINE]} if _NEWLINE in plain else {}
        return super().sanitize(plain) | newline


def make_tower(config: Mapping[str, Any]) -> LlavaNextTower:
    """Return the tower of a model of type `llava_next`.

    Raises:
        UnsupportedModelError: The config asks for something else than these towers do.
    """
    return LlavaNextTower(config)
