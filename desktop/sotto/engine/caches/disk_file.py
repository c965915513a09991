"""Files whose damage is always detected: safetensors whose last tensor is a checksum of all bytes before it.

https://huggingface.co/docs/safetensors. The last tensor, `.checksum`, is the SHA-256 of the SHA-256 digests of each
4 MiB of all bytes before it, so that several cores can verify one file.
"""

import hashlib
import json
import math
import mmap
import os
import stat
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from sotto.errors import StoreError
from sotto.store.printable import format_size, printable_path
from sotto.store.records import TensorFile
from sotto.store.safetensors_header import parse_header

CHECKSUM = ".checksum"

_LENGTH = struct.Struct("<Q")
# Several times what 200 layers of a dozen arrays each need.
_MAX_HEADER_BYTES = 4 << 20
_CHUNK_BYTES = 4 << 20
_DIGEST_BYTES = hashlib.sha256().digest_size
_ALIGNMENT = 64
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ELEMENT_BYTES = {"U8": 1, "I8": 1, "BOOL": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2, "U32": 4, "I32": 4, "F32": 4}
_ELEMENT_BYTES |= {"U64": 8, "I64": 8, "F64": 8}

Array = tuple[str, Sequence[int], bytes | bytearray | memoryview]
"""A dtype by its name in safetensors, a shape, and the contiguous data."""


class DamagedEntryError(StoreError):
    """A file of the disk tier is damaged, or was written by something else."""


Memory = Callable[[int], memoryview]
"""Returns a buffer of so many bytes to read into; it may reuse the buffer that it returned before."""


def new_memory(size: int) -> memoryview:
    """Return a new buffer of `size` bytes."""
    return memoryview(mmap.mmap(-1, size))


