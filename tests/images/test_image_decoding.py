"""Images are decoded in a process of their own, or refused in one sentence."""

import io
import threading

import psutil
import pytest
from PIL import Image

from image_files import png, saved
from sotto.bounded_process import Bounds
from sotto.errors import CancelledError
from sotto.images import image_decoding
from sotto.images.image_decoding import ImageError, decode_image, image_size, thumbnail


def cut(data):
    return data[: len(data) * 2 // 3]


NOISE = Image.effect_noise((64, 64), 90)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "photo is empty: choose a file that has an image in it, as PNG, JPEG, WebP, GIF, BMP or TIFF."),
        (b"hello", "photo is not an image of a kind that can be read: save it as PNG, JPEG, WebP, GIF, BMP or TIFF."),
        (b"<svg/>", "photo is a drawing in SVG, which has no pixels: save it as PNG."),
        (
            b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            "photo is an image in HEIC, which Sotto cannot read here: save it as JPEG or PNG.",
        ),
        (
            b"\x89PNG\r\n\x1a\n" + bytes(64_000_000),
            "photo has 64.0 MB, and an image may have at most 64 MB: make it smaller, or save it as JPEG.",
        ),
        (png(65_536, 1), "photo is 65,536 pixels wide, and at most 65,535 can be read: make it smaller."),
        (png(1, 70_000), "photo is 70,000 pixels high, and at most 65,535 can be read: make it smaller."),
        (
            png(10_001, 10_000, b"\0"),
            "photo has 10,001 × 10,000 pixels, and at most 100 million can be read: make it smaller.",
        ),
        (
            png(60_000, 60_000, b"\0"),
            "photo has 60,000 × 60,000 pixels, and at most 100 million can be read: make it smaller.",
        ),
        (
            saved(Image.new("F", (2, 2)), "TIFF"),
            "photo has pixels that are neither colours nor shades of grey (F): save it as PNG or JPEG.",
        ),
        *(
            (cut(saved(NOISE, form)), "photo cannot be read: it is damaged or cut off")
            for form in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
        ),
        (png(0, 5, b"\0"), "photo cannot be read: it is damaged or cut off"),
    ],
)
def test_what_cannot_be_decoded_is_refused_in_a_sentence(data, sentence):
    with pytest.raises(ImageError) as error:
        decode_image(data, "photo")
    assert error.value.message.startswith(sentence)
    assert error.value.message.endswith(".")


def test_the_largest_images_are_decoded():
    image = decode_image(png(10_000, 10_000, depth=1, colour=0))
    assert (image.width, image.height, len(image.pixels)) == (10_000, 10_000, 300_000_000)
    assert image_size(png(65_535, 2)) == (65_535, 2)


def test_thumbnails():
    image = Image.open(io.BytesIO(thumbnail(png(400, 100, colour=6), 80)))
    assert (image.format, image.size, image.getpixel((0, 0))) == ("PNG", (80, 20), (255, 255, 255))
    assert Image.open(io.BytesIO(thumbnail(saved(Image.new("RGB", (900, 1800)), "JPEG"), 80))).size == (40, 80)
    assert Image.open(io.BytesIO(thumbnail(png(3, 2), 80))).size == (3, 2)
    assert Image.open(io.BytesIO(thumbnail(png(3000, 1), 80))).size == (80, 1)


def test_an_image_is_decoded_once(monkeypatch):
    data = png(5, 5)
    first = decode_image(data)
    monkeypatch.setattr(image_decoding, "run_into", None)
    assert decode_image(data) is first


def test_few_are_decoded_at_a_time():
    most, before = 0, set(psutil.Process().children())
    threads = [threading.Thread(target=decode_image, args=(png(700 + number, 800),)) for number in range(6)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most = max(most, len(set(psutil.Process().children()) - before))
    assert most == 2


def test_waiting_and_decoding_can_be_stopped(monkeypatch):
    with pytest.raises(CancelledError):
        decode_image(png(2000, 2000), stopped=lambda: True)
    monkeypatch.setattr(image_decoding, "_SLOTS", threading.Semaphore(0))
    with pytest.raises(CancelledError):
        decode_image(png(20, 21), stopped=lambda: True)


@pytest.mark.parametrize(
    ("bounds", "what"),
    [
        (Bounds(0.01, 40, 1 << 31, 1 << 30), "takes longer than"),
        (Bounds(60, 40, 1 << 20, 1 << 30), "of memory to decode"),
        (Bounds(60, 40, 1 << 31, 1000), "of memory to decode"),
    ],
)
def test_bounds_are_named(monkeypatch, bounds, what):
    monkeypatch.setattr(image_decoding, "BOUNDS", bounds)
    with pytest.raises(ImageError, match=what):
        decode_image(png(3000, 3000))
