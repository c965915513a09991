"""Facts about Linux programs and libraries, read with binutils, which every C++ compiler brings along."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Of a version that may be missing.
_WEAK = 2


class Place(NamedTuple):
    """Where a symbol's bytes are in a file."""

    name: str
    offset: int
    size: int


def is_elf(path: Path) -> bool:
    """Return whether a file is a program or library."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def files(folder: Path) -> Iterator[Path]:
    """Yield the programs and libraries in a folder."""
    return (path for path in sorted(folder.rglob("*")) if is_elf(path))


def needed(path: Path) -> set[str]:
    """Return the names of the libraries that a file asks for."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", _read(path, "-d")))


def soname(path: Path) -> str:
    """Return the name under which a library is asked for."""
    found = re.search(r"\(SONAME\).*\[(.+)\]", _read(path, "-d"))
    return found.group(1) if found else path.name


def undefined(path: Path) -> set[str]:
    """Return the symbols that a file takes from others."""
    symbols = (line.split() for line in _read(path, "--dyn-syms").splitlines())
    return {symbol[7].partition("@")[0] for symbol in symbols if len(symbol) == 8 and symbol[6] == "UND"}


def exported(path: Path) -> set[str]:
    """Return the symbols that a file offers."""
    # A name for another function has a type of two words.
    lines = re.findall(r" (?:GLOBAL|WEAK) +\S+ +\d+ (\S+)", _read(path, "--dyn-syms"))
    return {name.partition("@")[0] for name in lines}


def asked_of(path: Path, version: str) -> set[str]:
    """Return the functions that a file takes from a version of a library, such as `GLIBC_2.36`."""
    return set(re.findall(rf" UND (\S+)@{re.escape(version)} ", _read(path, "--dyn-syms")))


def make_optional(path: Path, version: str) -> None:
    """Let a file be loaded where a version of a library, such as `GLIBC_2.36`, is missing."""
    section = re.search(
        r"^Version needs .+?^ *Addr: \S+ +Offset: 0x(\w+)(.+)", _read(path, "-V"), re.MULTILINE | re.DOTALL
    )
    assert section is not None
    content = bytearray(path.read_bytes())
    for entry in re.findall(rf"0x(\w+): +Name: {re.escape(version)} ", section.group(2)):
        # After a number of four bytes.
        content[int(section.group(1), 16) + int(entry, 16) + 4] |= _WEAK
    path.write_bytes(content)


def glibc(path: Path) -> tuple[int, ...]:
    """Return the version of glibc that a file needs, such as (2, 35); (0,) if it needs none."""
    found = re.findall(r"Name: GLIBC_([\d.]+) +Flags: none ", _read(path, "-V"))
    return max((tuple(map(int, version.split("."))) for version in found), default=(0,))


def place(path: Path, pattern: str) -> Place:
    """Return where the data of the only exported symbol whose name matches `pattern` is."""
    (symbol,) = (line.split() for line in _read(path, "--dyn-syms").splitlines() if re.search(rf"\s{pattern}$", line))
    address, size, section = int(symbol[1], 16), int(symbol[2], 0), int(symbol[6])
    header = re.search(rf"^ *\[ *{section}\] \S+ +\S+ +([0-9a-f]+) ([0-9a-f]+)", _read(path, "-S"), re.MULTILINE)
    assert header is not None
    start, offset = (int(number, 16) for number in header.groups())
    return Place(symbol[7], address - start + offset, size)


def _read(path: Path, option: str) -> str:
    return subprocess.run(["readelf", "-W", option, str(path)], capture_output=True, text=True, check=True).stdout
