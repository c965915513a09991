"""Images made smaller where memory has no room for them."""

import math

from sotto.engine.vision.resizing import LANCZOS, resize
from sotto.images.decoded_image import DecodedImage


def shrink(image: DecodedImage, largest: int | None) -> DecodedImage:
    """Return an image with at most `largest` pixels in its own proportions; unchanged if it fits, or for None."""
    if largest is None or image.width * image.height <= largest:
        return image
    scale = math.sqrt(largest / (image.width * image.height))
    return resize(image, max(1, int(image.width * scale)), max(1, int(image.height * scale)), LANCZOS)
