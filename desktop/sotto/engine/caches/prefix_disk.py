"""Conversion between MLX caches and the entries of the disk tier.

The arrays of a ranged cache are named by the number of the cache and of the array. Of a stateful cache all attributes
are stored: arrays as tensors, everything else as JSON, in which `{"array": name}` stands for each array.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mlx.core as mx

from sotto.engine.caches.disk_file import Array
from sotto.engine.caches.disk_format import EntryHead, LoadedArray
from sotto.engine.caches.disk_tier import DiskTier, Entry
from sotto.engine.caches.radix import Node, Tokens
from sotto.engine.caches.sequence import Piece, States

# An entry is read and written as a whole, and held in memory until it is written, so its length is limited.
MAX_ENTRY_TOKENS = 1024
_STATES = "states"
_WITH_STATES = "with states"
# Seconds to wait for what is queued to be written.
_FLUSH_TIMEOUT_S = 10.0
_DTYPES_BY_NAME: Mapping[str, mx.Dtype] = {
    "BOOL": mx.bool_,
    "U8": mx.uint8,
    "U16": mx.uint16,
    "U32": mx.uint32,
    "U64": mx.uint64,
    "I8": mx.int8,
    "I16": mx.int16,
    "I32": mx.int32,
    "I64": mx.int64,
    "F16": mx.float16,
    "BF16": mx.bfloat16,
    "F32": mx.float32,
}
_DTYPE_NAMES = {dtype: name for name, dtype in _DTYPES_BY_NAME.items()}


class PrefixDisk:
    """The entries on disk for one model and one cache layout. Only for the thread that owns MLX."""

    def __init__(self, root: Path, key: str, budget: int) -> None:
        """Find the entries on disk.

        Args:
            root: Folder of the disk tier.
            key: Identifies the weights, their configuration, the kinds of caches and the type of their data.
            budget: Bytes for all models together; 0 to keep nothing.
        """
        self._tier = DiskTier(root, key, budget)
        self._heads = {stored.head.id: stored.head for stored in self._tier.entries()}
        # Kept because an entry's keys and values are requested first, and its states right after them.
        self._last: Entry | None = None
        self._memory = _ArrayMemory()

    def entries(self) -> Iterator[tuple[str, Tokens, int]]:
        """Yield each entry's id, all tokens of the conversation up to its end, and the position where it starts."""
        whole = {"": b""}
        for head in sorted(self._heads.values(), key=lambda head: head.start):
            whole[head.id] = whole[head.parent] + head.tokens
            yield head.id, Tokens(whole[head.id]), head.start

    def put(self, node: Node, parent: str, piece: Piece, states: States | None, *, wait: bool) -> str:
        """Queue the cache contents of a node for writing, and return the entry's id; empty if that is impossible now.

        Args:
            node: At most `MAX_ENTRY_TOKENS` long.
            parent: Id of the entry that ends where the node starts; empty at the beginning.
            piece: The node's tokens in the ranged caches.
            states: The stateful caches at the node's end; None if unknown.
            wait: Whether to wait for the disk if its queue is full.
        """
        head = EntryHead(node.start, node.end, node.edge.data, parent, _WITH_STATES if states is not None else "")
        arrays = {f"{i}.{j}": _pack_array(array) for i, cache in enumerate(piece) for j, array in enumerate(cache)}
        if states is not None:
            arrays |= _pack_states(states)
        taken = self._tier.put(head, arrays, replace=states is not None and not self.has_states(head.id, head.end))
        if not taken and wait and self._tier.active:
            self._tier.flush(_FLUSH_TIMEOUT_S)
            self.release()
            taken = self._tier.put(head, arrays)
        if not taken:
            return ""
        self._heads[head.id] = head
        return head.id

    def holds(self, entry: str, start: int, end: int, *, states: bool) -> bool:
        """Return whether an entry has exactly this content.

        Args:
            entry: Id of the entry.
            start: Number of tokens before it.
            end: Number of tokens up to its end.
            states: Whether it must have states.
        """
        head = self._heads.get(entry)
        if head is None or not self._tier.has(entry):
            return False
        return (head.start, head.end) == (start, end) and (not states or head.note == _WITH_STATES)

    def has_states(self, entry: str, end: int) -> bool:
        """Return whether an entry has the stateful caches at `end`."""
        head = self._heads.get(entry)
        return head is not None and head.end == end and head.note == _WITH_STATES and self._tier.has(entry)

    def piece(self, entry: str, start: int, end: int) -> Piece | None:
        """Return tokens `start` to `end` of an entry, counted from its own start; None if it is no longer there.

        The arrays are not copies: use them before requesting the next entry.
        """
        found = self._load(entry)
        if found is None:
            return None
        held: dict[int, dict[int, mx.array]] = {}
        for name, array in found.arrays.items():
            if not name.startswith(_STATES):
                leaf, _, index = name.partition(".")
                held.setdefault(int(leaf), {})[int(index)] = self._memory.array(array)[..., start:end, :]
        return tuple(tuple(held[leaf][index] for index in sorted(held[leaf])) for leaf in sorted(held))

    def states(self, entry: str) -> States | None:
        """Return the stateful caches at the end of an entry; None if they are no longer there."""
        found = self._load(entry)
        if found is None or _STATES not in found.arrays:
            return None
        tree = json.loads(bytes(found.arrays[_STATES].data))
        return tuple(_unpack_tree(item, found.arrays) for item in tree)

    def release(self) -> None:
        """Free the buffers that have been written, and the memory of the last entry read."""
        for done in self._tier.drain():
            if not done.ok:
                self._heads.pop(done.id, None)
        self._last = None
        self._memory.release()

    def close(self) -> None:
        """Wait until everything is written."""
        self._tier.close(_FLUSH_TIMEOUT_S)
        self.release()

    def _load(self, entry: str) -> Entry | None:
        if self._last is None or self._last.head.id != entry:
            self._tier.flush(_FLUSH_TIMEOUT_S)  # An entry that is still queued cannot be read yet.
            self._last = None  # Its memory is about to be overwritten.
            self._last = self._tier.load(entry, self._memory.allocate)
            if self._last is None:
                self._heads.pop(entry, None)
        return self._last