def pack(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> list[memoryview]:
    """Return the parts of a file except its checksum, which `checksum` computes from them.

    Raises:
        ValueError: An array's type is unknown, or its data does not have the size that type and shape need.
    """
    # WORKAROUND: `safetensors.serialize` copies all data into one more buffer, and sorts the tensors itself, so a
    # checksum cannot come last. Watch for a serializer that keeps their order and writes in parts.
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    parts, at = [], 0
    # Larger elements first, so that each array is aligned to its element size.
    for name in sorted(arrays, key=lambda name: (-_ELEMENT_BYTES.get(arrays[name][0], 0), name)):
        dtype, shape, data = arrays[name]
        part = _flat(data)
        if dtype not in _ELEMENT_BYTES or len(part) != _ELEMENT_BYTES[dtype] * math.prod(shape):
            raise ValueError(f"array '{name}' cannot be {len(part)} bytes of {dtype} in the shape {tuple(shape)}")
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    header[CHECKSUM] = {"dtype": "U8", "shape": [_DIGEST_BYTES], "data_offsets": [at, at + _DIGEST_BYTES]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(_LENGTH.size + len(text)) % _ALIGNMENT)
    if len(text) > _MAX_HEADER_BYTES:
        raise ValueError(f"{len(arrays)} arrays need a header of more than {format_size(_MAX_HEADER_BYTES)}")
    return [memoryview(_LENGTH.pack(len(text)) + text), *parts]


def file_size(parts: Iterable[memoryview]) -> int:
    """Return the size in bytes of a file of these parts and their checksum."""
    return sum(map(len, parts)) + _DIGEST_BYTES


def checksum(parts: Iterable[memoryview]) -> bytes:
    """Return the checksum to append to a file of these parts."""
    whole, chunk, room = hashlib.sha256(), hashlib.sha256(), _CHUNK_BYTES
    for part in parts:
        at = 0
        while at < len(part):
            taken = part[at : at + room]
            chunk.update(taken)
            at, room = at + len(taken), room - len(taken)
            if room == 0:
                whole.update(chunk.digest())
                chunk, room = hashlib.sha256(), _CHUNK_BYTES
    if room < _CHUNK_BYTES:
        whole.update(chunk.digest())
    return whole.digest()


def read_verified(path: Path, limit: int, memory: Memory = new_memory) -> tuple[TensorFile, memoryview]:
    """Return a file's header and all its bytes, read once and verified against the checksum.

    Args:
        path: The file.
        limit: The most bytes that it may have.
        memory: Returns the buffer to read it into.

    Raises:
        DamagedEntryError: Some bytes are not as they were written.
        OSError: It cannot be read.
    """
    file, size = _open_regular(path)
    try:
        if not _LENGTH.size + _DIGEST_BYTES < size <= limit:
            raise damage_error(
                path, f"is {size} bytes long; {_LENGTH.size + _DIGEST_BYTES + 1} to {limit} are possible"
            )
        content = memory(size)
        body = size - _DIGEST_BYTES
        _read(file, content[body:], body, path)
        if _read_and_digest(file, content[:body], path) != content[body:]:
            raise damage_error(path, "does not match its checksum")
    finally:
        os.close(file)
    end = _header_end(content[: _LENGTH.size], size, path)
    return _header(bytes(content[:end]), size, path), content.toreadonly()


def read_part(path: Path, name: str) -> tuple[TensorFile, bytes, int]:
    """Return a file's header, the bytes of one tensor, and the file's size, without verifying the checksum.

    Args:
        path: The file.
        name: The tensor; the bytes are empty if there is none of that name.

    Raises:
        DamagedEntryError: Its header was not written by this module.
        OSError: It cannot be read.
    """
    file, size = _open_regular(path)
    try:
        start = bytearray(min(_LENGTH.size, size))
        _read(file, memoryview(start), 0, path)
        raw = bytearray(_header_end(start, size, path))
        _read(file, memoryview(raw), 0, path)
        header = _header(bytes(raw), size, path)
        info = header.tensors.get(name)
        part = bytearray(info.nbytes if info else 0)
        if info:
            _read(file, memoryview(part), info.start, path)
    finally:
        os.close(file)
    return header, bytes(part), size


def _open_regular(path: Path) -> tuple[int, int]:
    """Return the descriptor and the size of a regular file."""
    file = os.open(path, _FLAGS)
    status = os.fstat(file)
    if stat.S_ISREG(status.st_mode):
        return file, status.st_size
    os.close(file)
    raise damage_error(path, "is not a regular file")


def _header_end(start: bytes | bytearray | memoryview, size: int, path: Path) -> int:
    """Return where the header ends.

    Args:
        start: The first bytes of the file.
        size: The file's size in bytes.
        path: For messages.
    """
    length = _LENGTH.unpack(start)[0] if len(start) == _LENGTH.size else size
    if length > min(_MAX_HEADER_BYTES, size - _LENGTH.size):
        raise damage_error(path, "is cut off or not a safetensors file")
    return int(_LENGTH.size + length)


def _header(raw: bytes, size: int, path: Path) -> TensorFile:
    """Parse a header and check that it ends with a checksum."""
    try:
        header = parse_header(raw, size, path)
    except StoreError as error:
        raise DamagedEntryError(error.message) from error
    last = header.tensors.get(CHECKSUM)
    if last is None or (last.dtype, last.shape, last.end) != ("U8", (_DIGEST_BYTES,), size):
        raise damage_error(path, "does not end with a checksum")
    return header


def _read(file: int, into: memoryview, at: int, path: Path) -> None:
    """Fill a buffer with the bytes of a file from `at` on."""
    done = 0
    while done < len(into):
        count = os.preadv(file, [into[done:]], at + done)
        if count == 0:
            raise damage_error(path, "became shorter while it was read")
        done += count


def _read_and_digest(file: int, into: memoryview, path: Path) -> bytes:
    """Fill a buffer with the beginning of a file and return the checksum of what was read."""

    def digest_of(bounds: tuple[int, int]) -> bytes:
        chunk = into[slice(*bounds)]
        _read(file, chunk, bounds[0], path)
        return hashlib.sha256(chunk).digest()

    chunks = list(pairwise([*range(0, len(into), _CHUNK_BYTES), len(into)]))
    if len(chunks) == 1:
        digests = [digest_of(chunks[0])]
    else:
        # Reading and hashing both release the interpreter lock.
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            digests = list(pool.map(digest_of, chunks))
    return hashlib.sha256(b"".join(digests)).digest()


def _flat(data: bytes | bytearray | memoryview) -> memoryview:
    """Return the bytes of a contiguous buffer of any shape and element type."""
    view = memoryview(data)
    return view.cast("B") if view.nbytes else memoryview(b"")


def damage_error(path: Path, what: str) -> DamagedEntryError:
    """Return an error whose message says what is wrong with a file."""
    return DamagedEntryError(f"{printable_path(path)} {what}.")
