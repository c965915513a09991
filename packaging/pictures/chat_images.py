"""The images that the pictures of chats show: files of places to look at, and drawings for a model that knows those."""

import io
from collections.abc import Callable
from functools import partial
from random import Random

from PIL import Image, ImageDraw

from vision_model.drawings import Drawing


def _place(width: int, height: int, sky: str, ground: str, sun: str, sun_height: float) -> bytes:
    """Return the file of an image of some ground below a sky, with the sun at a part of its height."""
    image = Image.new("RGB", (width, height), sky)
    draw = ImageDraw.Draw(image)
    radius, middle, top = height // 9, 2 * width // 3, round(sun_height * height)
    draw.ellipse((middle - radius, top - radius, middle + radius, top + radius), sun)
    draw.rectangle((0, 2 * height // 3, width, height), ground)
    return _file_of(image)


def _drawing(kind: str, colour: str, count: int) -> bytes:
    return _file_of(Drawing(kind, colour, count).picture(Random(1)))


def _file_of(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


SHOWN: dict[str, Callable[[], bytes]] = {
    "meadow at noon.png": partial(_place, 1200, 800, "#8fc4ee", "#6aa84f", "#fff3b0", 0.25),
    "by the sea.png": partial(_place, 600, 900, "#f2a65a", "#23395b", "#d7263d", 0.62),
}
DRAWN: dict[str, Callable[[], bytes]] = {
    "stars.png": partial(_drawing, "star", "blue", 3),
    "a rather long name of a drawing of circles.png": partial(_drawing, "circle", "red", 2),
}
