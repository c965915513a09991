"""Files of images, written by hand where Pillow, which also reads them, would be no independent truth."""

import io
import struct
import zlib

SWAPPED_PRIMARIES = {
    b"rXYZ": (0.1431, 0.0606, 0.7141),
    b"gXYZ": (0.3851, 0.7169, 0.0971),
    b"bXYZ": (0.4361, 0.2225, 0.0139),
}


def saved(image, form, **options):
    """Return a file of a Pillow image."""
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def png(width, height, rows=b"", depth=8, colour=2, chunks=()):
    """Return a PNG file; without `rows`, one whose pixels are all zero.

    Args:
        width: In pixels.
        height: In pixels.
        rows: The pixels, each row after a byte of zero.
        depth: Bits per channel.
        colour: PNG's type of colour: 0 for grey, 2 for RGB, 4 for grey with alpha, 6 for RGB with alpha.
        chunks: Names and contents of further chunks before the pixels.
    """
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    packed = zlib.compressobj(9)
    if rows:
        body = packed.compress(rows)
    else:
        row = bytes(1 + (width * channels * depth + 7) // 8)
        body = b"".join(packed.compress(row) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    parts = ((b"IHDR", header), *chunks, (b"IDAT", body + packed.flush()), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png_profile(profile):
    """Return the chunk of a PNG file that embeds a colour profile."""
    return b"iCCP", b"profile\0\0" + zlib.compress(profile)


def rgb_profile(primaries, gamma=2.2):
    """Return an ICC profile of a monitor with three primaries, given as X, Y and Z under D50."""
    curves = dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), _curve(gamma))
    return _profile(b"RGB ", {name: _xyz(*values) for name, values in primaries.items()} | curves)


def grey_profile(gamma):
    """Return an ICC profile of shades of grey."""
    return _profile(b"GRAY", {b"kTRC": _curve(gamma)})


def _profile(space, tags):
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", 5) + b"test\0" + bytes(78),
        b"cprt": b"text\0\0\0\0none\0",
        b"wtpt": _xyz(0.9642, 1.0, 0.8249),
        **tags,
    }
    table, body = struct.pack(">I", len(tags)), b""
    start = 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        table += name + struct.pack(">II", start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    header = struct.pack(">I4sI4s4s4s", 128 + len(table) + len(body), b"\0" * 4, 0x02400000, b"mntr", space, b"XYZ ")
    header += struct.pack(">6H4s", 2026, 1, 1, 0, 0, 0, b"acsp") + bytes(28) + _fixed(0.9642, 1.0, 0.8249)
    return header.ljust(128, b"\0") + table + body


def _xyz(*values):
    return b"XYZ \0\0\0\0" + _fixed(*values)


def _fixed(*values):
    return struct.pack(f">{len(values)}i", *(round(value * 65536) for value in values))


def _curve(gamma):
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"
