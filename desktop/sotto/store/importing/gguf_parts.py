"""GGUF models that are split into several files, joined to one; see `sotto.store.gguf.split_files`."""

import struct
from io import BufferedReader
from pathlib import Path
from typing import Any

from sotto.store.files import open_regular
from sotto.store.gguf.block_types import BLOCK_TYPES
from sotto.store.gguf.file import GgufFile
from sotto.store.gguf.reader import ARRAY, MAGIC, TEXT, Reader
from sotto.store.importing.import_plan import Part, Piece, Segment
from sotto.store.locating import folder_of
from sotto.store.records import FilePart, TensorInfo

_SPLIT = "split."
_VERSION, _ALIGNMENT = 3, 32
_NUMBERS = {kind.name: number for number, kind in BLOCK_TYPES.items()}


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the files of the model that a GGUF file belongs to, in order; the file itself if it was not split.

    Raises:
        BrokenModelError: A file leads out of its folder.
    """
    folder = folder_of(path.parent)
    return tuple([folder.file(part.name) for part in folder.gguf_files(path)])


def part_of(file: GgufFile, info: TensorInfo) -> Part:
    """Return a tensor with the file that holds it, and its offsets there."""
    files = FilePart(file.path, 0), *file.more_parts
    held = next(part for part in reversed(files) if part.start <= info.start)
    return Part(held.path, info.dtype, info.shape, info.start - held.start, info.end - held.start)


def join(file: GgufFile) -> tuple[Piece, ...]:
    """Return the pieces of one GGUF file with all values and tensors of the parts."""
    count, pairs = _raw_pairs(file.path)
    alignment = file.values.get("general.alignment", _ALIGNMENT)
    entries: list[bytes] = []
    pieces: list[Piece] = []
    offset = 0
    for name, info in file.tensors.items():
        dimensions = info.shape[::-1]
        encoded = name.encode()
        entries.append(struct.pack(f"<Q{len(encoded)}sI", len(encoded), encoded, len(dimensions)))
        entries.append(struct.pack(f"<{len(dimensions)}QIQ", *dimensions, _NUMBERS[info.dtype], offset))
        padding = -info.nbytes % alignment
        part = part_of(file, info)
        pieces += [Segment(part.path, part.start, part.end), bytes(padding)]
        offset += info.nbytes + padding
    header = MAGIC + struct.pack("<IQQ", _VERSION, len(file.tensors), count) + pairs + b"".join(entries)
    return header + bytes(-len(header) % alignment), *pieces


def _raw_pairs(path: Path) -> tuple[int, bytes]:
    """Return the number and the bytes of the values of a file, except those that say how it was split."""
    ranges = []
    with open_regular(path) as (file, size), BufferedReader(file, 1 << 16) as buffered:
        reader = Reader(buffered, size)
        _, pairs = reader.counts()
        for _ in range(pairs):
            start = reader.position
            key = reader.name("key")
            _skip(reader)
            if not key.startswith(_SPLIT):
                ranges.append((start, reader.position))
        content = []
        for start, end in ranges:
            buffered.seek(start)
            content.append(buffered.read(end - start))
    return len(ranges), b"".join(content)


def _skip(reader: Reader) -> Any:
    kind = reader.u32()
    if kind == TEXT:
        return reader.skip(reader.u64())
    if kind != ARRAY:
        return reader.scalar(kind)
    item_kind, count = reader.u32(), reader.u64()
    return reader.skip_texts(count) if item_kind == TEXT else reader.skip_scalars(item_kind, count)
