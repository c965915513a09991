"""Images for Gemma 4: of any proportions, as large as a budget of tokens allows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.engine.vision.preprocessor_settings import normalization_of, resample_of
from sotto.engine.vision.resizing import BICUBIC, resize
from sotto.engine.vision.vision_values import flag, part, vision_of, whole
from sotto.errors import UnsupportedModelError
from sotto.images.decoded_image import DecodedImage

_START, _SLOT, _END = "<|image>", "<|image|>", "<image|>"
_BUDGETS = (70, 140, 280, 560, 1120)
_NONE, _ONE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
_UNIFIED = "gemma4_unified"


@dataclass(frozen=True, slots=True)
class Gemma4Images:
    """Reads images for Gemma 4; see `ImageReader`.

    Attributes:
        normalization: What the tower does first with pixels.
        both_ways: Whether the tokens of an image attend to each other in both directions.
        side: Pixels along each side of the square that becomes one token.
        budget: The most tokens of an image.
        resample: How pixels are interpolated.
    """

    normalization: Normalization
    both_ways: bool
    side: int
    budget: int
    resample: int
    placeholder = _SLOT
    mark = _SLOT
    slot = _SLOT
    multi_axis = False

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image of so many pixels stands in a prompt."""
        columns, rows = self._grid(width, height)
        count = rows * columns
        return ImageLayout(
            f"{_START}{_SLOT * count}{_END}", count, (rows, columns), ((columns * self.side, rows * self.side),)
        )

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the image, resized."""
        columns, rows = self._grid(image.width, image.height)
        return (resize(image, columns * self.side, rows * self.side, self.resample),)

    def _grid(self, width: int, height: int) -> tuple[int, int]:
        """Return columns and rows of tokens: the proportions of the image, and at most as many as the budget allows."""
        # In the order of transformers' operations, so that rounding is the same.
        factor = math.sqrt(self.budget * self.side**2 / (height * width))
        rows, columns = math.floor(factor * height / self.side), math.floor(factor * width / self.side)
        if rows == 0:
            return min(width // height, self.budget), 1
        if columns == 0:
            return 1, min(height // width, self.budget)
        return columns, rows


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> Gemma4Images:
    """Return what reads images for a model.

    Raises:
        UnsupportedModelError: The files ask for something that it does not do.
    """
    vision = vision_of(config)
    patch, pooled = whole(vision, "patch_size", 16, most=1024), whole(vision, "pooling_kernel_size", 3, most=64)
    if (
        whole(preprocessor, "patch_size", patch) != patch
        or whole(preprocessor, "pooling_kernel_size", pooled) != pooled
    ):
        raise UnsupportedModelError(
            "patch_size and pooling_kernel_size in its preprocessor_config.json should be those in its config.json."
        )
    budget = whole(preprocessor, "max_soft_tokens", 280)
    if budget not in _BUDGETS:
        raise UnsupportedModelError(
            f"max_soft_tokens in its preprocessor_config.json is {budget}; it should be one of "
            f"{', '.join(map(str, _BUDGETS))}."
        )
    if not flag(preprocessor, "do_resize", True):
        raise UnsupportedModelError("Its preprocessor_config.json should resize images (do_resize).")
    sees_both_ways = part(config, "text_config").get(
        "use_bidirectional_attention", "vision" if config.get("model_type") == _UNIFIED else None
    )
    return Gemma4Images(
        normalization_of({"do_normalize": False, **preprocessor}, _NONE, _ONE),
        sees_both_ways == "vision",
        patch * pooled,
        budget,
        resample_of(preprocessor, BICUBIC),
    )
