"""How Idefics 3 and SmolVLM take images: in square tiles, each with a mark of its place, and the whole at last."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision import resizing
from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.engine.vision.preprocessor_settings import (
    HALF,
    MOST_PIXELS,
    must_be,
    normalization_of,
    refuse_many,
    refuse_narrow,
    resample_of,
    sides,
    square,
)
from sotto.engine.vision.vision_values import flag, vision_of, whole
from sotto.errors import UnsupportedModelError
from sotto.images.decoded_image import DecodedImage

_SLOT, _AROUND, _WHOLE = "<image>", "<fake_token_around_image>", "<global-img>"
# Sides of images are never longer than this, whatever the settings say.
_LONGEST = 4096
MOST_MERGED = 16


@dataclass(frozen=True, slots=True)
class Idefics3Reader:
    """Reads images for Idefics 3 and SmolVLM.

    Attributes:
        longest: What the longer side of an image is brought to before it is divided into tiles.
        tile: Pixels of a side of a tile.
        rows: Rows of features of a tile.
        splits: Whether images are divided into tiles.
    """

    normalization: Normalization
    longest: int
    tile: int
    rows: int
    resample: int
    splits: bool
    placeholder: str = _SLOT
    mark: str = _SLOT
    slot: str = _SLOT
    both_ways: bool = False
    multi_axis: bool = False

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image of so many pixels stands in a prompt."""
        refuse_narrow(width, height)
        down, across = self._divided(width, height)
        features = _SLOT * self.rows
        whole = f"{_AROUND}{_WHOLE}{features}{_AROUND}"
        lines = [
            "".join(f"{_AROUND}<row_{row}_col_{column}>{features}" for column in range(1, across + 1)) + "\n"
            for row in range(1, down + 1)
        ]
        markup = "".join(lines) + f"\n{whole}" if lines else whole
        count = down * across + 1
        return ImageLayout(markup, count * self.rows, (count, self.rows), ((self.tile, self.tile),) * count)

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the tiles of an image in the order of reading, and the whole image as a last one."""
        tile = self.tile
        image = resizing.resize(image, *self._enlarged(image.width, image.height), self.resample)
        if not self.splits:
            return (resizing.resize(image, tile, tile, self.resample),)
        across, down = _tiles(image.width, image.height, tile)
        image = resizing.resize(image, across * tile, down * tile, self.resample)
        tiles = resizing.tiled(image, tile, tile) if across * down > 1 else []
        return (*tiles, resizing.resize(image, tile, tile, self.resample))

    def _divided(self, width: int, height: int) -> tuple[int, int]:
        """Return the rows and columns of tiles; 0 where the whole image is the only one."""
        across, down = _tiles(*self._enlarged(width, height), self.tile) if self.splits else (1, 1)
        return (down, across) if across * down > 1 else (0, 0)

    def _enlarged(self, width: int, height: int) -> tuple[int, int]:
        """Return the size of an image before it is divided: its shorter side is even."""
        proportion = width / height
        if width >= height:
            return self.longest, max(1, _even(int(self.longest / proportion)))
        return max(1, _even(int(self.longest * proportion))), self.longest


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> Idefics3Reader:
    """Return what reads images for a model of type `idefics3` or `smolvlm`.

    Raises:
        UnsupportedModelError: The files ask for something else than these models do.
    """
    must_be(preprocessor, "do_resize", value=True)
    vision = vision_of(config)
    side = whole(vision, "image_size", 224, most=MOST_PIXELS)
    tile = square(preprocessor, "max_image_size", side)
    longest = sides(preprocessor, "size", {"longest_edge": 4 * tile}).get("longest_edge")
    if longest is None or longest > _LONGEST:
        raise UnsupportedModelError(f"size in the settings for images should have a longest_edge up to {_LONGEST}.")
    patches = tile // whole(vision, "patch_size", 32, most=MOST_PIXELS)
    merged = whole(config, "scale_factor", 2, most=MOST_MERGED)
    if tile != side or patches == 0 or patches % merged:
        raise UnsupportedModelError(
            f"Tiles of {tile} x {tile} pixels (max_image_size in the settings for images) do not fit the vision tower "
            "in config.json."
        )
    rows = (patches // merged) ** 2
    refuse_many((-(-longest // tile)) ** 2 * rows)
    normalization = normalization_of(preprocessor, HALF, HALF)
    splits = flag(preprocessor, "do_image_splitting", True)
    return Idefics3Reader(normalization, longest, tile, rows, resample_of(preprocessor, resizing.LANCZOS), splits)


def _even(number: int) -> int:
    return number + number % 2


def _tiles(width: int, height: int, tile: int) -> tuple[int, int]:
    """Return the columns and rows of tiles that an image of so many pixels is brought to."""
    # Divided in the order of transformers, whose rounding decides about a tile.
    proportion = width / height
    if width >= height:
        across = -(-width // tile)
        return across, -(-int(across * tile / proportion) // tile)
    down = -(-height // tile)
    return -(-int(down * tile * proportion) // tile), down
