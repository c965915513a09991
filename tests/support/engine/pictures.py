"""Pictures that tests and the scripts in packaging/references draw alike."""

from sotto.images.decoded_image import DecodedImage


def picture(width: int, height: int) -> DecodedImage:
    """Return a picture with smooth and rough parts."""
    pixels = bytes(
        (x * 5 + y * 3 + x * y // 7 * (channel + 1) + (x ^ y) % 32 * 6) % 256
        for y in range(height)
        for x in range(width)
        for channel in range(3)
    )
    return DecodedImage(width, height, pixels)
