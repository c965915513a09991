"""A decoded image, upright, in sRGB and without transparency."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DecodedImage:
    """The pixels of an image.

    Attributes:
        width: In pixels.
        height: In pixels.
        pixels: Rows from top to bottom of red, green and blue, a byte each.
    """

    width: int
    height: int
    pixels: bytes = field(repr=False)
