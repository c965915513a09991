"""Resizing, cutting and padding images with Pillow, as the processors of transformers that use Pillow do."""

from PIL import Image

from sotto.images.decoded_image import DecodedImage

# The filters, as Pillow numbers them and `resample` in preprocessor_config.json does.
NEAREST, LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING = range(6)

Colour = tuple[int, int, int]
BLACK: Colour = (0, 0, 0)


def resize(image: DecodedImage, width: int, height: int, resample: int) -> DecodedImage:
    """Return an image in another size, stretched if the proportions differ.

    Args:
        image: The image.
        width: The new width.
        height: The new height.
        resample: One of the filters above.
    """
    if (width, height) == (image.width, image.height):
        return image
    return _decoded(_picture(image).resize((width, height), Image.Resampling(resample)))


def cut(image: DecodedImage, left: int, top: int, width: int, height: int, colour: Colour = BLACK) -> DecodedImage:
    """Return a rectangle of an image, which may reach beyond its edges on any side; there it has one colour."""
    if (left, top, width, height) == (0, 0, image.width, image.height):
        return image
    sheet = Image.new("RGB", (width, height), colour)
    sheet.paste(_picture(image), (-left, -top))
    return _decoded(sheet)


def centre(image: DecodedImage, width: int, height: int, colour: Colour = BLACK) -> DecodedImage:
    """Return the middle of an image, padded where the image is smaller than it."""
    return cut(image, (image.width - width) // 2, (image.height - height) // 2, width, height, colour)


def tiled(image: DecodedImage, width: int, height: int) -> list[DecodedImage]:
    """Return the tiles of an image from left to right and top to bottom; its size is a multiple of theirs."""
    return [
        cut(image, left, top, width, height)
        for top in range(0, image.height, height)
        for left in range(0, image.width, width)
    ]


def _picture(image: DecodedImage) -> Image.Image:
    return Image.frombytes("RGB", (image.width, image.height), image.pixels)


def _decoded(picture: Image.Image) -> DecodedImage:
    return DecodedImage(picture.width, picture.height, picture.tobytes())
