"""Images for Gemma 3: resized to one square size, whatever their proportions, and seen as a fixed number of tokens."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision.image_reader import ImageLayout, Normalization
from sotto.engine.vision.preprocessor_settings import normalization_of, resample_of
from sotto.engine.vision.resizing import BILINEAR, resize
from sotto.engine.vision.vision_values import flag, part, vision_of, whole
from sotto.errors import UnsupportedModelError
from sotto.images.decoded_image import DecodedImage

_HALF = (0.5, 0.5, 0.5)
_START, _SLOT, _END = "<start_of_image>", "<image_soft_token>", "<end_of_image>"


@dataclass(frozen=True, slots=True)
class Grid:
    """How the patches of an image become tokens.

    Attributes:
        pixels: Along each side of the resized image.
        patches: Along each side.
        tokens: Along each side.
    """

    pixels: int
    patches: int
    tokens: int

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Grid":
        """Read a model's config.

        Raises:
            UnsupportedModelError: Its patches cannot be divided into squares of so many tokens.
        """
        vision = vision_of(config)
        pixels, patch = whole(vision, "image_size", 224), whole(vision, "patch_size", 16)
        count = whole(config, "mm_tokens_per_image", 256)
        patches, tokens = pixels // patch, math.isqrt(count)
        if tokens**2 != count or tokens > patches or patches // (patches // tokens) != tokens:
            raise UnsupportedModelError(
                f"mm_tokens_per_image in its config.json is {count}, into which {patches} x {patches} patches cannot "
                "be divided evenly."
            )
        return cls(pixels, patches, tokens)

    @property
    def square(self) -> int:
        """Patches along each side of the square that becomes one token."""
        return self.patches // self.tokens


@dataclass(frozen=True, slots=True)
class Gemma3Images:
    """Reads images for Gemma 3; see `ImageReader`.

    Attributes:
        normalization: What the tower does first with pixels.
        grid: How patches become tokens.
        resample: How pixels are interpolated.
    """

    normalization: Normalization
    grid: Grid
    resample: int
    placeholder = _START
    mark = _START
    slot = _SLOT
    both_ways = True
    multi_axis = False

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image stands in a prompt, which is the same for all sizes."""
        tokens, pixels = self.grid.tokens, self.grid.pixels
        rows = tokens * tokens
        return ImageLayout(f"\n\n{_START}{_SLOT * rows}{_END}\n\n", rows, (tokens, tokens), ((pixels, pixels),))

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the image, resized."""
        return (resize(image, self.grid.pixels, self.grid.pixels, self.resample),)


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> Gemma3Images:
    """Return what reads images for a model.

    Raises:
        UnsupportedModelError: The files ask for something that it does not do.
    """
    grid = Grid.of(config)
    if flag(preprocessor, "do_pan_and_scan", False):
        raise UnsupportedModelError(
            "Its preprocessor_config.json has images cut into pieces (do_pan_and_scan), which is not supported."
        )
    size = part(preprocessor, "size")
    sides = {whole(size, side, grid.pixels) for side in ("height", "width")}
    if sides != {grid.pixels} or not flag(preprocessor, "do_resize", True):
        raise UnsupportedModelError(
            f"Its preprocessor_config.json should resize images to the {grid.pixels} x {grid.pixels} pixels that its "
            "tower sees."
        )
    return Gemma3Images(normalization_of(preprocessor, _HALF, _HALF), grid, resample_of(preprocessor, BILINEAR))
