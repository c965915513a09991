"""Images for LFM2-VL: small ones as they are, larger ones as a grid of tiles with a small copy of the whole."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.engine.vision.preprocessor_settings import normalization_of, resample_of
from sotto.engine.vision.resizing import BILINEAR, resize, tiled
from sotto.engine.vision.vision_values import flag, real, vision_of, whole
from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.images.decoded_image import DecodedImage

_HALF = (0.5, 0.5, 0.5)
_START, _SLOT, _END, _WHOLE = "<|image_start|>", "<image>", "<|image_end|>", "<|img_thumbnail|>"


@dataclass(frozen=True)
class Tiling:
    """How images are divided.

    Attributes:
        patch: Pixels along each side of a patch.
        side: Pixels along each side of the square of patches that becomes one token.
        fewest: The fewest tokens of an image that is not divided.
        most: The most.
        tile: Pixels along each side of a tile.
        fewest_tiles: The fewest tiles of an image that is divided; 1 with at most 1 if none is.
        most_tiles: The most.
        tolerance: How many times the most tokens an image may take without being divided.
        adds_whole: Whether a small copy of the whole image follows its tiles.
    """

    patch: int
    side: int
    fewest: int
    most: int
    tile: int
    fewest_tiles: int
    most_tiles: int
    tolerance: float
    adds_whole: bool

    def whole(self, width: int, height: int) -> tuple[int, int]:
        """Return width and height of an image that is seen as a whole.

        Raises:
            InvalidRequestError: It would take more tokens than it may, because it is so long and narrow.
        """
        side, area = self.side, self.side**2
        rows, columns = max(1, round(height / side)), max(1, round(width / side))
        if rows * columns > self.most:
            factor = math.sqrt(height * width / (self.most * area))
            rows, columns = (max(1, math.floor(edge / factor / side)) for edge in (height, width))
        elif rows * columns < self.fewest:
            factor = math.sqrt(self.fewest * area / (height * width))
            rows, columns = (math.ceil(edge * factor / side) for edge in (height, width))
        if rows * columns > self.most:
            raise InvalidRequestError(
                f"An image of {width} x {height} pixels is too long and narrow for this model: cut a part of it."
            )
        return columns * side, rows * side

    def grid(self, width: int, height: int) -> tuple[int, int]:
        """Return how many columns and rows of tiles an image has; one of each if it is not divided."""
        rounded = [max(self.patch, round(edge / self.side) * self.side) for edge in (width, height)]
        if self.most_tiles == 1 or math.prod(rounded) <= self.most * self.side**2 * self.tolerance:
            return 1, 1
        best, least = (1, 1), math.inf
        for across, down in self._grids:
            difference = abs(width / height - across / down)
            # Of those that are equally near, the largest of which the image fills more than half.
            fills = width * height > 0.5 * self.tile**2 * across * down
            if difference < least or (difference == least and fills):
                best, least = (across, down), difference
        return best

    @cached_property
    def _grids(self) -> list[tuple[int, int]]:
        """All grids of as many tiles as are allowed, those with fewer tiles first."""
        sides = range(1, self.most_tiles + 1)
        grids = {(across, down) for across in sides for down in sides}
        allowed = (grid for grid in grids if self.fewest_tiles <= grid[0] * grid[1] <= self.most_tiles)
        return sorted(allowed, key=lambda grid: grid[0] * grid[1])


@dataclass(frozen=True, slots=True)
class Lfm2VlImages:
    """Reads images for LFM2-VL; see `ImageReader`.

    Attributes:
        normalization: What the tower does first with pixels.
        tiling: How images are divided.
        resample: How pixels are interpolated.
    """

    normalization: Normalization
    tiling: Tiling
    resample: int
    placeholder = _SLOT
    mark = _SLOT
    slot = _SLOT
    both_ways = False
    multi_axis = False

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image of so many pixels stands in a prompt.

        Raises:
            InvalidRequestError: It is too long and narrow.
        """
        tiling = self.tiling
        columns, rows = tiling.grid(width, height)
        small = tiling.whole(width, height)
        tokens = (small[0] // tiling.side, small[1] // tiling.side)
        count = tokens[0] * tokens[1]
        if (columns, rows) == (1, 1):
            return ImageLayout(f"{_START}{_SLOT * count}{_END}", count, (tokens[1], tokens[0]), (small,))
        each = (tiling.tile // tiling.side) ** 2
        places = [(row, column) for row in range(1, rows + 1) for column in range(1, columns + 1)]
        parts = [f"<|img_row_{row}_col_{column}|>{_SLOT * each}" for row, column in places]
        tiles = [(tiling.tile, tiling.tile)] * len(places)
        total = each * len(places)
        if tiling.adds_whole:
            parts.append(f"{_WHOLE}{_SLOT * count}")
            tiles.append(small)
            total += count
        return ImageLayout(f"{_START}{''.join(parts)}{_END}", total, (1, total), tuple(tiles))

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the tiles of the image and its small copy, or the image alone."""
        tiling = self.tiling
        columns, rows = tiling.grid(image.width, image.height)
        small = tiling.whole(image.width, image.height)
        if (columns, rows) == (1, 1):
            return (resize(image, *small, self.resample),)
        large = resize(image, columns * tiling.tile, rows * tiling.tile, self.resample)
        tiles = tiled(large, tiling.tile, tiling.tile)
        return (*tiles, resize(image, *small, self.resample)) if tiling.adds_whole else tuple(tiles)


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> Lfm2VlImages:
    """Return what reads images for a model.

    Raises:
        UnsupportedModelError: The files ask for something that it does not do.
    """
    vision = vision_of(config)
    patch, factor = whole(vision, "patch_size", 16, most=1024), whole(config, "downsample_factor", 2, most=64)
    if whole(preprocessor, "encoder_patch_size", patch) != patch or (
        whole(preprocessor, "downsample_factor", factor) != factor
    ):
        raise UnsupportedModelError(
            "encoder_patch_size and downsample_factor in its preprocessor_config.json should be those in config.json."
        )
    divides = flag(preprocessor, "do_image_splitting", True)
    tiling = Tiling(
        patch,
        patch * factor,
        whole(preprocessor, "min_image_tokens", 64),
        whole(preprocessor, "max_image_tokens", 256),
        whole(preprocessor, "tile_size", 512),
        whole(preprocessor, "min_tiles", 2, most=64) if divides else 1,
        whole(preprocessor, "max_tiles", 10, most=64) if divides else 1,
        real(preprocessor, "max_pixels_tolerance", 2.0),
        flag(preprocessor, "use_thumbnail", True),
    )
    if tiling.tile % tiling.side or tiling.fewest > tiling.most or tiling.fewest_tiles > tiling.most_tiles:
        raise UnsupportedModelError(
            f"Its preprocessor_config.json should have a tile_size that is a multiple of {tiling.side}, and no minimum "
            "above its maximum."
        )
    return Lfm2VlImages(normalization_of(preprocessor, _HALF, _HALF), tiling, resample_of(preprocessor, BILINEAR))
