"""Images are resized, cut and padded as transformers does it with Pillow."""

import json
from pathlib import Path

import mlx.core as mx
import pytest

from sotto.engine.architectures.towers.tower import normalised
from sotto.engine.vision import resizing
from sotto.engine.vision.image_reader import Normalization
from sotto.images.decoded_image import DecodedImage

FOLDER = Path(__file__).parent / "references" / "resizing"
CASES = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
CLIP = Normalization((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))


def drawn(width, height):
    """Return the image of `packaging/references/make_resized.py`."""
    pixels = [
        ((x * x + 5 * y) % 256, (40 * x) % 256, 255 if (x // 5 + y // 3) % 2 else (11 * y) % 256)
        for y in range(height)
        for x in range(width)
    ]
    return DecodedImage(width, height, bytes(value for pixel in pixels for value in pixel))


@pytest.mark.parametrize("name", CASES)
def test_pixels_are_those_of_transformers(name):
    case = CASES[name]
    image = drawn(*case["image"])
    if shortest := case.get("size", {}).get("shortest_edge"):
        assert image.width > image.height
        image = resizing.resize(image, shortest * image.width // image.height, shortest, resizing.BICUBIC)
    elif size := case.get("size"):
        image = resizing.resize(image, size["width"], size["height"], case["resample"])
    if crop := case.get("crop_size"):
        image = resizing.centre(image, crop["width"], crop["height"])
    expected = mx.load(str(FOLDER / "expected.safetensors"))[name].transpose(1, 2, 0)
    found = normalised(image, CLIP)
    assert found.shape == expected.shape
    assert mx.abs(found - expected).max() < 1e-3


def test_tiles_make_up_the_image():
    image = drawn(6, 4)
    tiles = resizing.tiled(image, 3, 2)
    assert [(tile.width, tile.height) for tile in tiles] == [(3, 2)] * 4
    rows = [tiles[above + side].pixels[row * 9 : row * 9 + 9] for above in (0, 2) for row in (0, 1) for side in (0, 1)]
    assert b"".join(rows) == image.pixels


def test_padding_has_a_colour():
    assert resizing.cut(DecodedImage(1, 1, b"abc"), -1, 0, 3, 1, (1, 2, 3)).pixels == b"\1\2\3abc\1\2\3"


def test_what_changes_nothing_returns_the_image():
    image = drawn(6, 4)
    assert resizing.resize(image, 6, 4, resizing.BICUBIC) is image
    assert resizing.centre(image, 6, 4) is image
