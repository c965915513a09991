"""Facts about programs and libraries of macOS, and files that are made for one architecture alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from macholib.mach_o import (
    CPU_TYPE_NAMES,
    LC_BUILD_VERSION,
    LC_CODE_SIGNATURE,
    LC_ID_DYLIB,
    LC_LAZY_LOAD_DYLIB,
    LC_LOAD_DYLIB,
    LC_LOAD_WEAK_DYLIB,
    LC_REEXPORT_DYLIB,
    LC_RPATH,
    LC_VERSION_MIN_MACOSX,
    MH_BUNDLE,
    MH_DYLIB,
    MH_EXECUTE,
)
from macholib.MachO import MachO, MachOHeader

_THIN, _FAT = b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"
_ARM64 = 0x0100000C
# Java's classes begin with the same four bytes, and then have a version of at least 45.
_MOST_SLICES = 20
_LOADS = (LC_LOAD_DYLIB, LC_LOAD_WEAK_DYLIB, LC_REEXPORT_DYLIB, LC_LAZY_LOAD_DYLIB)
_KINDS = {MH_EXECUTE: "program", MH_DYLIB: "library", MH_BUNDLE: "plug-in"}


@dataclass(frozen=True)
class Binary:
    """A program, library or plug-in for one architecture.

    Attributes:
        architecture: Such as `ARM64`.
        kind: `program`, `library`, `plug-in`, or the number of another kind.
        minimum: The oldest version of macOS that it declares, such as (14, 0); (0,) if it declares none.
        kit: The version of macOS's development kit that it was built with, like `minimum`.
        name: Under which name a library is asked for; empty for others.
        libraries: What it asks for.
        folders: Where it looks for libraries that begin with `@rpath`.
        signed: Whether it has a signature, if only its linker's.
    """

    architecture: str
    kind: str
    minimum: tuple[int, ...]
    kit: tuple[int, ...]
    name: str
    libraries: tuple[str, ...]
    folders: tuple[str, ...]
    signed: bool


def is_macho(path: Path) -> bool:
    """Return whether a file is a program, library or plug-in of macOS."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(8)
    return start[:4] == _THIN or (start[:4] == _FAT and 0 < int.from_bytes(start[4:]) < _MOST_SLICES)


def files(folder: Path) -> Iterator[Path]:
    """Yield the programs, libraries and plug-ins in a folder."""
    return (path for path in sorted(folder.rglob("*")) if is_macho(path))


def read(path: Path) -> list[Binary]:
    """Return what a file holds: one for each architecture."""
    return [_read(header) for header in MachO(str(path)).headers]


def _read(header: MachOHeader) -> Binary:
    loads, folders, name, minimum, kit, signed = [], [], "", 0, 0, False
    for command, fields, data in header.commands:
        kind = command.cmd
        if kind in _LOADS:
            loads.append(_text(data))
        elif kind == LC_ID_DYLIB:
            name = _text(data)
        elif kind == LC_RPATH:
            folders.append(_text(data))
        elif kind == LC_BUILD_VERSION:
            minimum, kit = int(fields.minos), int(fields.sdk)
        elif kind == LC_VERSION_MIN_MACOSX:
            minimum, kit = int(fields.version), int(fields.sdk)
        elif kind == LC_CODE_SIGNATURE:
            signed = True
    architecture = CPU_TYPE_NAMES.get(header.header.cputype, str(header.header.cputype))
    kind = _KINDS.get(header.header.filetype, f"kind {header.header.filetype}")
    found = (tuple(loads), tuple(folders))
    return Binary(architecture, kind, _version(minimum), _version(kit), name, *found, signed)


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode()


def _version(number: int) -> tuple[int, ...]:
    """Return a version as numbers, from the form xxxx.yy.zz in 32 bits."""
    return (number >> 16, number >> 8 & 0xFF) if number else (0,)


def thin(path: Path) -> None:
    """Leave of a file for several architectures the part for Apple silicon, which keeps the signature that it has.

    Raises:
        ValueError: It has no such part.
    """
    content = path.read_bytes()
    if content[:4] != _FAT:
        return
    (count,) = struct.unpack_from(">I", content, 4)
    for position in range(8, 8 + 20 * count, 20):
        architecture, _, offset, size, _ = struct.unpack_from(">iiIII", content, position)
        if architecture == _ARM64:
            path.write_bytes(content[offset : offset + size])
            return
    raise ValueError(f"{path} has no part for Apple silicon")
