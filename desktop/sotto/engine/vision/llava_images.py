"""How LLaVA 1.5 takes images: one square piece from the middle of each, in rows of features without any marks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.vision import pixtral_images, resizing
from sotto.engine.vision.image_reader import ImageLayout, ImageReader, Normalization
from sotto.engine.vision.preprocessor_settings import (
    CLIP_MEAN,
    CLIP_STD,
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
from sotto.engine.vision.vision_values import flag, part, vision_of, whole
from sotto.errors import UnsupportedModelError
from sotto.images.decoded_image import DecodedImage

SLOT = "<image>"
CLIP, SIGLIP = "clip_vision_model", "siglip_vision_model"


@dataclass(frozen=True, slots=True)
class SquareEncoder:
    """What the config says of a tower that sees squares of one size.

    Attributes:
        side: Pixels of a side of the square.
        grid: Patches along a side.
        rows: Rows of features of a square.
        is_clip: Whether it is CLIP, and not SigLIP.
    """

    side: int
    grid: int
    rows: int
    is_clip: bool

    def normalization(self, preprocessor: Mapping[str, Any]) -> Normalization:
        """Return how a preprocessor scales the channels of pixels."""
        mean, std = (CLIP_MEAN, CLIP_STD) if self.is_clip else (HALF, HALF)
        return normalization_of(preprocessor, mean, std)


def square_encoder(config: Mapping[str, Any]) -> SquareEncoder:
    """Return what a config says of its tower.

    Raises:
        UnsupportedModelError: The tower is of another kind, or a size makes no sense.
    """
    vision = vision_of(config)
    is_clip = (vision.get("model_type") or CLIP) == CLIP
    side = whole(vision, "image_size", 336 if is_clip else 224, most=MOST_PIXELS)
    grid = side // whole(vision, "patch_size", 14 if is_clip else 16, most=MOST_PIXELS)
    strategy = config.get("vision_feature_select_strategy", "default")
    if strategy not in ("default", "full"):
        raise UnsupportedModelError("vision_feature_select_strategy in its config.json should be 'default' or 'full'.")
    dropped = strategy == "default"
    rows = grid * grid + is_clip - dropped
    refuse_many(rows)
    if rows <= 0:
        raise UnsupportedModelError("patch_size in the settings for images should be smaller than image_size.")
    return SquareEncoder(side, grid, rows, is_clip)


@dataclass(frozen=True, slots=True)
class LlavaReader:
    """Reads images for LLaVA 1.5.

    Attributes:
        size: What an image is resized to: its `shortest_edge`, or `height` and `width`.
        crops: Whether the middle is cut out then.
        squares: Whether images are padded to squares before.
    """

    encoder: SquareEncoder
    normalization: Normalization
    size: Mapping[str, int]
    resample: int
    crops: bool
    squares: bool
    placeholder: str = f"{SLOT}\n"
    mark: str = SLOT
    slot: str = SLOT
    both_ways: bool = False
    multi_axis: bool = False

    def lay_out(self, width: int, height: int) -> ImageLayout:
        """Return how an image of so many pixels stands in a prompt."""
        refuse_narrow(width, height)
        encoder = self.encoder
        grid, tile = (encoder.grid, encoder.grid), (encoder.side, encoder.side)
        return ImageLayout(SLOT * encoder.rows, encoder.rows, grid, (tile,))

    def read(self, image: DecodedImage) -> tuple[DecodedImage, ...]:
        """Return the square that the tower sees."""
        if self.squares:
            longest = max(image.width, image.height)
            left, top = (longest - image.width) // 2, (longest - image.height) // 2
            red, green, blue = (int(mean * 255) for mean in self.normalization.mean)
            image = resizing.cut(image, -left, -top, longest, longest, (red, green, blue))
        if shortest := self.size.get("shortest_edge"):
            long = int(shortest * max(image.width, image.height) / min(image.width, image.height))
            width, height = (shortest, long) if image.width <= image.height else (long, shortest)
        else:
            width, height = self.size["width"], self.size["height"]
        image = resizing.resize(image, width, height, self.resample)
        side = self.encoder.side
        return (resizing.centre(image, side, side) if self.crops else image,)


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> ImageReader:
    """Return what reads images for a model of type `llava`: LLaVA 1.5, or Pixtral as transformers names it.

    Raises:
        UnsupportedModelError: The files ask for something else than these models do.
    """
    if part(config, "vision_config").get("model_type") == "pixtral":
        return pixtral_images.make_reader(config, preprocessor)
    encoder = square_encoder(config)
    must_be(preprocessor, "do_resize", value=True)
    # SigLIP's preprocessor does not know this key.
    crops = flag(preprocessor, "do_center_crop", encoder.is_clip)
    usual = ("shortest_edge",) if encoder.is_clip else ("height", "width")
    size = sides(preprocessor, "size", dict.fromkeys(usual, encoder.side))
    final = square(preprocessor, "crop_size" if crops else "size", encoder.side)
    fits = {"width", "height"} <= size.keys() or (crops and "shortest_edge" in size)
    if not fits:
        wanted = "height and width" + (", or shortest_edge" if crops else "")
        raise UnsupportedModelError(f"size in the settings for images should have {wanted}.")
    if final != encoder.side:
        raise UnsupportedModelError(
            f"Images are brought to {final} x {final} pixels by the settings for images, but the vision tower in "
            f"config.json sees {encoder.side} x {encoder.side}."
        )
    return LlavaReader(
        encoder,
        encoder.normalization(preprocessor),
        size,
        resample_of(preprocessor, resizing.BICUBIC),
        crops,
        flag(preprocessor, "do_pad", False),
    )