def _pack_array(array: mx.array) -> Array:
    flat = mx.contiguous(array).view(mx.uint8)  # As bytes, because Python's buffers do not know bfloat16.
    mx.eval(flat)
    return _DTYPE_NAMES[array.dtype], array.shape, memoryview(flat)  # type: ignore[arg-type]


class _ArrayMemory:
    """Memory allocated by MLX, so that bytes read into it become arrays without a copy.

    WORKAROUND: MLX cannot wrap foreign memory, so files are read into the buffer of an array. Check at each upgrade
    that `memoryview` still gives the array's own, writable memory.
    """

    def __init__(self) -> None:
        """Start without any memory."""
        self._array = mx.zeros(0, dtype=mx.uint8)

    def allocate(self, size: int) -> memoryview:
        """Return a buffer of `size` bytes, which may be the one that was returned before."""
        if self._array.size < size:
            # A quarter more, because the next entry of a conversation is often a little larger.
            self._array = mx.zeros(size + size // 4, dtype=mx.uint8)
            mx.eval(self._array)
        return memoryview(self._array)[:size]  # type: ignore[arg-type]

    def array(self, loaded: LoadedArray) -> mx.array:
        """Return an array of the entry that was read last, without a copy."""
        span = self._array[loaded.start : loaded.start + len(loaded.data)]
        return span.view(_DTYPES_BY_NAME[loaded.dtype]).reshape(loaded.shape)

    def release(self) -> None:
        """Free the memory as soon as no array uses it any more."""
        self._array = mx.zeros(0, dtype=mx.uint8)


def _copy_array(loaded: LoadedArray) -> mx.array:
    words = loaded.data.cast("I") if len(loaded.data) % 4 == 0 else loaded.data.cast("B")
    return mx.array(words).view(_DTYPES_BY_NAME[loaded.dtype]).reshape(loaded.shape)  # type: ignore[arg-type]


def _pack_states(states: States) -> dict[str, Array]:
    arrays: dict[str, Array] = {}

    def pack_tree(tree: Any) -> Any:
        if isinstance(tree, mx.array):
            name = f"{_STATES}.{len(arrays)}"
            arrays[name] = _pack_array(tree)
            return {"array": name}
        if isinstance(tree, dict):
            return {"dict": {key: pack_tree(value) for key, value in tree.items()}}
        if isinstance(tree, list | tuple):
            return {"list": [pack_tree(value) for value in tree]}
        return {"value": tree}

    text = json.dumps([pack_tree(state) for state in states]).encode()
    return {**arrays, _STATES: ("U8", (len(text),), text)}


def _unpack_tree(tree: Any, arrays: Mapping[str, LoadedArray]) -> Any:
    ((kind, value),) = tree.items()
    if kind == "array":
        return _copy_array(arrays[value])
    if kind == "dict":
        return {key: _unpack_tree(item, arrays) for key, item in value.items()}
    if kind == "list":
        return [_unpack_tree(item, arrays) for item in value]
    return value
