"""Reading the whole header of a GGUF file: every value and every tensor, each validated against the file."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.files import open_regular, read_exactly
from sotto.store.gguf.block_types import BLOCK_TYPES
from sotto.store.gguf.reader import ARRAY, TEXT, Reader
from sotto.store.printable import printable, printable_path
from sotto.store.records import FilePart, TensorInfo

# In bytes; chat templates are the longest strings.
_MAX_STRING = 4 << 20
_MAX_ARRAY_STRING = 1 << 16
_MAX_ELEMENTS = 1 << 48
_ALIGNMENT, _MAX_ALIGNMENT = 32, 1 << 20


@dataclass(frozen=True, slots=True)
class GgufFile:
    """The validated header of a GGUF file.

    Attributes:
        path: The file.
        size: Its size in bytes.
        values: Numbers, booleans, strings and lists of one of these, by key.
        tensors: The tensors by name, in the header's order; the dimension that varies fastest is last, as in MLX.
        more_parts: The files after the first of a model that is split into several, with offsets as tensors have them.
    """

    path: Path
    size: int
    values: Mapping[str, Any]
    tensors: Mapping[str, TensorInfo]
    more_parts: tuple[FilePart, ...] = ()

    def read(self, tensor: TensorInfo) -> bytes:
        """Return the bytes of a small tensor.

        Raises:
            BrokenModelError: The file cannot be read, or has become shorter.
        """
        parts = FilePart(self.path, 0), *self.more_parts
        part = next(part for part in reversed(parts) if part.start <= tensor.start)
        with open_regular(part.path) as (file, _):
            file.seek(tensor.start - part.start)
            return read_exactly(file, tensor.nbytes, part.path)


def read_gguf_file(path: Path, wanted: Callable[[str], bool] = lambda _: True) -> GgufFile:
    """Return the whole header of a file, without reading the tensors' data.

    Args:
        path: The file.
        wanted: Returns whether the list at a key is needed; other lists are skipped, and their value is None.

    Raises:
        BrokenModelError: The file cannot be read, or its header is damaged or inconsistent.
    """
    with open_regular(path) as (file, size), BufferedReader(file, 1 << 16) as buffered:
        try:
            return _read(Reader(buffered, size), size, path, wanted)
        except ValueError as error:
            raise BrokenModelError(f"{printable_path(path)} is not a readable GGUF file: {error}.") from error


def _read(reader: Reader, size: int, path: Path, wanted: Callable[[str], bool]) -> GgufFile:
    count, pairs = reader.counts()
    values: dict[str, Any] = {}
    for _ in range(pairs):
        key = reader.name("key")
        if key in values:
            raise ValueError(f"it has the key '{printable(key)}' twice")
        values[key] = _value(reader, key, wanted)
    entries = [_entry(reader) for _ in range(count)]
    alignment = values.get("general.alignment", _ALIGNMENT)
    if type(alignment) is not int or not 8 <= alignment <= _MAX_ALIGNMENT or alignment & (alignment - 1):
        raise ValueError(f"general.alignment is {alignment!r:.40}; it should be a power of two from 8 on")
    start = -(-reader.position // alignment) * alignment
    tensors: dict[str, TensorInfo] = {}
    for name, shape, kind, offset in entries:
        if name in tensors:
            raise ValueError(f"it has the tensor '{printable(name)}' twice")
        tensors[name] = _info(name, shape, kind, offset, start, size, alignment)
    _require_no_overlap(tensors)
    return GgufFile(path, size, MappingProxyType(values), MappingProxyType(tensors))


def _value(reader: Reader, key: str, wanted: Callable[[str], bool]) -> Any:
    """Return the next value; None for an unwanted list."""
    kind = reader.u32()
    if kind == TEXT:
        text = reader.text(_MAX_STRING)
        if text is None:
            raise ValueError(f"its text '{printable(key)}' is longer than {_MAX_STRING >> 20} MiB")
        return text
    if kind != ARRAY:
        return reader.scalar(kind)
    item_kind, count = reader.u32(), reader.u64()
    if item_kind == ARRAY:
        raise ValueError("it has an array of arrays, which no model needs")
    if not wanted(key):
        reader.skip_texts(count) if item_kind == TEXT else reader.skip_scalars(item_kind, count)
        return None
    return reader.texts(count, _MAX_ARRAY_STRING) if item_kind == TEXT else list(reader.scalars(item_kind, count))


def _entry(reader: Reader) -> tuple[str, tuple[int, ...], int, int]:
    """Return the name, shape, type and offset of the next tensor."""
    return reader.name("tensor name"), reader.shape(), reader.u32(), reader.u64()


def _info(
    name: str, shape: tuple[int, ...], kind: int, offset: int, start: int, size: int, alignment: int
) -> TensorInfo:
    """Return a tensor from its entry, in a file of `size` bytes whose tensor data begins at byte `start`."""
    tensor = f"tensor '{printable(name)}'"
    block = BLOCK_TYPES.get(kind)
    if block is None:
        raise ValueError(f"{tensor} is of type {kind}, which Sotto does not know")
    elements = math.prod(shape)
    if not shape or not 0 < elements < _MAX_ELEMENTS:
        raise ValueError(f"{tensor} has the shape {printable(str(list(shape)))}, which no tensor of a model has")
    if shape[-1] % block.size:
        raise ValueError(f"{tensor} has rows of {shape[-1]} elements; in {block.name} they should be whole blocks of "
                         f"{block.size}")  # fmt: skip
    if offset % alignment:
        raise ValueError(f"{tensor} begins at byte {offset} of the data, which is not a multiple of {alignment}")
    begin = start + offset
    end = begin + elements // block.size * block.nbytes
    if end > size:
        raise ValueError(f"{tensor} ends at byte {end}, but the file has only {size}; download the model again")
    return TensorInfo(block.name, shape, begin, end)


def _require_no_overlap(tensors: Mapping[str, TensorInfo]) -> None:
    """Raise ValueError if two tensors share bytes."""
    position = 0
    for name, tensor in sorted(tensors.items(), key=lambda item: item[1].start):
        if tensor.start < position:
            raise ValueError(f"tensor '{printable(name)}' overlaps the one before it")
        position = tensor.end
