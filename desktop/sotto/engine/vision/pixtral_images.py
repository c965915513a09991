"""How Pixtral and Mistral 3 take images: in their own proportions, with a mark at the end of each row of features."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision import resizing
from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.engine.vision.preprocessor_settings import (
    CLIP_MEAN,
    CLIP_STD,
    MOST_PIXELS,
    must_be,
    normalization_of,
    refuse_many,
    refuse_narrow,
    resample_of,
    sides,
)
from sotto.engine.vision.vision_values import vision_of, whole
from sotto.errors import UnsupportedModelError
from sotto.images.decoded_image import DecodedImage

_SLOT, _BREAK, _END = "[IMG]", "[IMG_BREAK]", "[IMG_END]"
MOST_MERGED = 8


@dataclass(frozen=True, slots=True)
class PixtralReader:
    """Reads images for Pixtral and Mistral 3.

    Attributes:
        height: The maximum height of an image; larger ones are reduced.
        width: Their maximum width.
        unit: Pixels along a side of what becomes one feature.
    """

    normalization: Normalization
    height: int
    width: int
    unit: int
    resample: int
    placeholder: str = _SLOT
    mark: str = _SLOT
    slot: str = _SLOT
    both_ways: bool = False
    multi_axis: bool = False

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image of so many pixels stands in a prompt."""
        refuse_narrow(width, height)
        ratio = max(height / self.height, width / self.width)
        if ratio > 1:
            height, width = max(1, math.floor(height / ratio)), max(1, math.floor(width / ratio))
        rows, columns = -(-height // self.unit), -(-width // self.unit)
        markup = _BREAK.join([_SLOT * columns] * rows) + _END
        return ImageLayout(markup, rows * columns, (rows, columns), ((columns * self.unit, rows * self.unit),))

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the image, resized to whole features."""
        ((width, height),) = self.lay_out(image.width, image.height).tiles
        return (resizing.resize(image, width, height, self.resample),)


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> PixtralReader:
    """Return what reads images for a model with Pixtral's tower.

    Raises:
        UnsupportedModelError: The files ask for something else than these models do.
    """
    must_be(preprocessor, "do_resize", value=True)
    must_be(preprocessor, "do_center_crop", value=False)
    vision = vision_of(config)
    patch = whole(vision, "patch_size", 16, most=MOST_PIXELS)
    merged = whole(config, "spatial_merge_size", 2, most=MOST_MERGED) if is_merged(config) else 1
    size = sides(preprocessor, "size", {"longest_edge": whole(vision, "image_size", 1024, most=MOST_PIXELS)})
    longest = size.get("longest_edge")
    height, width = size.get("height", longest), size.get("width", longest)
    if height is None or width is None:
        raise UnsupportedModelError("size in the settings for images should have longest_edge, or height and width.")
    unit = patch * merged
    refuse_many((-(-height // unit)) * (-(-width // unit)))
    normalization = normalization_of(preprocessor, CLIP_MEAN, CLIP_STD)
    return PixtralReader(normalization, height, width, unit, resample_of(preprocessor, resizing.BICUBIC))


def is_merged(config: Mapping[str, Any]) -> bool:
    """Return whether several patches are merged into one feature, as since Mistral 3."""
    return config.get("model_type") == "mistral3"
