"""A sequential reader of the values in a GGUF header, which never reads beyond the file.

A file is the magic `GGUF`, a u32 version, a u64 count of tensors, a u64 count of key-value pairs, the pairs, for each
tensor its name, dimensions, type and offset, and then the tensors' data, all little-endian. A string is a u64 length
and its bytes. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

MAGIC = b"GGUF"
MAX_NAME = 1 << 16
TEXT = 8
ARRAY = 9

_VERSIONS = (2, 3)
_MAX_PAIRS = 1 << 16
_MAX_TENSORS = 1 << 17
_MAX_DIMENSIONS = 8
# In all arrays together; vocabularies with their merges have fewer than a million strings.
_MAX_TEXTS = 1 << 21
_MAX_NUMBERS = 1 << 23
_HEADER_LIMIT = 1 << 28
_BLOCK = 1 << 18
_TOO_MUCH = "its header announces more than the file holds"

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")

Scalar = int | float | bool


class Reader:
    """Reads the header of a file of `size` bytes from its beginning; raises ValueError if it is damaged or cut off."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = min(size, _HEADER_LIMIT)
        self._texts_left = _MAX_TEXTS
        self._numbers_left = _MAX_NUMBERS
        self.position = 0

    def counts(self) -> tuple[int, int]:
        """Return the numbers of tensors and of key-value pairs from the beginning of the file."""
        if self.take(len(MAGIC)) != MAGIC:
            raise ValueError("it does not begin with GGUF")
        version = self.u32()
        if version not in _VERSIONS:
            raise ValueError(f"its version is {version}; 2 and 3 are known")
        tensors, pairs = self.u64(), self.u64()
        if tensors > _MAX_TENSORS or pairs > _MAX_PAIRS:
            raise ValueError(f"it announces {tensors} tensors and {pairs} keys, more than any model has")
        return tensors, pairs

    def name(self, what: str) -> str:
        """Return the next string, a name; `what` says of what, for error messages."""
        name = self.text(MAX_NAME)
        if name is None:
            raise ValueError(f"it has a {what} that is too long")
        return name

    def shape(self) -> tuple[int, ...]:
        """Return the next shape, with the dimension that varies fastest last, as in MLX."""
        count = self.u32()
        if count > _MAX_DIMENSIONS:
            raise ValueError(f"it has a tensor of {count} dimensions")
        return tuple([self.u64() for _ in range(count)][::-1])

    def scalar(self, kind: int) -> Scalar:
        """Return the next number or boolean of type `kind`."""
        (value,) = self.scalars(kind, 1)
        return value

    def scalars(self, kind: int, count: int) -> tuple[Scalar, ...]:
        """Return the next `count` numbers or booleans of type `kind`."""
        layout = self._format(kind)
        self._numbers_left -= count
        if self._numbers_left < 0:
            raise ValueError(f"it announces an array of {count} numbers, and more in all than any model has")
        content = self.take(count * struct.calcsize(layout))
        return struct.unpack(f"<{count}{layout}", content)

    def skip_scalars(self, kind: int, count: int) -> None:
        """Skip `count` numbers or booleans of type `kind`."""
        self.skip(count * struct.calcsize(self._format(kind)))

    def text(self, limit: int) -> str | None:
        """Return the next string, or skip it and return None if it has more than `limit` bytes."""
        length = self.u64()
        if length > limit:
            self.skip(length)
            return None
        return self.take(length).decode(errors="replace")

    def texts(self, count: int, limit: int) -> list[str]:
        """Return the next `count` strings; ValueError if one has more than `limit` bytes."""
        texts = []
        for block, start, end in self._texts(count):
            if end - start > limit:
                raise ValueError(f"it has a text of more than {limit} bytes in an array")
            texts.append(block[start:end].decode(errors="replace"))
        return texts

    def skip_texts(self, count: int) -> None:
        """Skip `count` strings."""
        for _ in self._texts(count):
            pass

    def _texts(self, count: int) -> Iterator[tuple[bytes, int, int]]:
        """Yield for each of the next strings a block of the file, and its start and end within that block.

        Vocabularies make up most of a header, so they are read in large blocks.
        """
        self._spend_texts(count)
        block, end, size, spent = b"", 0, 0, 0
        for _ in range(count):
            start = end + 8
            if start > size:
                if spent + 8 > self._left:
                    raise ValueError(_TOO_MUCH)
                block, start = self._extend(block, end, 8), 8
                size = len(block)
            (length,) = _U64.unpack_from(block, start - 8)
            spent += 8 + length
            if spent > self._left:
                raise ValueError(_TOO_MUCH)
            end = start + length
            if end > size:
                block, start, end = self._extend(block, start, length), 0, length
                size = len(block)
            yield block, start, end
        self._file.seek(end - size, 1)
        self._spend(spent)

    def _extend(self, block: bytes, start: int, size: int) -> bytes:
        """Return the block from `start` on, extended by what follows in the file to at least `size` bytes."""
        rest = block[start:]
        extended = rest + self._file.read(max(_BLOCK, size - len(rest)))
        if len(extended) < size:
            raise ValueError("it is cut off")
        return extended

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        self._spend(count)
        content = self._file.read(count)
        if len(content) < count:
            raise ValueError("it is cut off")
        return content

    def skip(self, count: int) -> None:
        """Skip `count` bytes."""
        self._spend(count)
        self._file.seek(count, 1)

    def u32(self) -> int:
        """Return the next 4 bytes as an unsigned integer."""
        return int(_U32.unpack(self.take(4))[0])

    def u64(self) -> int:
        """Return the next 8 bytes as an unsigned integer."""
        return int(_U64.unpack(self.take(8))[0])

    def _format(self, kind: int) -> str:
        if kind not in _SCALARS:
            raise ValueError(f"it has a value of type {kind}, which GGUF does not have")
        return _SCALARS[kind]

    def _spend(self, count: int) -> None:
        if count > self._left:
            raise ValueError(_TOO_MUCH)
        self._left -= count
        self.position += count

    def _spend_texts(self, count: int) -> None:
        self._texts_left -= count
        if self._texts_left < 0:
            raise ValueError(f"it announces an array of {count} texts, and more in all than any vocabulary has")
