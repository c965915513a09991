"""How LLaVA Next and Granite Vision take images: the whole image as a small square, then tiles of it enlarged.

The best of the resolutions that the config lists is chosen by an image's proportions. The features of all tiles form
one grid, whose rows and columns over the padding are left out; each row of it ends in a feature for a new line.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision import resizing
from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.engine.vision.llava_images import SLOT, SquareEncoder, square_encoder
from sotto.engine.vision.preprocessor_settings import (
    MOST_PIXELS,
    must_be,
    refuse_many,
    refuse_narrow,
    resample_of,
    square,
)
from sotto.engine.vision.vision_values import whole
from sotto.errors import UnsupportedModelError
from sotto.images.decoded_image import DecodedImage

_RESOLUTIONS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
_MOST_RESOLUTIONS = 256


@dataclass(frozen=True, slots=True)
class SheetLayout(ImageLayout):
    """How an image stands in a prompt that is divided into tiles after the whole; its `grid` is without the padding.

    Attributes:
        sheet: Rows and columns of tiles.
    """

    sheet: tuple[int, int]


@dataclass(frozen=True, slots=True)
class LlavaNextReader:
    """Reads images for LLaVA Next.

    Attributes:
        resolutions: The sizes that an image may be brought to, each height and width.
    """

    encoder: SquareEncoder
    normalization: Normalization
    resolutions: tuple[tuple[int, int], ...]
    resample: int
    placeholder: str = f"{SLOT}\n"
    mark: str = SLOT
    slot: str = SLOT
    both_ways: bool = False
    multi_axis: bool = False

    def lay_out(self, width: int, height: int) -> SheetLayout:
        """Return how an image of so many pixels stands in a prompt."""
        refuse_narrow(width, height)
        side, patches = self.encoder.side, self.encoder.grid
        tall, wide = self._best(width, height)
        down, across = tall // side, wide // side
        grid = _unpadded(width, height, across * patches, down * patches)
        rows = self.encoder.rows + grid[0] * (grid[1] + 1)
        return SheetLayout(SLOT * rows, rows, grid, ((side, side),) * (1 + down * across), (down, across))

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the whole image as a square, and its tiles."""
        side = self.encoder.side
        tall, wide = self._best(image.width, image.height)
        enlarged = resizing.resize(image, *_within(image.width, image.height, wide, tall), self.resample)
        # The margins are those of transformers, which computes the size a second time.
        width, height = _within(enlarged.width, enlarged.height, wide, tall)
        sheet = resizing.cut(enlarged, -((wide - width) // 2), -((tall - height) // 2), wide, tall)
        return (resizing.resize(image, side, side, self.resample), *resizing.tiled(sheet, side, side))

    def _best(self, width: int, height: int) -> tuple[int, int]:
        """Return the height and width of the resolution that shows most of an image and wastes least."""

        def worth(resolution: tuple[int, int]) -> tuple[int, int]:
            tall, wide = resolution
            scale = min(wide / width, tall / height)
            shown = min(int(width * scale) * int(height * scale), width * height)
            return shown, shown - wide * tall

        return max(self.resolutions, key=worth)


def _unpadded(width: int, height: int, columns: int, rows: int) -> tuple[int, int]:
    """Return the rows and columns of a grid of features that show an image, whose margins are padding."""
    if width / height > columns / rows:
        shown = int(round(height * (columns / width), 7))
        return rows - (rows - shown) // 2 * 2, columns
    shown = int(round(width * (rows / height), 7))
    return rows, columns - (columns - shown) // 2 * 2


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> LlavaNextReader:
    """Return what reads images for a model of type `llava_next`.

    Raises:
        UnsupportedModelError: The files ask for something else than these models do.
    """
    encoder = square_encoder(config)
    if encoder.rows != encoder.grid**2:
        raise UnsupportedModelError(
            "vision_feature_select_strategy in its config.json should be 'default' with CLIP and 'full' with SigLIP."
        )
    must_be(preprocessor, "do_resize", value=True)
    listed = config.get("image_grid_pinpoints") or _RESOLUTIONS
    if preprocessor.get("image_grid_pinpoints", listed) != listed:
        raise UnsupportedModelError(
            "image_grid_pinpoints in the settings for images differ from those in config.json; both should be alike."
        )
    resolutions = _resolutions(listed, encoder.side)
    for key in ("size", "crop_size"):
        if preprocessor.get(key) is not None and square(preprocessor, key, encoder.side) != encoder.side:
            raise UnsupportedModelError(
                f"{key} in the settings for images should be {encoder.side}, as in config.json."
            )
    for tall, wide in resolutions:
        refuse_many((tall // encoder.side * encoder.grid + 1) * (wide // encoder.side * encoder.grid + 1))
    normalization = encoder.normalization(preprocessor)
    return LlavaNextReader(encoder, normalization, resolutions, resample_of(preprocessor, resizing.BICUBIC))


def _resolutions(listed: Any, side: int) -> tuple[tuple[int, int], ...]:
    pairs = listed if isinstance(listed, list) and len(listed) <= _MOST_RESOLUTIONS else []
    if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise UnsupportedModelError("image_grid_pinpoints in config.json should be a list of pairs, height and width.")
    for number in (number for pair in pairs for number in pair):
        if whole({"image_grid_pinpoints": number}, "image_grid_pinpoints", most=MOST_PIXELS) % side:
            raise UnsupportedModelError(f"image_grid_pinpoints in config.json should be multiples of {side}.")
    return tuple((tall, wide) for tall, wide in pairs)


def _within(width: int, height: int, wide: int, tall: int) -> tuple[int, int]:
    """Return the size of an image that is enlarged until it meets the edges of a sheet."""
    across, along = wide / width, tall / height
    if across < along:
        return wide, min(math.ceil(height * across), tall)
    return min(math.ceil(width * along), wide), tall
