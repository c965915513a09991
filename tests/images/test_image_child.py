"""Images are decoded to upright sRGB pixels over white. In this process, as one of its own for each would take long."""

import pytest
from PIL import Image, features

from image_files import SWAPPED_PRIMARIES, grey_profile, png, png_profile, rgb_profile, saved
from sotto.images.image_child import read_image

RED, BLUE, WHITE, BLACK = b"\xff\0\0", b"\0\0\xff", b"\xff\xff\xff", b"\0\0\0"
# Red, green and blue above yellow, white and black.
FLAG = b"\xff\0\0\0\xff\0\0\0\xff" + b"\xff\xff\0\xff\xff\xff\0\0\0"


def flag(mode="RGB"):
    return Image.frombytes("RGB", (3, 2), FLAG).convert(mode)


def decoded(data):
    why, width, height, chunks = read_image(data, ["pixels"])
    assert not why
    assert read_image(data, ["size"])[1:3] == (width, height)
    return Image.frombytes("RGB", (width, height), b"".join(chunks))


@pytest.mark.parametrize(
    "data",
    [
        png(3, 2, b"\0" + FLAG[:9] + b"\0" + FLAG[9:]),
        saved(flag(), "WEBP", lossless=True),
        saved(flag("P"), "GIF"),
        saved(flag(), "BMP"),
        saved(flag(), "TIFF"),
        saved(flag(), "TIFF", compression="tiff_lzw"),
        saved(flag("P"), "PNG"),
        saved(flag(), "GIF", save_all=True, append_images=[Image.new("RGB", (3, 2), "pink")]),
    ],
    ids=["png", "webp", "gif", "bmp", "tiff", "tiff-lzw", "palette", "first-frame"],
)
def test_kinds_without_loss(data):
    assert decoded(data).tobytes() == FLAG


def test_jpegs():
    smooth = Image.linear_gradient("L").convert("RGB")
    image = decoded(saved(smooth, "JPEG", quality=95))
    assert max(abs(a - b) for a, b in zip(image.tobytes(), smooth.tobytes(), strict=True)) <= 3


QUARTERS = {"r": (255, 0, 0), "g": (0, 255, 0), "b": (0, 0, 255), "y": (255, 255, 0)}


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_images_are_turned_as_the_camera_was_held(form):
    """The orientations as the standard of EXIF numbers them: which side of the picture are its first row and column."""
    stored = Image.new("RGB", (64, 32), QUARTERS["r"])
    stored.paste(QUARTERS["g"], (32, 0, 64, 16))
    stored.paste(QUARTERS["b"], (0, 16, 32, 32))
    stored.paste(QUARTERS["y"], (32, 16, 64, 32))
    # Quarters above left, above right, below left and below right.
    expected = {1: "rgby", 2: "gryb", 3: "ybgr", 4: "byrg", 5: "rbgy", 6: "bryg", 7: "ygbr", 8: "gyrb"}
    expected |= {0: "rgby", 9: "rgby"}
    for orientation, quarters in expected.items():
        exif = Image.Exif()
        exif[0x0112] = orientation
        image = decoded(saved(stored, form, exif=exif))
        assert image.size == ((32, 64) if orientation in (5, 6, 7, 8) else (64, 32))
        x, y = image.width // 4, image.height // 4
        for letter, place in zip(quarters, ((x, y), (3 * x, y), (x, 3 * y), (3 * x, 3 * y)), strict=True):
            pixel = image.getpixel(place)
            assert max(abs(a - b) for a, b in zip(pixel, QUARTERS[letter], strict=True)) < 32, (orientation, letter)


@pytest.mark.skipif(not features.check("avif"), reason="This Pillow is built without AVIF.")
def test_avif():
    image = decoded(saved(Image.new("RGB", (20, 10), "red"), "AVIF"))
    assert image.size == (20, 10)
    assert max(abs(a - b) for a, b in zip(image.getpixel((5, 5)), RED, strict=True)) <= 3


def test_damaged_exif_is_ignored():
    assert decoded(png(1, 1, b"\0" + RED, chunks=[(b"eXIf", b"MM\0*\xff\xff\xff\xff")])).tobytes() == RED


@pytest.mark.parametrize(
    ("data", "pixels"),
    [
        (png(2, 1, b"\0" + b"\xff\0\0\x00" + b"\0\0\xff\x80", colour=6), WHITE + b"\x7f\x7f\xff"),
        (png(2, 1, b"\0" + b"\x00\x00\x00\xff", colour=4), WHITE + BLACK),
        (png(2, 1, b"\0" + RED + BLUE, chunks=[(b"tRNS", b"\0\xff\0\0\0\0")]), WHITE + BLUE),
        (png(2, 1, b"\0\x00\x40", colour=0, chunks=[(b"tRNS", b"\0\x40")]), BLACK + WHITE),
        (png(3, 1, b"\0\x00\x00\x80\x80\xff\xff", colour=0, depth=16), BLACK + b"\x80\x80\x80" + WHITE),
        (png(2, 1, b"\0\x00\x00\x40\x00", colour=0, depth=16, chunks=[(b"tRNS", b"\x40\0")]), BLACK + b"\x40\x40\x40"),
        (png(1, 1, b"\0\xff\xff\x80\x80\x00\x00", depth=16), b"\xff\x80\x00"),
        (png(8, 1, b"\0\x0f", colour=0, depth=1), 4 * BLACK + 4 * WHITE),
        (saved(Image.new("CMYK", (1, 1), (0, 255, 255, 0)), "TIFF"), RED),
        (saved(Image.new("YCbCr", (1, 1), (255, 128, 128)), "TIFF"), WHITE),
    ],
    ids=[
        "alpha",
        "grey-alpha",
        "transparent-colour",
        "transparent-shade",
        "grey-16",
        "transparent-16",
        "rgb-16",
        "bits",
        "cmyk",
        "ycbcr",
    ],
)
def test_pixels_become_colours_over_white(data, pixels):
    assert decoded(data).tobytes() == pixels


def test_profiles_become_srgb():
    swapped = png_profile(rgb_profile(SWAPPED_PRIMARIES))
    found = decoded(png(2, 1, b"\0" + RED + WHITE, chunks=[swapped])).tobytes()
    assert max(abs(a - b) for a, b in zip(found, BLUE + WHITE, strict=True)) <= 3
    # The shade 55 of 255 is as bright as 128 in sRGB if the numbers mean light.
    for colour, pixel in ((0, b"\x37"), (4, b"\x37\xff")):
        found = decoded(png(1, 1, b"\0" + pixel, colour=colour, chunks=[png_profile(grey_profile(1.0))])).tobytes()
        assert all(abs(value - 128) <= 1 for value in found)


@pytest.mark.parametrize("profile", [b"no profile", grey_profile(1.0), rgb_profile(SWAPPED_PRIMARIES)[:300]])
def test_damaged_and_foreign_profiles_are_ignored(profile):
    assert decoded(png(1, 1, b"\0" + RED, chunks=[png_profile(profile)])).tobytes() == RED
