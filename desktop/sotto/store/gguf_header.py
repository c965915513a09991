"""Headers of GGUF files, as far as a list of models shows them.

A file is the magic `GGUF`, a u32 version, a u64 count of tensors, a u64 count of key-value pairs, the pairs, and for
each tensor its name, dimensions, type and offset; everything little-endian. A text is a u64 length and its bytes.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.files import opened
from sotto.store.wording import shown, shown_path

MAGIC = b"GGUF"

_VERSIONS = (2, 3)
_MOST_PAIRS = 1 << 16
_MOST_TENSORS = 1 << 17
_MOST_DIMENSIONS = 8
_LONGEST_KEY = 1 << 16
# Texts that the list shows are short; longer ones, such as chat templates, are passed over.
_LONGEST_TEXT = 1 << 10
# Of all arrays together; vocabularies with their merges have less than a million.
_MOST_TEXTS = 1 << 21
_HEADER_LIMIT = 1 << 28
# Walking through a vocabulary takes a tenth of a second; it is passed over where the file says its size in words.
_LONG_ARRAY = 1 << 12

_SCALARS = {0: "B", 1: "b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT = 8
_ARRAY = 9
_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")

# The values of `general.file_type`.
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
_LABEL = re.compile(r"(?:(\d{1,4})x)?(\d{1,6}(?:\.\d{1,6})?)([KMBT])\b", re.IGNORECASE)
_UNITS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says of itself; empty or None where it does not."""

    kind: str
    architecture: str
    parameters: int | None
    quantization: str
    context_length: int | None


def read_gguf(path: Path) -> GgufHeader:
    """Return what the file says of itself.

    Raises:
        BrokenModelError: It is no GGUF file, or its header is damaged or lies.
    """
    with opened(path) as (file, size), BufferedReader(file, 1 << 16) as buffered:
        try:
            return _header(_Reader(buffered, min(size, _HEADER_LIMIT)))
        except ValueError as error:
            raise BrokenModelError(f"{shown_path(path)} is no GGUF file that can be read: {error}.") from error


def is_gguf(path: Path) -> bool:
    """Return whether a file is called or begins as GGUF files do.

    Raises:
        BrokenModelError: It cannot be read.
    """
    if path.suffix.lower() == ".gguf":
        return True
    with opened(path) as (file, _):
        return file.read(len(MAGIC)) == MAGIC


def parameters_of_label(label: str) -> int | None:
    """Return the number that a size in words means, such as `8.0B`, `260K` or `8x7B`; None when it is none."""
    match = _LABEL.match(label)
    if match is None:
        return None
    experts, number, unit = match.groups()
    return round(int(experts or 1) * float(number) * _UNITS[unit.upper()])


class _Reader:
    """Reads values one after the other, and never beyond `limit`; raises ValueError when they would go there."""

    def __init__(self, file: "BufferedReader[FileIO]", limit: int) -> None:
        self._file = file
        self._left = limit
        self._texts_left = _MOST_TEXTS

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        self._spend(count)
        content = self._file.read(count)
        if len(content) < count:
            raise ValueError("it is cut off")
        return content

    def skip(self, count: int) -> None:
        """Pass over bytes."""
        self._spend(count)
        self._file.seek(count, 1)

    def skip_texts(self, count: int) -> None:
        """Pass over texts."""
        self._texts_left -= count
        if self._texts_left < 0:
            raise ValueError(f"it announces an array of {count} texts, and more in all than any vocabulary has")
        for _ in range(count):
            self.skip(self.u64())

    def u32(self) -> int:
        """Return the next 4 bytes as a number."""
        return int(_U32.unpack(self.take(4))[0])

    def u64(self) -> int:
        """Return the next 8 bytes as a number."""
        return int(_U64.unpack(self.take(8))[0])

    def _spend(self, count: int) -> None:
        if count > self._left:
            raise ValueError("its header announces more than the file holds")
        self._left -= count


def _header(reader: _Reader) -> GgufHeader:
    if reader.take(4) != MAGIC:
        raise ValueError("it does not begin with GGUF")
    version = reader.u32()
    if version not in _VERSIONS:
        raise ValueError(f"its version is {version}; 2 and 3 are known")
    tensors, pairs = reader.u64(), reader.u64()
    if tensors > _MOST_TENSORS or pairs > _MOST_PAIRS:
        raise ValueError(f"it announces {tensors} tensors and {pairs} keys, more than any model has")
    values: dict[str, Any] = {}
    for _ in range(pairs):
        key = _text(reader, _LONGEST_KEY)
        if key is None:
            raise ValueError("it has a key that is too long")
        kind = reader.u32()
        if kind == _ARRAY:
            if not _skip_array(reader, patient="general.size_label" not in values):
                return _facts(values, None)
        else:
            values[key] = _scalar(reader, kind)
    return _facts(values, sum(_tensor_size(reader) for _ in range(tensors)))


def _scalar(reader: _Reader, kind: int) -> Any:
    if kind == _TEXT:
        return _text(reader, _LONGEST_TEXT)
    return struct.unpack(_format(kind), reader.take(struct.calcsize(_format(kind))))[0]


def _text(reader: _Reader, longest: int) -> str | None:
    """Return the next text, or None when it is longer than `longest` bytes."""
    length = reader.u64()
    if length > longest:
        reader.skip(length)
        return None
    return reader.take(length).decode(errors="replace")


def _skip_array(reader: _Reader, *, patient: bool) -> bool:
    """Pass over an array; return whether that was done, as long ones of texts are only passed over by the patient."""
    kind, count = reader.u32(), reader.u64()
    if kind == _ARRAY:
        raise ValueError("it has an array of arrays, which no model needs")
    if kind != _TEXT:
        reader.skip(count * struct.calcsize(_format(kind)))
        return True
    if count > _LONG_ARRAY and not patient:
        return False
    reader.skip_texts(count)
    return True


def _format(kind: int) -> str:
    if kind not in _SCALARS:
        raise ValueError(f"it has a value of type {kind}, which GGUF does not have")
    return _SCALARS[kind]


def _tensor_size(reader: _Reader) -> int:
    """Return the number of elements of the next tensor."""
    if _text(reader, _LONGEST_KEY) is None:
        raise ValueError("it has a tensor whose name is too long")
    dimensions = reader.u32()
    if dimensions > _MOST_DIMENSIONS:
        raise ValueError(f"it has a tensor of {dimensions} dimensions")
    size = math.prod([reader.u64() for _ in range(dimensions)])
    if size >= 1 << 63:
        raise ValueError("it has a tensor of more elements than any memory holds")
    reader.skip(4 + 8)
    return size


def _facts(values: Mapping[str, Any], counted: int | None) -> GgufHeader:
    architecture = _short_text(values, "general.architecture")
    if counted is None:
        stated = _number(values, "general.parameter_count")
        counted = stated if stated > 0 else parameters_of_label(_short_text(values, "general.size_label"))
    context = _number(values, f"{architecture}.context_length")
    return GgufHeader(
        kind=_short_text(values, "general.type"),
        architecture=shown(architecture),
        parameters=counted or None,
        quantization=_FILE_TYPES.get(_number(values, "general.file_type"), ""),
        context_length=context if 0 < context < 1 << 31 else None,
    )


def _number(values: Mapping[str, Any], key: str) -> int:
    """Return the number that `key` has; -1 when there is none."""
    value = values.get(key)
    return value if type(value) is int and value >= 0 else -1


def _short_text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""
