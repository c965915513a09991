"""The part of `sotto.images.image_decoding` that runs in the bounded process.

It imports little, so that it starts fast, and of Pillow's plug-ins only the one for the file at hand: the others would
be more code for hostile files to reach.
"""

import importlib
import io
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from PIL import Image

from sotto.bounded_process import limit
from sotto.images.image_decoding import BOUNDS, FORMATS, LONGEST_SIDE, MOST_PIXELS
from sotto.images.image_kinds import MEDIA_TYPES, image_kind

_OPENERS = {
    "image/png": ("PIL.PngImagePlugin", "PngImageFile"),
    "image/jpeg": ("PIL.JpegImagePlugin", "JpegImageFile"),
    "image/webp": ("PIL.WebPImagePlugin", "WebPImageFile"),
    "image/gif": ("PIL.GifImagePlugin", "GifImageFile"),
    "image/bmp": ("PIL.BmpImagePlugin", "BmpImageFile"),
    "image/tiff": ("PIL.TiffImagePlugin", "TiffImageFile"),
    "image/avif": ("PIL.AvifImagePlugin", "AvifImageFile"),
    "image/heic": ("pillow_heif.as_plugin", "HeifImageFile"),
}
# Not part of every installation; the first needs a library that packages leave out for its size.
_PLUG_INS = {"image/avif": "PIL._avif", "image/heic": "pillow_heif"}
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_QUARTER_TURNS = frozenset(_TURNS[orientation] for orientation in (5, 6, 7, 8))
_COLOURS = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr"})
_WRITTEN_AT_ONCE = 16 * 1000**2


class _UnreadableError(Exception):
    """Its message says what is wrong with an image, after its name."""


def print_image(words: list[str]) -> int:
    """Read an image from stdin, and write what `words` ask for to stdout; return 0.

    A line of JSON comes first: `width` and `height`, and `why` if the image cannot be read; then the rest.
    """
    limit(BOUNDS)
    refuse_large_frames()
    why, width, height, rest = read_image(sys.stdin.buffer.read(), words)
    output = sys.stdout.buffer
    output.write(json.dumps({"width": width, "height": height, "why": why}).encode() + b"\n")
    for chunk in rest:
        output.write(chunk)
    output.flush()
    return 0


def refuse_large_frames() -> None:
    """Have Pillow raise an error for more pixels than are allowed, wherever in a file it comes upon them."""
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)


def read_image(data: bytes, words: list[str]) -> tuple[str, int, int, Iterator[bytes]]:
    """Return why an image cannot be read, or an empty text and what is asked for.

    Args:
        data: The contents of its file.
        words: `pixels` for width, height and the pixels of a `DecodedImage`; `thumbnail` and the length of the longest
            side for a PNG file in the place of the pixels; `size` for nothing in their place.
    """
    try:
        return "", *_answer(_open(data), words)
    except _UnreadableError as error:
        why = str(error)
    except MemoryError:
        why = "takes too much memory to decode: make it smaller, or save it as PNG"
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        why = f"has frames of more than {MOST_PIXELS // 1000**2} million pixels: make it smaller"
    except Exception as error:
        # A damaged file can make the library raise anything, and this process does nothing else.
        why = f"cannot be read: it is damaged or cut off ({type(error).__name__}); save or download it again"
    return why, 0, 0, iter(())


def _answer(image: Any, words: list[str]) -> tuple[int, int, Iterator[bytes]]:
    turn = _TURNS.get(_orientation(image))
    if words == ["size"]:
        width, height = (image.height, image.width) if turn in _QUARTER_TURNS else image.size
        return width, height, iter(())
    longest = int(words[1]) if words[:1] == ["thumbnail"] else 0
    if longest:
        # JPEGs are decoded smaller at once, which is much faster.
        image.draft(None, (longest, longest))
    image.load()
    read = _srgb(image)
    if turn is not None:
        read = read.transpose(turn)
    if not longest:
        return read.width, read.height, _strips(read)
    read.thumbnail((longest, longest))
    written = io.BytesIO()
    read.save(written, "PNG")
    return read.width, read.height, iter((written.getvalue(),))


