"""Images: files of all kinds with changed bytes, chunks and sizes, parts of them, and other files under their name."""

import io
import random as chance
import struct
import zlib
from pathlib import Path
from random import Random

from PIL import Image

from fuzzing import values
from fuzzing.target import Mark, Target
from image_files import SWAPPED_PRIMARIES, grey_profile, png, png_profile, rgb_profile, saved
from sotto.images.image_child import read_image, refuse_large_frames
from sotto.images.image_decoding import ImageError, decode_image, thumbnail
from sotto.images.image_kinds import image_kind

_NAME = "photo.png"
_OTHERS = (
    b"", b"\x00", b"<svg xmlns='http://www.w3.org/2000/svg'><rect width='1e9'/></svg>", b"<?xml version='1.0'?><svg/>",
    b"<html><img src='a.png'></html>", b"%PDF-1.7\n%%EOF", b"PK\x03\x04", b"GGUF\x03\0\0\0", b"{}", b"\xff\xd8", b"BM",
    b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", b"\0\0\0\x18ftypavif\0\0\0\0avifmif1", b"RIFF\x04\0\0\0WEBP", b"II*\0",
)  # fmt: skip
_SIZES = (0, 1, 2, 7, 255, 4096, 10_000, 32_768, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1)
_BYTES = (0, 1, 2, 7, 0x7F, 0x80, 0xFE, 0xFF)
# One in that many is also decoded by the program's own child process, which takes a tenth of a second to start.
_CHILD_EVERY = 20


class Images(Target):
    """Images, up to their pixels."""

    stages = ("recognised", "size read", "decoded")
    first_share, last_share = 60, 20
    # Those of the child process.
    cpu_seconds, wall_seconds = 45.0, 120.0
    memory = 2 << 30

    def prepare(self, folder: Path) -> None:
        """Have Pillow refuse what it refuses in the child process."""
        refuse_large_frames()

    def make(self, random: Random) -> bytes:
        """Change a file of some kind, or take another one."""
        files = _files()
        data = random.choice(files)
        choice = random.random()
        if choice < 0.05:
            return random.choice(_OTHERS)
        if choice < 0.1:
            # The beginning of one kind, and the rest of another.
            return data[: random.randrange(1, 64)] + random.choice(files)[random.randrange(64) :]
        if choice < 0.2:
            return data[: random.randrange(len(data))]
        if choice < 0.3:
            return _resized(data, random)
        if data.startswith(b"\x89PNG") and choice < 0.8:
            return _rechunked(data, random)
        return _with_other_bytes(data, random)

    def run(self, data: bytes, mark: Mark) -> None:
        """Decode the file as the child process does, and sometimes with that process itself."""
        if image_kind(data):
            mark("recognised")
        size_why, *size, _ = read_image(data, ["size"])
        if not size_why:
            mark("size read")
        why, *read, chunks = read_image(data, ["pixels"])
        pixels = b"".join(chunks)
        if sum(data) % _CHILD_EVERY == 0:
            # Raises the same error, if any.
            found = decode_image(data, _NAME)
            assert found.pixels == pixels
            assert not data or Image.open(io.BytesIO(thumbnail(data, 32))).size <= (32, 32)
        if why:
            raise ImageError(f"{_NAME} {why}.")
        assert size_why or size == read
        assert len(pixels) == 3 * read[0] * read[1]
        mark("decoded")

    def names(self, message: str) -> bool:
        """Return whether the message names the file."""
        return message.startswith(_NAME)


def _files() -> list[bytes]:
    if not _MADE:
        _MADE.extend(_made())
    return _MADE


_MADE: list[bytes] = []


