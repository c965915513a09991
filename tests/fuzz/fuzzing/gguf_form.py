"""GGUF files parsed and written again with any content; counts, lengths and the order are always consistent.

The reader and the writer are independent of the program's, so that agreement with it confirms the format.
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import math
import struct
from dataclasses import dataclass, field
from typing import Any

import gguf

TEXT, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
SIZES = {int(kind): size for kind, size in gguf.GGML_QUANT_SIZES.items()}
_ALIGNMENT = 32
_MAX_NEW_BYTES = 4 << 20


@dataclass(slots=True)
class Pair:
    """A key and its value; `inner` is the element type of an array."""

    key: str
    kind: int
    value: Any
    inner: int = 0


@dataclass(slots=True)
class Tensor:
    """An entry of the tensor table; its dimensions are in the file's order, the fastest-varying one first."""

    name: str
    dims: list[int]
    kind: int
    offset: int


@dataclass(slots=True)
class Form:
    """The parts of a file."""

    pairs: list[Pair] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    data: bytes = b""
    version: int = 3

    def pair(self, key: str) -> Pair | None:
        """Return the pair with a key."""
        return next((pair for pair in self.pairs if pair.key == key), None)

    def lay_out(self) -> None:
        """Assign consecutive offsets to all tensors, and extend the data to their size, by a limited amount."""
        place = 0
        for tensor in self.tensors:
            tensor.offset = place
            size, nbytes = SIZES.get(tensor.kind, (1, 4))
            place += -(-(math.prod(tensor.dims) // size * nbytes) // _ALIGNMENT) * _ALIGNMENT
        self.data = self.data[:place] + bytes(min(max(0, place - len(self.data)), _MAX_NEW_BYTES))


def parsed(content: bytes) -> Form:
    """Return the parts of a valid file."""
    reader = _Reader(content)
    assert reader.take(4) == b"GGUF"
    version, count, pairs = reader.number("I"), reader.number("Q"), reader.number("Q")
    form = Form(version=version)
    for _ in range(pairs):
        key, kind = reader.text(), reader.number("I")
        if kind == ARRAY:
            inner, length = reader.number("I"), reader.number("Q")
            form.pairs.append(Pair(key, kind, [reader.value(inner) for _ in range(length)], inner))
        else:
            form.pairs.append(Pair(key, kind, reader.value(kind)))
    for _ in range(count):
        name = reader.text()
        dims = [reader.number("Q") for _ in range(reader.number("I"))]
        form.tensors.append(Tensor(name, dims, reader.number("I"), reader.number("Q")))
    form.data = content[-(-reader.place // _ALIGNMENT) * _ALIGNMENT :]
    return form


def written(form: Form) -> bytes:
    """Return a file of these parts; numbers that do not fit their types are wrapped or replaced."""
    out = [b"GGUF", struct.pack("<IQQ", form.version & 0xFFFFFFFF, len(form.tensors), len(form.pairs))]
    for pair in form.pairs:
        out += [_text(pair.key), struct.pack("<I", pair.kind)]
        if pair.kind == ARRAY:
            items = pair.value if isinstance(pair.value, list) else [pair.value]
            out.append(struct.pack("<IQ", pair.inner, len(items)))
            out += [_value(pair.inner, item) for item in items]
        else:
            out.append(_value(pair.kind, pair.value))
    for tensor in form.tensors:
        dims = [size & 0xFFFFFFFFFFFFFFFF for size in tensor.dims]
        out += [_text(tensor.name), struct.pack("<I", len(dims)), struct.pack(f"<{len(dims)}Q", *dims)]
        out.append(struct.pack("<IQ", tensor.kind & 0xFFFFFFFF, tensor.offset & 0xFFFFFFFFFFFFFFFF))
    header = b"".join(out)
    return header + bytes(-len(header) % _ALIGNMENT) + form.data


def _text(text: str) -> bytes:
    content = text.encode(errors="surrogatepass")
    return struct.pack("<Q", len(content)) + content


def _value(kind: int, value: Any) -> bytes:
    if kind == TEXT:
        return _text(value if isinstance(value, str) else str(value))
    layout = SCALARS.get(kind)
    if layout is None:
        return b"\x00" * 8
    if not isinstance(value, int | float):
        value = len(value) if isinstance(value, list | str) else 0
    if layout in "fd":
        try:
            return struct.pack(f"<{layout}", value)
        except OverflowError:
            return struct.pack(f"<{layout}", math.inf)
    if layout == "?":
        return struct.pack("<?", bool(value))
    whole = int(value) if math.isfinite(value) else 0
    return (whole & (1 << 8 * struct.calcsize(layout)) - 1).to_bytes(struct.calcsize(layout), "little")


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, count: int) -> bytes:
        self.place += count
        return self.content[self.place - count : self.place]

    def number(self, layout: str) -> Any:
        return struct.unpack(f"<{layout}", self.take(struct.calcsize(layout)))[0]

    def text(self) -> str:
        return self.take(self.number("Q")).decode()

    def value(self, kind: int) -> Any:
        return self.text() if kind == TEXT else self.number(SCALARS[kind])
