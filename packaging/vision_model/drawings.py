"""Draws shapes and digits in some colour and number, for training and for tests; needs Pillow alone."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from PIL import Image, ImageDraw

SIDE = 72
NUMBERS = ("one", "two", "three", "four", "five")
COLOURS = {
    "red": (214, 40, 40),
    "green": (46, 150, 60),
    "blue": (40, 80, 210),
    "yellow": (235, 200, 20),
    "purple": (130, 50, 160),
    "orange": (240, 125, 20),
    "black": (25, 25, 25),
}
SHAPES = ("circle", "square", "triangle", "star", "cross")
KINDS = (*SHAPES, *"0123456789")
# More would be too small to be read.
_MOST_DIGITS = 3
# What training never draws: combinations of kind, colour and count whose numbers make this sum a multiple of it.
_HELD_OUT_EVERY = 10
# Drawn larger and shrunk, for soft edges.
_FINER = 3
_SEGMENTS = {
    "top": ((-1, -2), (1, -2)),
    "middle": ((-1, 0), (1, 0)),
    "bottom": ((-1, 2), (1, 2)),
    "upper left": ((-1, -2), (-1, 0)),
    "upper right": ((1, -2), (1, 0)),
    "lower left": ((-1, 0), (-1, 2)),
    "lower right": ((1, 0), (1, 2)),
}
# As on the display of a clock.
_DARK = {
    "0": ("middle",),
    "1": ("top", "middle", "bottom", "upper left", "lower left"),
    "2": ("upper left", "lower right"),
    "3": ("upper left", "lower left"),
    "4": ("top", "bottom", "lower left"),
    "5": ("upper right", "lower left"),
    "6": ("upper right",),
    "7": ("middle", "bottom", "upper left", "lower left"),
    "8": (),
    "9": ("lower left",),
}

Point = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """What is drawn.

    Attributes:
        kind: One of `KINDS`.
        colour: One of `COLOURS`.
        count: How often, from 1.
    """

    kind: str
    colour: str
    count: int

    @property
    def things(self) -> str:
        """What is drawn, in the number that it has."""
        if self.count == 1:
            return self.kind
        return self.kind + ("es" if self.kind == "cross" else "s")

    @property
    def number(self) -> str:
        """The count in letters."""
        return NUMBERS[self.count - 1]

    @property
    def is_held_out(self) -> bool:
        """Whether training never draws it."""
        return (KINDS.index(self.kind) + 2 * list(COLOURS).index(self.colour) + 3 * self.count) % _HELD_OUT_EVERY == 0

    def picture(self, random: Random) -> Image.Image:
        """Return a picture of it, with places, sizes, shades and background by chance."""
        side = SIDE * _FINER
        background = tuple(random.randint(225, 255) for _ in range(3))
        image = Image.new("RGB", (side, side), background)
        draw = ImageDraw.Draw(image)
        shade = tuple(min(255, max(0, value + random.randint(-18, 18))) for value in COLOURS[self.colour])
        for x, y, radius in _places(self.count, random):
            _draw(draw, self.kind, (x * _FINER, y * _FINER), radius * _FINER, shade, random.uniform(-0.2, 0.2))
        return image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def all_drawings(*, held_out: bool) -> list[Drawing]:
    """Return what training never draws, or everything else."""
    every = (Drawing(*one) for one in product(KINDS, COLOURS, range(1, len(NUMBERS) + 1)))
    readable = (one for one in every if one.kind in SHAPES or one.count <= _MOST_DIGITS)
    return [drawing for drawing in readable if drawing.is_held_out is held_out]


def held_out(count: int, seed: int) -> Iterator[tuple[Drawing, Image.Image]]:
    """Yield drawings that training never drew, with pictures of them; always the same for a seed."""
    random = Random(seed)
    drawings = all_drawings(held_out=True)
    for _ in range(count):
        drawing = random.choice(drawings)
        yield drawing, drawing.picture(random)


def _places(count: int, random: Random) -> list[tuple[float, float, float]]:
    """Return centres and radii that neither touch each other nor the border."""
    low, high = ((14, 30), (11, 17), (9, 14), (9, 12), (8, 11))[count - 1]
    while True:
        found: list[tuple[float, float, float]] = []
        radius = random.uniform(low, high)
        for _ in range(60):
            own = radius * random.uniform(0.9, 1.0)
            x, y = (random.uniform(own + 1, SIDE - own - 1) for _ in range(2))
            if all(math.hypot(x - a, y - b) > own + other + 2 for a, b, other in found):
                found.append((x, y, own))
                if len(found) == count:
                    return found


def _draw(
    draw: ImageDraw.ImageDraw, kind: str, centre: Point, radius: float, shade: tuple[int, ...], angle: float
) -> None:
    def turned(x: float, y: float) -> Point:
        across, down = math.cos(angle), math.sin(angle)
        return centre[0] + radius * (x * across - y * down), centre[1] + radius * (x * down + y * across)

    if kind == "circle":
        draw.ellipse((*(value - 0.9 * radius for value in centre), *(value + 0.9 * radius for value in centre)), shade)
    elif kind == "cross":
        for first, second in (((-0.9, 0.0), (0.9, 0.0)), ((0.0, -0.9), (0.0, 0.9))):
            draw.line((turned(*first), turned(*second)), shade, round(0.5 * radius))
    elif kind in _DARK:
        width = round(0.3 * radius)
        for name, ends in _SEGMENTS.items():
            if name not in _DARK[kind]:
                first, second = (turned(0.4 * x, 0.4 * y) for x, y in ends)
                draw.line((first, second), shade, width)
                for x, y in (first, second):
                    draw.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), shade)
    else:
        draw.polygon([turned(x, y) for x, y in _corners(kind)], shade)


def _corners(kind: str) -> list[Point]:
    if kind == "square":
        return [(-0.75, -0.75), (0.75, -0.75), (0.75, 0.75), (-0.75, 0.75)]
    corners, inner = (3, 1.0) if kind == "triangle" else (10, 0.42)
    lengths = (1.0, inner) if kind == "star" else (1.0,)
    return [
        (
            lengths[number % len(lengths)] * math.sin(2 * math.pi * number / corners),
            -lengths[number % len(lengths)] * math.cos(2 * math.pi * number / corners),
        )
        for number in range(corners)
    ]