def _made() -> list[bytes]:
    """Return small files of all kinds."""
    noise = chance.Random(0).randbytes(40 * 30 * 4)
    image = Image.frombytes("RGBA", (40, 30), noise)
    plain, smooth = image.convert("RGB"), Image.linear_gradient("L").resize((50, 40)).convert("RGB")
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a photo"
    profile = rgb_profile(SWAPPED_PRIMARIES)
    frames = {"save_all": True, "append_images": [smooth.rotate(90), smooth.rotate(180)]}
    return [
        saved(image, "PNG"),
        saved(plain, "PNG", exif=exif, icc_profile=profile),
        saved(smooth.convert("P"), "PNG", transparency=3),
        saved(smooth.convert("1"), "PNG"),
        png(
            3,
            2,
            b"\0" + bytes(6) + b"\0" + bytes(range(6)),
            colour=0,
            depth=16,
            chunks=[png_profile(grey_profile(1.8))],
        ),
        saved(smooth, "JPEG", exif=exif, icc_profile=profile),
        saved(plain, "JPEG", progressive=True),
        saved(smooth.convert("CMYK"), "JPEG"),
        saved(smooth.convert("L"), "JPEG"),
        saved(image, "WEBP", exif=exif),
        saved(smooth, "WEBP", lossless=True),
        saved(smooth, "WEBP", **frames),
        saved(smooth.convert("P"), "GIF"),
        saved(smooth, "GIF", **frames),
        saved(plain, "BMP"),
        saved(smooth.convert("P"), "BMP"),
        saved(plain, "TIFF", exif=exif),
        saved(smooth, "TIFF", compression="tiff_lzw"),
        saved(smooth, "TIFF", compression="tiff_deflate", icc_profile=profile),
        saved(smooth.convert("CMYK"), "TIFF", compression="jpeg"),
        saved(smooth.convert("1"), "TIFF", compression="group4"),
    ]


def _resized(data: bytes, random: Random) -> bytes:
    """Return a file whose header tells of another size."""
    width, height = random.choice(_SIZES), random.choice(_SIZES)
    if data.startswith(b"\x89PNG"):
        header = struct.pack(">II", width, height) + data[24:29]
        return data[:16] + header + struct.pack(">I", zlib.crc32(b"IHDR" + header)) + data[33:]
    changed = bytearray(data)
    short = struct.pack("<HH", width & 0xFFFF, height & 0xFFFF)
    if data.startswith(b"GIF"):
        changed[6:10] = short
        if random.random() < 0.5 and (frame := data.find(b",")) > 0:
            changed[frame + 5 : frame + 9] = short
    elif data.startswith(b"BM"):
        changed[18:26] = struct.pack("<II", width, height)
    elif data.startswith(b"RIFF"):
        changed[24:30] = struct.pack("<I", width)[:3] + struct.pack("<I", height)[:3]
    elif (frame := max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))) > 0:
        changed[frame + 5 : frame + 9] = struct.pack(">HH", height & 0xFFFF, width & 0xFFFF)
    return bytes(changed)


def _rechunked(data: bytes, random: Random) -> bytes:
    """Return a PNG file with chunks that are changed, doubled, moved or left out, all with correct checksums."""
    chunks, place = [], 8
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        chunks.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + length]))
        place += 12 + length
    for _ in range(values.times(random)):
        which = random.randrange(len(chunks))
        name, content = chunks[which]
        kind = random.randrange(6)
        if kind == 0:
            chunks[which] = (
                random.choice((b"tRNS", b"PLTE", b"iCCP", b"eXIf", b"acTL", b"fcTL", b"zTXt", b"IDAT")),
                content,
            )
        elif kind == 1:
            chunks.insert(random.randrange(len(chunks)), (name, content))
        elif kind == 2 and len(chunks) > 1:
            chunks.pop(which)
        elif name == b"IDAT" and kind == 3:
            chunks[which] = (name, _with_other_rows(content, random))
        else:
            chunks[which] = (name, _with_other_bytes(content, random))
    return data[:8] + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


def _with_other_rows(content: bytes, random: Random) -> bytes:
    """Return compressed rows with changes inside; the same if an earlier change has broken them."""
    try:
        rows = zlib.decompressobj().decompress(content)
    except zlib.error:
        return content
    return zlib.compress(_with_other_bytes(rows, random))


def _with_other_bytes(data: bytes, random: Random) -> bytes:
    """Return bytes of which a few are changed, inserted or left out; most changes are near the beginning."""
    changed = bytearray(data)
    for _ in range(values.times(random)):
        place = int(len(changed) * random.random() ** 3)
        length = random.choice((1, 1, 1, 2, 4))
        new = bytes(random.choice(_BYTES) if random.random() < 0.5 else random.randrange(256) for _ in range(length))
        kind = random.randrange(8)
        if kind == 0:
            changed[place:place] = new
        elif kind == 1:
            del changed[place : place + length]
        else:
            changed[place : place + length] = new
    return bytes(changed)


TARGET = Images()
