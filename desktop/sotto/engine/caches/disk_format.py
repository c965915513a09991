"""Entries of the disk tier: what a stretch of a conversation left in the caches, and which stretch that is.

Entries are named by what they continue: an id is a hash of the parent's id and of the entry's own tokens, so ids chain
from the beginning of a conversation, and the same conversation gets the same ids. The tokens are in the file, too, as
the tensor `.tokens`; what else an entry holds is its caller's.
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

# A file of any other version is none of ours.
VERSION = "1"
TOKENS = ".tokens"
SUFFIX = ".safetensors"

_NOTE_LIMIT = 100
_ID = re.compile("[0-9a-f]{32}")
_NUMBER = re.compile("0|[1-9][0-9]{0,14}")


class LoadedArray(NamedTuple):
    """An array of an entry that was read.

    Attributes:
        dtype: By its name in safetensors.
        shape: Of the array.
        data: Its bytes, which cannot be written to.
        start: Where they begin in the memory that the entry was read into.
    """

    dtype: str
    shape: tuple[int, ...]
    data: memoryview
    start: int


@dataclass(frozen=True, slots=True)
class EntryHead:
    """Which stretch of which conversation an entry holds.

    Attributes:
        start: Tokens in front of it.
        end: Tokens up to and with it.
        tokens: Its own tokens, each a little-endian uint32.
        parent: Id of the entry that ends at `start`; empty where `start` is 0.
        note: A few words of the caller's that it wants to know without reading the data; no part of the id.
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
        if len(self.note) > _NOTE_LIMIT or not (self.note.isascii() and self.note.isprintable()):
            raise ValueError(f"a note must be at most {_NOTE_LIMIT} characters of printable ASCII")
        object.__setattr__(self, "id", entry_id(self.parent, self.tokens))


def entry_id(parent: str, tokens: bytes) -> str:
    """Return the id of what continues `parent` with `tokens`; 32 hex digits."""
    return hashlib.sha256(parent.encode().ljust(32, b"-") + tokens).hexdigest()[:32]


def is_id(text: str) -> bool:
    """Return whether a text has the form of an entry's id."""
    return _ID.fullmatch(text) is not None


def pack_entry(head: EntryHead, key: str, arrays: Mapping[str, Array]) -> list[memoryview]:
    """Return an entry's file in parts, all but its checksum.

    Args:
        head: What it holds.
        key: The name of the folder that it is for.
        arrays: The caller's, by names that do not begin with a dot.

    Raises:
        ValueError: An array cannot be written as it says it is.
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
        key: The name of the folder that it is in.
        limit: The most bytes that it may have.
        memory: Gives what to read it into.

    Raises:
        DamagedEntryError: It is no entry of that folder, not the one that its name says, or not as it was written.
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
    """Return an entry's head and its file's size; nothing else of the file is read or verified.

    Raises:
        DamagedEntryError: It is no entry of the folder called `key`, or not the one that its name says.
        OSError: It cannot be read.
    """
    header, tokens, size = read_part(path, TOKENS)
    return _head(header, tokens, key), size


def _head(header: TensorFile, tokens: bytes, key: str) -> EntryHead:
    """Return the head of an entry.

    Args:
        header: What its file says it holds.
        tokens: The bytes of its `.tokens`.
        key: The name of the folder that it is in.

    Raises:
        DamagedEntryError: It is no entry of that folder, or not the one that its name says.
    """
    said = dict(header.metadata)
    parent, start, note = said.pop("parent", ""), said.pop("start", ""), said.pop("note", "")
    if said != {"format": "sotto-prefix", "version": VERSION, "key": key}:
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
