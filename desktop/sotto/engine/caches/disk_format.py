"""File format of the disk tier's entries: the cache contents for a range of a conversation's tokens.

An entry's id is a hash of its parent's id and its own tokens. So ids chain from the beginning of a conversation, and
the same conversation always gets the same ids. The tokens are in the file as well, as the tensor `.tokens`; all other
tensors belong to the caller.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from sotto.engine.caches.disk_file import (
    CHECKSUM,
    Array,
    Memory,
    damage_error,
    new_memory,
    pack,
    read_part,
    read_verified,
)
from sotto.store.records import TensorFile

# Files of any other version are removed.
VERSION = "1"
TOKENS = ".tokens"
SUFFIX = ".safetensors"

_MAX_NOTE_CHARACTERS = 100
_ID = re.compile("[0-9a-f]{32}")
_NUMBER = re.compile("0|[1-9][0-9]{0,14}")


class LoadedArray(NamedTuple):
    """An array of an entry that was read.

    Attributes:
        dtype: Its name in safetensors.
        shape: The array's shape.
        data: Its bytes, read-only.
        start: Offset of the bytes in the buffer that the entry was read into.
    """

    dtype: str
    shape: tuple[int, ...]
    data: memoryview
    start: int


@dataclass(frozen=True, slots=True)
class EntryHead:
    """Which range of which conversation an entry holds.

    Attributes:
        start: Number of tokens before it.
        end: Number of tokens up to its end.
        tokens: Its own tokens, each a little-endian uint32.
        parent: Id of the entry that ends at `start`; empty if `start` is 0.
        note: A few words that the caller can read without reading the data; not part of the id.
        id: 32 hex digits.
    """

    start: int
    end: int
    tokens: bytes
    parent: str
    note: str = ""
    id: str = field(init=False)

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or len(self.tokens) != 4 * (self.end - self.start):
            raise ValueError(f"an entry from {self.start} to {self.end} cannot have {len(self.tokens)} bytes of tokens")
        if (self.parent == "") != (self.start == 0) or (self.parent and not is_id(self.parent)):
            raise ValueError(f"an entry that starts at {self.start} cannot continue '{self.parent}'")
        if len(self.note) > _MAX_NOTE_CHARACTERS or not (self.note.isascii() and self.note.isprintable()):
            raise ValueError(f"a note must be at most {_MAX_NOTE_CHARACTERS} characters of printable ASCII")
        object.__setattr__(self, "id", entry_id(self.parent, self.tokens))


def entry_id(parent: str, tokens: bytes) -> str:
    """Return the id, 32 hex digits, of the entry that continues `parent` with `tokens`."""
    return hashlib.sha256(parent.encode().ljust(32, b"-") + tokens).hexdigest()[:32]


def is_id(text: str) -> bool:
    """Return whether a text has the form of an entry's id."""
    return _ID.fullmatch(text) is not None


def pack_entry(head: EntryHead, key: str, arrays: Mapping[str, Array]) -> list[memoryview]:
    """Return the parts of an entry's file except its checksum.

    Args:
        head: What it holds.
        key: The name of its folder.
        arrays: The caller's arrays, by names that do not begin with a dot or two underscores.

    Raises:
        ValueError: A name is reserved, or an array's data does not match its type and shape.
    """
    if any(name.startswith((".", "__")) for name in arrays):
        raise ValueError("names of arrays must not begin with a dot or two underscores")
    metadata = {"format": "sotto-prefix", "version": VERSION, "key": key, "parent": head.parent}
    metadata |= {"start": str(head.start), "note": head.note}
    return pack(metadata, {**arrays, TOKENS: ("U32", (head.end - head.start,), head.tokens)})


def read_entry(
    path: Path, key: str, limit: int, memory: Memory = new_memory
) -> tuple[EntryHead, dict[str, LoadedArray]]:
    """Return an entry's head and arrays, read once and verified.

    Args:
        path: Its file.
        key: The name of its folder.
        limit: The most bytes that it may have.
        memory: Returns the buffer to read it into.

    Raises:
        DamagedEntryError: It is damaged, belongs to another folder, or is not the entry that its name says.
        OSError: It cannot be read.
    """
    header, content = read_verified(path, limit, memory)
    arrays = {
        name: LoadedArray(info.dtype, info.shape, content[info.start : info.end], info.start)
        for name, info in header.tensors.items()
    }
    del arrays[CHECKSUM]
    tokens = arrays.pop(TOKENS, None)
    return _head(header, bytes(tokens.data) if tokens else b"", key), arrays


def read_head(path: Path, key: str) -> tuple[EntryHead, int]:
    """Return an entry's head and its file's size, without reading or verifying the rest of the file.

    Raises:
        DamagedEntryError: It does not belong to the folder called `key`, or is not the entry that its name says.
        OSError: It cannot be read.
    """
    header, tokens, size = read_part(path, TOKENS)
    return _head(header, tokens, key), size


def _head(header: TensorFile, tokens: bytes, key: str) -> EntryHead:
    """Return the head of an entry.

    Args:
        header: The parsed header of its file.
        tokens: The bytes of its `.tokens`.
        key: The name of its folder.

    Raises:
        DamagedEntryError: It does not belong to that folder, or is not the entry that its name says.
    """
    metadata = dict(header.metadata)
    parent, start, note = metadata.pop("parent", ""), metadata.pop("start", ""), metadata.pop("note", "")
    if metadata != {"format": "sotto-prefix", "version": VERSION, "key": key}:
        raise damage_error(header.path, "was made for another model, by another version or by another program")
    info = header.tensors.get(TOKENS)
    if info is None or info.dtype != "U32" or len(info.shape) != 1 or _NUMBER.fullmatch(start) is None:
        raise damage_error(header.path, "does not say which tokens it holds")
    try:
        head = EntryHead(int(start), int(start) + info.shape[0], tokens, parent, note)
    except ValueError as error:
        raise damage_error(header.path, f"contradicts itself: {error}") from error
    if header.path.stem != head.id:
        raise damage_error(header.path, f"is not what its name says; it should be {head.id}")
    return head
