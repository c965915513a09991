"""GGUF files that were split into parts: read as one model, and joined to one file.

The first part has all values, each part the entries and data of its own tensors. https://github.com/ggml-org/llama.cpp
(tools/gguf-split).
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.files import open_regular, read_exactly
from sotto.store.gguf.block_types import BLOCK_TYPES
from sotto.store.gguf.file import GgufFile, read_gguf_file
from sotto.store.gguf.reader import ARRAY, MAGIC, TEXT, Reader
from sotto.store.importing.import_plan import Piece, Segment
from sotto.store.locating import folder_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import TensorInfo

_SPLIT = "split."
_VERSION, _ALIGNMENT = 3, 32
_NUMBERS = {kind.name: number for number, kind in BLOCK_TYPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedGguf(GgufFile):
    """The headers of all parts of a model; the path and size are those of the first part.

    Attributes:
        owners: The part that holds each tensor.
    """

    owners: Mapping[str, Path]

    def read(self, tensor: TensorInfo) -> bytes:
        """Return the bytes of a small tensor, as `GgufFile` does."""
        name = next(name for name, info in self.tensors.items() if info is tensor)
        with open_regular(self.owners[name]) as (file, _):
            file.seek(tensor.start)
            return read_exactly(file, tensor.nbytes, self.owners[name])


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the parts of the model that a GGUF file belongs to, in order; the file itself if it was not split.

    Raises:
        BrokenModelError: A part is missing, or leads out of its folder.
    """
    folder = folder_of(path.parent)
    names = next((parts for parts in folder.ggufs.values() if path in parts), [path])
    return tuple([folder.file(part.name) for part in names])


def read_parts(paths: Sequence[Path], wanted: Callable[[str], bool] = lambda _: True) -> JoinedGguf:
    """Return the headers of the parts of a model.

    Args:
        paths: The parts, in order.
        wanted: As `read_gguf_file` takes it.

    Raises:
        BrokenModelError: A part is missing or damaged, or two of them have a tensor of the same name.
    """
    files = [read_gguf_file(path, wanted) for path in paths]
    count = files[0].values.get(f"{_SPLIT}count", 1)
    numbers = [file.values.get(f"{_SPLIT}no", 0) for file in files]
    if count != len(files) or numbers != list(range(len(files))):
        raise BrokenModelError(
            f"{printable_path(paths[0])} is one of {count} parts, of which {len(files)} are there in order; download "
            "the model again."
        )
    tensors: dict[str, TensorInfo] = {}
    owners: dict[str, Path] = {}
    for file in files:
        for name, info in file.tensors.items():
            if name in owners:
                raise BrokenModelError(
                    f"Tensor {printable(name)} is in both {printable_path(owners[name])} and "
                    f"{printable_path(file.path)}; it should be in one."
                )
            tensors[name], owners[name] = info, file.path
    values = {key: value for key, value in files[0].values.items() if not key.startswith(_SPLIT)}
    return JoinedGguf(
        files[0].path,
        files[0].size,
        MappingProxyType(values),
        MappingProxyType(tensors),
        owners=MappingProxyType(owners),
    )


def join(file: JoinedGguf) -> tuple[Piece, ...]:
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
        pieces += [Segment(file.owners[name], info.start, info.end), bytes(padding)]
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
