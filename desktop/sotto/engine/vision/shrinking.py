"""Images made smaller where memory has no room for them."""

import math

from PIL import Image

from sotto.images.decoded_image import DecodedImage


def shrink(image: DecodedImage, largest: int | None) -> DecodedImage:
    """Return an image with at most `largest` pixels in its own proportions; unchanged if it fits, or for None."""
    if largest is None or image.width * image.height <= largest:
        return image
    scale = math.sqrt(largest / (image.width * image.height))
    width, height = max(1, int(image.width * scale)), max(1, int(image.height * scale))
    pixels = Image.frombytes("RGB", (image.width, image.height), image.pixels)
    return DecodedImage(width, height, pixels.resize((width, height), Image.Resampling.LANCZOS).tobytes())
