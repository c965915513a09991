"""Reading and validating the headers of safetensors files.

A file is the length of its header as a little-endian u64, the header as JSON, and the data. The header maps each
tensor's name to `dtype`, `shape` and `data_offsets` (begin and end, relative to the end of the header); its
`__metadata__` maps strings to strings. Tensors cover the data exactly: no overlap, no gap, nothing after the last one.
https://huggingface.co/docs/safetensors
"""

import math
import struct
from io import FileIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, parse_object
from sotto.store.files import open_regular, read_exactly
from sotto.store.printable import format_size, printable, printable_path
from sotto.store.records import TensorFile, TensorInfo

HEADER_LIMIT = 100 << 20

_LENGTH = struct.Struct("<Q")
# Most headers of single tensors fit, and disks read at least this much at once.
_FIRST_READ = 4096
_MAX_DIMENSIONS = 32
_MAX_BITS = 1 << 63
_BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip


def read_header(path: Path, digest: str = "") -> TensorFile:
    """Return a file's tensors without reading their data.

    Args:
        path: The file.
        digest: The digest that the store names the file by; empty if it does not.

    Raises:
        BrokenModelError: The file cannot be read, or its header is damaged or inconsistent.
    """
    with open_regular(path) as (file, size):
        return parse_header(read_raw_header(file, size, path), size, path, digest)


def read_raw_header(file: FileIO, size: int, path: str | Path) -> bytes:
    """Return the first bytes of an open file of `size` bytes, up to the end of its header.

    Raises:
        BrokenModelError: The announced header is longer than the file or than `HEADER_LIMIT`.
    """
    first = read_exactly(file, min(size, _FIRST_READ), path)
    if len(first) < _LENGTH.size:
        raise BrokenModelError(
            f"{printable_path(path)} is only {size} bytes long; a safetensors file begins with 8 bytes for its "
            "header's length."
        )
    (length,) = _LENGTH.unpack_from(first)
    if length > HEADER_LIMIT:
        raise BrokenModelError(
            f"{printable_path(path)} announces a header of {format_size(length)}; {format_size(HEADER_LIMIT)} is the "
            "most."
        )
    end = _LENGTH.size + length
    if end > size:
        raise BrokenModelError(
            f"{printable_path(path)} announces a header of {length} bytes, but the whole file has only {size}; it "
            "is cut off or not a safetensors file."
        )
    if end <= len(first):
        return first[:end]
    return first + read_exactly(file, end - len(first), path)


def parse_header(raw: bytes, size: int, path: Path, digest: str = "") -> TensorFile:
    """Return the tensors that a header describes.

    Args:
        raw: The file's bytes up to the end of its header, as `read_raw_header` returns them.
        size: Size of the whole file in bytes.
        path: The file.
        digest: The digest that the store names the file by; empty if it does not.

    Raises:
        BrokenModelError: The header is damaged or inconsistent.
    """
    header = parse_object(raw[_LENGTH.size :], path, strict=True)
    metadata = _metadata(header.pop("__metadata__", None), path)
    start = len(raw)
    tensors = {}
    extents = []
    for name, entry in header.items():
        try:
            tensors[name] = info = _info(entry, start)
        except ValueError as error:
            raise BrokenModelError(f"{printable_path(path)}: tensor {printable(name)} {error}.") from error
        extents.append((info.start, info.end, name))
    _require_cover(extents, start, size, path)
    return TensorFile(path, digest, MappingProxyType(tensors), MappingProxyType(metadata))


def _metadata(value: Any, path: Path) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise BrokenModelError(f"{printable_path(path)}: __metadata__ should map texts to texts.")
    return value


def _info(entry: Any, start: int) -> TensorInfo:
    """Return a tensor from its header entry, with the data beginning at byte `start` of the file.

    Raises:
        ValueError: The entry is invalid; the message is the predicate of a sentence about the tensor.
    """
    if type(entry) is not dict:
        raise ValueError(f"is described by {kind_of(entry)}; it should be an object")
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in _BITS:
        found = f"'{printable(dtype)}'" if isinstance(dtype, str) else kind_of(dtype)
        raise ValueError(f"has dtype {found}, which safetensors does not have")
    bits = _BITS[dtype]
    if type(shape) is not list or len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"should have a shape that is a list of at most {_MAX_DIMENSIONS} numbers")
    for size in shape:
        if type(size) is not int or size < 0:
            raise ValueError("has a shape with something that is not a whole number from 0 on")
    # Zeros count as one here, because other readers multiply in order and overflow before they reach a zero.
    if math.prod([size or 1 for size in shape]) * bits >= _MAX_BITS:
        raise ValueError("has a shape of more elements than any memory holds")
    if type(offsets) is not list or len(offsets) != 2 or not all(type(offset) is int for offset in offsets):
        raise ValueError("should have data_offsets of two whole numbers")
    begin, end = offsets
    if not 0 <= begin <= end < _MAX_BITS:
        raise ValueError("has data_offsets that run backwards, begin before the data or end beyond any file")
    needed = math.prod(shape) * bits
    if needed % 8 or end - begin != needed // 8:
        raise ValueError(f"takes {needed / 8:.15g} bytes by its shape and dtype, but {end - begin} by its data_offsets")
    return TensorInfo(dtype, tuple(shape), start + begin, start + end)


def _require_cover(extents: list[tuple[int, int, str]], start: int, size: int, path: Path) -> None:
    """Raise BrokenModelError unless the extents cover each byte from `start` to `size` exactly once."""
    position = start
    for begin, end, name in sorted(extents):
        if begin != position:
            problem = (
                "overlaps the one before" if begin < position else f"leaves {begin - position} unused bytes before"
            )
            raise BrokenModelError(
                f"{printable_path(path)}: tensor {printable(name)} {problem} it; tensors should follow each other."
            )
        position = end
    if position != size:
        problem = (
            f"is cut off: its tensors end at byte {position}, the file at byte {size}"
            if position > size
            else f"has {size - position} bytes after its last tensor; there should be none"
        )
        raise BrokenModelError(f"{printable_path(path)} {problem}.")
