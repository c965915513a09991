"""Makes ICU's data smaller: 32 MB in Qt's copy, of which Qt reads the order of letters and a few tables.

Names of languages, countries, currencies and units, dictionaries for line breaks and transliterations are services of
ICU that Qt has no use for: it brings its own, or none. It would read the names of time zones, for long forms of times,
and old encodings, neither of which Sotto asks for.
"""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from pathlib import Path

from artefacts import elf

# Folders of ICU's data, and names of files outside folders.
_UNUSED_FOLDERS = frozenset({"brkitr", "curr", "lang", "rbnf", "region", "translit", "unit", "zone"})
# Encodings, rules for names in protocols, characters that look alike, and characters' names.
_UNUSED_KINDS = (".cnv", ".spp", ".cfu", "unames.icu")
# The texts and forms of a language.
_LANGUAGE = re.compile(r"[a-z]{2,3}(_\w+)?\.res")
_ENTRY = struct.Struct("<II")
_ALIGNMENT = 16


def is_used(name: str) -> bool:
    """Return whether Qt may read an item, such as `coll/de.res` or `zoneinfo64.res`."""
    folder, _, file = name.rpartition("/")
    if folder:
        return folder not in _UNUSED_FOLDERS
    return not file.endswith(_UNUSED_KINDS) and not _LANGUAGE.fullmatch(file)


def shrink(library: Path) -> None:
    """Replace `libicudata.so` by one with the items that are used."""
    place = elf.place(library, r"icudt\d+_dat")
    data = library.read_bytes()[place.offset : place.offset + place.size]
    with tempfile.TemporaryDirectory() as folder:
        content, source, made = (Path(folder) / name for name in ("data", "data.s", "made.so"))
        content.write_bytes(selected(data))
        source.write_text(
            f".section .rodata\n.balign {_ALIGNMENT}\n.globl {place.name}\n.type {place.name}, %object\n"
            f'{place.name}:\n.incbin "{content}"\n.size {place.name}, . - {place.name}\n'
            '.section .note.GNU-stack, "", %progbits\n'
        )
        options = ("-shared", "-nostdlib", f"-Wl,-soname,{elf.soname(library)}", "-Wl,-Bsymbolic")
        subprocess.run(["g++", *options, str(source), "-o", str(made)], check=True)
        library.write_bytes(made.read_bytes())


def selected(data: bytes) -> bytes:
    """Return ICU's data with only the items that are used.

    After a header come the number of items and, in order of their names, where the name and the content of each are,
    counted from after the header.
    """
    (header,) = struct.unpack_from("<H", data)
    if data[2:4] != b"\xda\x27" or data[12:16] != b"CmnD":
        raise ValueError("this is not the collection of ICU's data that was expected")
    body = data[header:]
    (count,) = struct.unpack_from("<I", body)
    entries = list(_ENTRY.iter_unpack(body[4 : 4 + count * _ENTRY.size]))
    ends = [content for _, content in entries[1:]] + [len(body)]
    items = [
        (body[name : body.index(b"\0", name) + 1], body[content:end])
        for (name, content), end in zip(entries, ends, strict=True)
    ]
    kept = [(name, content) for name, content in items if is_used(name[:-1].decode().partition("/")[2])]
    names = 4 + len(kept) * _ENTRY.size
    contents = _aligned(names + sum(len(name) for name, _ in kept))
    table = struct.pack("<I", len(kept))
    for name, content in kept:
        table += _ENTRY.pack(names, contents)
        names, contents = names + len(name), contents + _aligned(len(content))
    table += b"".join(name for name, _ in kept)
    return data[:header] + b"".join(
        part.ljust(_aligned(len(part)), b"\0") for part in (table, *(content for _, content in kept))
    )


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
