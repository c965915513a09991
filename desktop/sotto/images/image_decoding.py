"""Decoding images in a bounded process: images from outside can make their decoder take any time and memory, or crash.

`image_child` runs in that process.
"""

import hashlib
import json
import tempfile
import threading
from collections.abc import Callable
from typing import IO

from sotto.bounded_process import BoundedProcessError, Bounds, Exceeded, run_into
from sotto.errors import CancelledError, SottoError
from sotto.images.decoded_image import DecodedImage
from sotto.images.recent import Recent

WORD = "read-image"
MOST_BYTES = 64 * 1000**2
MOST_PIXELS = 100 * 1000**2
LONGEST_SIDE = 65_535
FORMATS = "PNG, JPEG, WebP, GIF, BMP or TIFF"
# The memory holds the most pixels in four bytes each, before and after two conversions; the output, in three.
BOUNDS = Bounds(seconds=60.0, cpu_seconds=40.0, memory=2 * 1000**3, output=3 * MOST_PIXELS + 1000)

# Decoders at a time, however many requests there are.
_SLOTS = threading.BoundedSemaphore(2)
_SLOT_SECONDS = 0.05
_MOST_RECENT_BYTES = 100 * 1000**2
_DAMAGED = "it is damaged or cut off; save or download it again"


class ImageError(SottoError):
    """An image cannot be decoded."""


_recent: Recent[DecodedImage] = Recent(_MOST_RECENT_BYTES, lambda image: len(image.pixels))


def decode_image(data: bytes, name: str = "The image", stopped: Callable[[], bool] = lambda: False) -> DecodedImage:
    """Return the pixels of an image, upright, in sRGB and over white where it is transparent. For any thread.

    Args:
        data: The contents of its file; untrusted.
        name: Its name in error messages, which begin with it.
        stopped: Polled; returns whether to give up.

    Raises:
        ImageError: It is not an image that can be decoded, or larger than it may be.
        CancelledError: `stopped` returned True.
    """
    key = hashlib.sha256(data).hexdigest()
    found = _recent.find(key)
    if found is None:
        width, height, pixels = _read("pixels", data=data, name=name, stopped=stopped)
        if len(pixels) != 3 * width * height:
            raise ImageError(f"{name} cannot be read: {_DAMAGED}.")
        found = DecodedImage(width, height, pixels)
        _recent.add(key, found)
    return found


def image_size(data: bytes, name: str = "The image", stopped: Callable[[], bool] = lambda: False) -> tuple[int, int]:
    """Return the width and height that `decode_image` would give, from the file's header alone.

    Raises:
        ImageError: It is not an image, or larger than it may be.
        CancelledError: `stopped` returned True.
    """
    width, height, _ = _read("size", data=data, name=name, stopped=stopped)
    return width, height


def thumbnail(data: bytes, longest: int, name: str = "The image", stopped: Callable[[], bool] = lambda: False) -> bytes:
    """Return an image as a PNG file with sides of at most `longest` pixels, decoded as `decode_image` does.

    Raises:
        ImageError: It is not an image that can be decoded, or larger than it may be.
        CancelledError: `stopped` returned True.
    """
    return _read("thumbnail", str(longest), data=data, name=name, stopped=stopped)[2]


def _read(*words: str, data: bytes, name: str, stopped: Callable[[], bool]) -> tuple[int, int, bytes]:
    """Return width, height and what else the child writes."""
    if not data:
        raise ImageError(f"{name} is empty: choose a file that has an image in it, as {FORMATS}.")
    if len(data) > MOST_BYTES:
        raise ImageError(
            f"{name} has {len(data) / 1e6:,.1f} MB, and an image may have at most {MOST_BYTES / 1e6:.0f} MB: "
            "make it smaller, or save it as JPEG."
        )
    with tempfile.TemporaryFile() as output:
        _run(output, words, data, name, stopped)
        output.seek(0)
        try:
            header = json.loads(output.readline())
            why, width, height = str(header["why"]), int(header["width"]), int(header["height"])
        except (ValueError, TypeError, KeyError) as error:
            raise ImageError(f"{name} cannot be read: {_DAMAGED}.") from error
        if why:
            raise ImageError(f"{name} {why}.")
        return width, height, output.read()


def _run(output: IO[bytes], words: tuple[str, ...], data: bytes, name: str, stopped: Callable[[], bool]) -> None:
    while not _SLOTS.acquire(timeout=_SLOT_SECONDS):
        if stopped():
            raise CancelledError("The decoding of an image was stopped.")
    try:
        run_into(output, WORD, *words, bounds=BOUNDS, given=data, stopped=stopped)
    except BoundedProcessError as error:
        raise ImageError(f"{name} {_why(error.exceeded)}.") from error
    finally:
        _SLOTS.release()


def _why(exceeded: Exceeded) -> str:
    if exceeded is Exceeded.TIME:
        return f"takes longer than {BOUNDS.seconds:.0f} seconds to decode: make it smaller, or save it as PNG"
    if exceeded in (Exceeded.MEMORY, Exceeded.OUTPUT):
        return f"takes more than {BOUNDS.memory / 1e9:.0f} GB of memory to decode: make it smaller, or save it as PNG"
    if exceeded is Exceeded.NOT_STARTED:
        return "cannot be read: the system does not start the process that decodes it"
    return f"cannot be read: {_DAMAGED}"
