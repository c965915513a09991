"""The kind of an image is found from its first bytes."""

import io

import pytest
from PIL import Image

from sotto.images.image_kinds import MEDIA_TYPES, image_kind


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_the_kinds_that_pillow_writes(form):
    written = io.BytesIO()
    Image.new("RGB", (3, 2)).save(written, form)
    assert MEDIA_TYPES[image_kind(written.getvalue())].upper() == form


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\0\0\0\x1cftypavif\0\0\0\0avifmif1miaf", "image/avif"),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", "image/avif"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "image/heic"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "image/heic"),
        (b"\0\0\0\x18ftypisom\0\0\0\0isommp42", ""),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        (b"\xef\xbb\xbf\r\n<?xml version='1.0'?>\n<!-- a house -->\n<SVG/>", "image/svg+xml"),
        (b"<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN'><svg/>", "image/svg+xml"),
        (b"<!DOCTYPE html><p>no drawing</p>", ""),
        (b"RIFF\0\0\0\0WAVEfmt ", ""),
        (b"%PDF-1.7", ""),
        (b"\x89PNG", ""),
        (b"", ""),
    ],
)
def test_other_kinds(data, kind):
    assert image_kind(data) == kind