def _open(data: bytes) -> Any:
    """Return an image of which the header has been read."""
    kind = image_kind(data)
    if kind == "image/svg+xml":
        raise _UnreadableError("is a drawing in SVG, which has no pixels: save it as PNG")
    if kind not in _OPENERS:
        raise _UnreadableError(f"is not an image of a kind that can be read: save it as {FORMATS}")
    module, opener = _OPENERS[kind]
    try:
        if kind in _PLUG_INS:
            importlib.import_module(_PLUG_INS[kind])
        opened = getattr(importlib.import_module(module), opener)
    except ImportError:
        what = MEDIA_TYPES[kind]
        raise _UnreadableError(f"is an image in {what}, which Sotto cannot read here: save it as JPEG or PNG") from None
    image = opened(io.BytesIO(data))
    width, height = image.size
    if max(width, height) > LONGEST_SIDE:
        what = "wide" if width >= height else "high"
        raise _UnreadableError(
            f"is {max(width, height):,} pixels {what}, and at most {LONGEST_SIDE:,} can be read: make it smaller"
        )
    if width * height > MOST_PIXELS:
        raise _UnreadableError(
            f"has {width:,} × {height:,} pixels, and at most {MOST_PIXELS // 1000**2} million can be read: "
            "make it smaller"
        )
    return image


def _orientation(image: Any) -> int:
    """Return how the camera was held, from 1 to 8."""
    if image.format == "TIFF":
        # Pillow turns these itself.
        return 1
    try:
        found = image.getexif().get(_ORIENTATION, 1)
    except Exception:
        # What surrounds the pixels may be damaged; other programs show such an image as it is, too.
        return 1
    return found if isinstance(found, int) else 1


def _srgb(image: Any) -> Image.Image:
    """Return an image in sRGB, a byte per channel, over white where it is transparent.

    White, as most drawings with transparency were made for a page or a white window, and text in them is dark.
    """
    profile = image.info.get("icc_profile")
    if image.mode.startswith("I;16"):
        # Pillow would cut off all values above 255.
        image = image.convert("I").point(lambda value: value * (255 / 65535) + 0.5).convert("L")
        # A shade that is transparent is in 16 bits, too.
        image.info.pop("transparency", None)
    elif image.mode not in _COLOURS:
        raise _UnreadableError(
            f"has pixels that are neither colours nor shades of grey ({image.mode}): save it as PNG or JPEG"
        )
    mask = None
    if image.has_transparency_data:
        image = image.convert("LA" if image.mode in ("1", "L", "LA") else "RGBA")
        mask = image.getchannel("A")
    if image.mode not in ("L", "RGB", "CMYK"):
        image = image.convert("L" if image.mode in ("1", "LA") else "RGB")
    opaque = _converted(image, profile)
    if mask is None:
        return opaque
    page = Image.new("RGB", opaque.size, "white")
    page.paste(opaque, mask=mask)
    return page


def _converted(image: Image.Image, profile: object) -> Image.Image:
    """Return an image in sRGB, from the colours of its profile if it has one; CMYK without one is converted simply."""
    if not isinstance(profile, bytes) or not profile:
        return image.convert("RGB")
    from PIL import ImageCms

    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if "sRGB" in ImageCms.getProfileDescription(source):
            return image.convert("RGB")
        found = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError):
        # A damaged profile, or one for other channels. Browsers show the image without it, too.
        return image.convert("RGB")
    return image if found is None else found


def _strips(image: Image.Image) -> Iterator[bytes]:
    """Yield the pixels in parts, as all at once would take the memory of the image again."""
    rows = max(1, _WRITTEN_AT_ONCE // (3 * image.width))
    for top in range(0, image.height, rows):
        yield image.crop((0, top, image.width, min(top + rows, image.height))).tobytes()
