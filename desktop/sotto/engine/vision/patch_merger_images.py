"""Images for Qwen's and GLM's models, which keep their proportions and as many pixels as the files of a model allow.

An image becomes a grid of patches, of which each square of a few becomes one token. Qwen2-VL, Qwen2.5-VL, Qwen3-VL,
Qwen 3.5 and GLM-OCR differ only in figures and marks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.engine.vision.patch_geometry import geometry_of
from sotto.engine.vision.preprocessor_settings import (
    CLIP_MEAN,
    CLIP_STD,
    HALF,
    must_be,
    normalization_of,
    refuse_narrow,
    resample_of,
)
from sotto.engine.vision.resizing import BICUBIC, resize
from sotto.engine.vision.vision_values import part, whole
from sotto.errors import UnsupportedModelError
from sotto.images.decoded_image import DecodedImage
from sotto.store.printable import printable

_CLIP, _HALF = Normalization(CLIP_MEAN, CLIP_STD), Normalization(HALF, HALF)
# More than in any existing model. A file beyond that is damaged, or meant to exhaust the machine.
_MOST_PIXELS = 1 << 26


@dataclass(frozen=True, slots=True)
class _Family:
    """What models have whose files do not say.

    Attributes:
        normalization: How pixels are scaled.
        least: The fewest pixels of an image.
        most: The most pixels.
        start: The mark before an image.
        slot: The token in whose place a row of features stands.
        end: The mark after an image.
        counts_frames: Whether `least` and `most` count pixels of two equal frames, and small images are enlarged first.
    """

    normalization: Normalization
    least: int
    most: int
    start: str = "<|vision_start|>"
    slot: str = "<|image_pad|>"
    end: str = "<|vision_end|>"
    counts_frames: bool = False


_QWEN2 = _Family(_CLIP, 56 * 56, 28 * 28 * 16384)
_QWEN3 = _Family(_HALF, 256 * 256, 4096 * 4096)
_GLM = _Family(
    _CLIP, 112 * 112, 28 * 28 * 12288, "<|begin_of_image|>", "<|image|>", "<|end_of_image|>", counts_frames=True
)
_FAMILIES = {"qwen2_vl": _QWEN2, "qwen2_5_vl": _QWEN2, "glm_ocr": _GLM}


@dataclass(frozen=True, slots=True)
class PatchMergerImages:
    """Reads images; see `ImageReader`.

    Attributes:
        family: What the family has.
        normalization: What the tower does first with pixels.
        unit: Pixels along each side of what becomes one token.
        least: The fewest pixels of an image; those of GLM count once for each frame of a patch.
        most: The most pixels.
        frames: How many equal frames a patch has.
        resample: How pixels are interpolated, as a number of Pillow's.
    """

    family: _Family
    normalization: Normalization
    unit: int
    least: int
    most: int
    frames: int
    resample: int
    both_ways = False
    multi_axis = True

    @property
    def placeholder(self) -> str:
        """What stands for an image in a template that knows nothing of images."""
        return self.family.start + self.family.slot + self.family.end

    @property
    def mark(self) -> str:
        """What templates print between the marks around an image."""
        return self.family.slot

    @property
    def slot(self) -> str:
        """The text of the token in whose place a row of features stands."""
        return self.family.slot

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image of so many pixels stands in a prompt.

        Raises:
            InvalidRequestError: One side is too long for the other.
        """
        width, height = self._size(width, height)
        grid = (height // self.unit, width // self.unit)
        rows = grid[0] * grid[1]
        return ImageLayout(self.slot * rows, rows, grid, ((width, height),))

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the image, resized."""
        return (resize(image, *self._size(image.width, image.height), self.resample),)

    def _size(self, width: int, height: int) -> tuple[int, int]:
        """Return the width and height that an image is resized to: multiples of the unit, near its proportions."""
        refuse_narrow(width, height)
        unit, times = self.unit, self.frames if self.family.counts_frames else 1
        if self.family.counts_frames and min(width, height) < unit:
            scale = max(unit / height, unit / width)
            width, height = int(width * scale), int(height * scale)
        # Halves are rounded to even numbers, as by the makers.
        wide, high = round(width / unit) * unit, round(height / unit) * unit
        if times * wide * high > self.most:
            shrinking = math.sqrt(times * width * height / self.most)
            wide, high = (max(unit, math.floor(side / shrinking / unit) * unit) for side in (width, height))
        elif times * wide * high < self.least:
            growing = math.sqrt(self.least / (times * width * height))
            wide, high = (math.ceil(side * growing / unit) * unit for side in (width, height))
        return wide, high


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> PatchMergerImages | None:
    """Return what reads images for a model; None if it has no tower, as models of the same type for text alone.

    Raises:
        UnsupportedModelError: The files ask for something that it does not do.
    """
    geometry = geometry_of(config)
    if geometry is None:
        return None
    family = _FAMILIES.get(config["model_type"], _QWEN3)
    must_be(preprocessor, "do_resize", value=True)
    wanted = {"patch_size": geometry.patch, "merge_size": geometry.merge, "temporal_patch_size": geometry.frames}
    for key, value in wanted.items():
        if preprocessor.get(key) not in (None, value):
            raise UnsupportedModelError(
                f"{key} in its preprocessor_config.json is {printable(str(preprocessor[key])[:40])}; it should be "
                f"{value}, as in its config.json."
            )
    # Older files have the bounds outside of `size`, and some have them in both places under their older names.
    values = {**part(preprocessor, "size"), **preprocessor}
    least = whole(values, "shortest_edge", family.least, most=_MOST_PIXELS)
    least = whole(values, "min_pixels", least, most=_MOST_PIXELS)
    most = whole(values, "longest_edge", family.most, most=_MOST_PIXELS)
    most = whole(values, "max_pixels", most, most=_MOST_PIXELS)
    if most < max(least, geometry.unit**2):
        raise UnsupportedModelError(
            f"Its preprocessor_config.json allows {most:,} pixels at most; it should be {least:,} or more."
        )
    normalization = normalization_of(preprocessor, family.normalization.mean, family.normalization.std)
    resample = resample_of(preprocessor, BICUBIC)
    return PatchMergerImages(family, normalization, geometry.unit, least, most, geometry.frames, resample)
