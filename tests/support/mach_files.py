"""Small programs and libraries of macOS, as far as their headers go."""

import struct
from collections.abc import Sequence

ARM64, INTEL = 0x0100000C, 0x01000007
_PROGRAM, _LIBRARY = 2, 6
_ID, _LOAD, _RPATH, _BUILD, _SIGNATURE = 0xD, 0xC, 0x8000001C, 0x32, 0x1D


def _command(kind: int, body: bytes) -> bytes:
    padded = body.ljust(-(-len(body) // 8) * 8, b"\0")
    return struct.pack("<II", kind, 8 + len(padded)) + padded


def _text(kind: int, text: str, *numbers: int) -> bytes:
    """Return a command with a text, which begins after its numbers."""
    return _command(kind, struct.pack(f"<{1 + len(numbers)}I", 12 + 4 * len(numbers), *numbers) + text.encode() + b"\0")


def binary(
    name: str = "",
    *,
    libraries: Sequence[str] = ("/usr/lib/libSystem.B.dylib",),
    folders: Sequence[str] = (),
    architecture: int = ARM64,
    minimum: tuple[int, int] = (14, 0),
    kit: tuple[int, int] = (15, 0),
    signed: bool = True,
    content: bytes = b"",
) -> bytes:
    """Return a library of that name, or a program if it has none."""
    commands = [_text(_ID, name, 2, 0x10000, 0x10000)] if name else []
    commands += [_text(_LOAD, library, 2, 0x10000, 0x10000) for library in libraries]
    commands += [_text(_RPATH, folder) for folder in folders]
    versions = (major << 16 | minor << 8 for major, minor in (minimum, kit))
    commands.append(_command(_BUILD, struct.pack("<4I", 1, *versions, 0)))
    commands += [_command(_SIGNATURE, struct.pack("<2I", 0, 0))] if signed else []
    joined = b"".join(commands)
    kind = _LIBRARY if name else _PROGRAM
    header = struct.pack("<4s2i5I", b"\xcf\xfa\xed\xfe", architecture, 0, kind, len(commands), len(joined), 0, 0)
    return header + joined + content


def fat(*parts: tuple[int, bytes]) -> bytes:
    """Return a file for several architectures."""
    header, body = struct.pack(">4sI", b"\xca\xfe\xba\xbe", len(parts)), b""
    for architecture, part in parts:
        offset = 4096 * (1 + len(body) // 4096)
        header += struct.pack(">iiIII", architecture, 0, offset, len(part), 12)
        body += part.ljust(-(-len(part) // 4096) * 4096, b"\0")
    return header.ljust(4096, b"\0") + body
