"""The disk tier as the prefix cache uses it: what caches hold goes in, and comes out as it was.

A ranged cache's arrays are stored by the number of the cache and of the array. Of a stateful cache all attributes are
stored: arrays as they are, everything else as JSON, in which `{"array": name}` stands for each array.
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

# An entry is written and read as a whole, and waits for the disk in memory, so none is longer than this.
MAX_ENTRY_TOKENS = 1024
_STATES = "states"
_WITH_STATES = "with states"
# Seconds that the disk may take for what is on its way to it.
_WAIT = 10.0
_DTYPES: Mapping[str, mx.Dtype] = {
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
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class PrefixDisk:
    """What is kept on disk for one model with one layout of caches. Belongs to the thread that owns MLX."""

    def __init__(self, root: Path, key: str, budget: int) -> None:
        """Find what is there.

        Args:
            root: Folder of the disk tier.
            key: Names the weights, their configuration, the kinds of caches and the type of what they hold.
            budget: Bytes that all models may have there together; 0 for nothing.
        """
        self._tier = DiskTier(root, key, budget)
        self._heads = {stored.head.id: stored.head for stored in self._tier.entries()}
        # Keys and values and then the states of one entry are asked for one after the other.
        self._last: Entry | None = None
        self._memory = _ArrayMemory()

    def entries(self) -> Iterator[tuple[str, Tokens, int]]:
        """Yield each entry with all tokens up to its end, and the place where it starts."""
        whole = {"": b""}
        for head in sorted(self._heads.values(), key=lambda head: head.start):
            whole[head.id] = whole[head.parent] + head.tokens
            yield head.id, Tokens(whole[head.id]), head.start

    def put(self, node: Node, parent: str, piece: Piece, states: States | None, *, wait: bool) -> str:
        """Have what caches hold for a node written, and return the entry; empty if that is not possible now.

        Args:
            node: At most `MAX_ENTRY_TOKENS` long.
            parent: The entry that ends where the node starts; empty at the beginning.
            piece: Of the ranged caches.
            states: The stateful caches at the node's end, where they are known.
            wait: Whether to wait for the disk where too much is on the way to it already.
        """
        head = EntryHead(node.start, node.end, node.edge.data, parent, _WITH_STATES if states is not None else "")
        arrays = {f"{i}.{j}": _pack_array(item) for i, each in enumerate(piece) for j, item in enumerate(each)}
        if states is not None:
            arrays |= _pack_states(states)
        taken = self._tier.put(head, arrays, replace=states is not None and not self.has_states(head.id, head.end))
        if not taken and wait and self._tier.active:
            self._tier.flush(_WAIT)
            self.release()
            taken = self._tier.put(head, arrays)
        if not taken:
            return ""
        self._heads[head.id] = head
        return head.id

    def holds(self, entry: str, start: int, end: int, *, states: bool) -> bool:
        """Return whether an entry is just of these tokens, with states if they are wanted."""
        head = self._heads.get(entry)
        if head is None or not self._tier.has(entry):
            return False
        return (head.start, head.end) == (start, end) and (not states or head.note == _WITH_STATES)

    def has_states(self, entry: str, end: int) -> bool:
        """Return whether an entry has the stateful caches at `end`."""
        head = self._heads.get(entry)
        return head is not None and head.end == end and head.note == _WITH_STATES and self._tier.has(entry)

    def piece(self, entry: str, start: int, end: int) -> Piece | None:
        """Return what ranged caches hold for tokens `start` to `end` of an entry; None if it is not there any more.

        The arrays are not copies: use them before asking for the next entry.
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
        """Return the stateful caches at the end of an entry; None if they are not there any more."""
        found = self._load(entry)
        if found is None or _STATES not in found.arrays:
            return None
        tree = json.loads(bytes(found.arrays[_STATES].data))
        return tuple(_unpack_states(item, found.arrays) for item in tree)

    def release(self) -> None:
        """Let go of what was written meanwhile."""
        for done in self._tier.drain():
            if not done.ok:
                self._heads.pop(done.id, None)
        self._last = None
        self._memory.release()

    def close(self) -> None:
        """Wait until everything is written."""
        self._tier.close(_WAIT)
        self.release()

    def _load(self, entry: str) -> Entry | None:
        if self._last is None or self._last.head.id != entry:
            self._tier.flush(_WAIT)  # what is still on its way is not there to be read
            self._last = None  # its memory is read into
            self._last = self._tier.load(entry, self._memory.of)
            if self._last is None:
                self._heads.pop(entry, None)
        return self._last


def _pack_array(array: mx.array) -> Array:
    flat = mx.contiguous(array).view(mx.uint8)
    mx.eval(flat)
    return _NAMES[array.dtype], array.shape, memoryview(flat)  # type: ignore[arg-type]


class _ArrayMemory:
    """Memory of MLX, so that what was read is an array without being copied."""

    def __init__(self) -> None:
        """Start without any."""
        self._array = mx.zeros(0, dtype=mx.uint8)

    def of(self, size: int) -> memoryview:
        """Return `size` bytes; what was returned before is overwritten."""
        if self._array.size < size:
            # Some more, as the next entry of a conversation is often a little larger.
            self._array = mx.zeros(size + size // 4, dtype=mx.uint8)
            mx.eval(self._array)
        return memoryview(self._array)[:size]  # type: ignore[arg-type]

    def array(self, loaded: LoadedArray) -> mx.array:
        """Return an array of what was read last, in place."""
        span = self._array[loaded.start : loaded.start + len(loaded.data)]
        return span.view(_DTYPES[loaded.dtype]).reshape(loaded.shape)

    def release(self) -> None:
        """Give it back as soon as nobody uses it any more."""
        self._array = mx.zeros(0, dtype=mx.uint8)


def _copy_array(loaded: LoadedArray) -> mx.array:
    words = loaded.data.cast("I") if len(loaded.data) % 4 == 0 else loaded.data.cast("B")
    return mx.array(words).view(_DTYPES[loaded.dtype]).reshape(loaded.shape)  # type: ignore[arg-type]


def _pack_states(states: States) -> dict[str, Array]:
    arrays: dict[str, Array] = {}

    def written(tree: Any) -> Any:
        if isinstance(tree, mx.array):
            name = f"{_STATES}.{len(arrays)}"
            arrays[name] = _pack_array(tree)
            return {"array": name}
        if isinstance(tree, dict):
            return {"dict": {key: written(value) for key, value in tree.items()}}
        if isinstance(tree, list | tuple):
            return {"list": [written(value) for value in tree]}
        return {"value": tree}

    text = json.dumps([written(state) for state in states]).encode()
    return {**arrays, _STATES: ("U8", (len(text),), text)}


def _unpack_states(tree: Any, arrays: Mapping[str, LoadedArray]) -> Any:
    ((kind, value),) = tree.items()
    if kind == "array":
        return _copy_array(arrays[value])
    if kind == "dict":
        return {key: _unpack_states(item, arrays) for key, item in value.items()}
    if kind == "list":
        return [_unpack_states(item, arrays) for item in value]
    return value
