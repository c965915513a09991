"""A radix tree (compressed trie) over token ids: which sequences are known, and where they diverge.

It knows only tokens and structure. The payload of a node belongs to the caller, who provides functions that split it
when an edge is split and join it when two edges become one.

Edges are packed bytes, so they are compared as memory. A look-up takes time in proportion to the tokens that match,
however much is stored beyond the point where the sequences diverge.
"""

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

_TOKEN_BYTES = 4
# Bytes compared first when an edge does not match as a whole; each further step compares twice as many.
_FIRST_STEP = 64 * _TOKEN_BYTES


@dataclass(frozen=True, slots=True)
class Tokens:
    """A sequence of token ids, packed once and then compared and sliced as bytes.

    Attributes:
        data: Each id as a little-endian uint32.
    """

    data: bytes = b""

    @classmethod
    def of(cls, ids: Iterable[int]) -> Self:
        """Pack ids.

        Raises:
            OverflowError: An id is negative or needs more than 32 bits.
        """
        packed = array("I", ids)
        if sys.byteorder == "big":
            packed.byteswap()
        return cls(packed.tobytes())

    def __len__(self) -> int:
        return len(self.data) // _TOKEN_BYTES

    def __getitem__(self, part: slice) -> "Tokens":
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ValueError("tokens can only be sliced in steps of 1")
        return Tokens(self.data[start * _TOKEN_BYTES : max(start, stop) * _TOKEN_BYTES])


class Node:
    """A run of tokens that all sequences through this node share.

    Attributes:
        edge: The tokens from `start` to `end`; empty only at the root.
        start: Number of tokens before this node's.
        parent: The node that ends at `start`; None at the root, and once the node has left its tree.
        children: The nodes that follow, by first token.
        used: When it was last used, on the tree's own clock; a parent is never older than a child.
        payload: The caller's data; None at first.
    """

    __slots__ = ("children", "edge", "parent", "payload", "start", "used")

    def __init__(self, edge: Tokens, start: int, parent: "Node | None", used: int) -> None:
        """Create a leaf without adding it to its parent's children.

        Args:
            edge: Its tokens.
            start: Number of tokens before them.
            parent: The node that ends at `start`; None for the root.
            used: When it was last used, on the tree's clock.
        """
        self.edge = edge
        self.start = start
        self.parent = parent
        self.children: dict[int, Node] = {}
        self.used = used
        self.payload: Any = None

    @property
    def end(self) -> int:
        """Number of tokens up to the end of this node."""
        return self.start + len(self.edge)

    def path(self) -> tuple["Node", ...]:
        """Return the nodes from the root's child to this one; empty for the root."""
        nodes = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return tuple(reversed(nodes))

    def __repr__(self) -> str:
        return f"Node({self.start}..{self.end}, {len(self.children)} children, used {self.used})"


@dataclass(frozen=True, slots=True)
class Match:
    """The longest prefix of a prompt that a tree knows.

    Attributes:
        path: The nodes that contain it, from the root's child on; the last one may extend beyond it.
        length: Its number of tokens.
    """

    path: tuple[Node, ...]
    length: int


class RadixTree:
    """Sequences of tokens, with shared prefixes stored once.

    Attributes:
        root: The node without tokens; it is never split, merged or removed, and has no payload.
    """

    def __init__(self, split: Callable[[Any, int], tuple[Any, Any]], join: Callable[[Any, Any], Any]) -> None:
        """Start empty.

        Args:
            split: Takes a payload and how many tokens of its edge go to the upper part; returns the payloads of the
                upper and of the lower part. If it raises, the tree stays unchanged. Not called for None, which stays
                None on both sides.
            join: Takes the payloads of a node and of its only child; returns that of the merged node. Not called if
                both are None.
        """
        self.root = Node(Tokens(), 0, None, 0)
        self._split = split
        self._join = join
        self._clock = 0
        self._count = 0

    def __len__(self) -> int:
        """Return the number of nodes without the root."""
        return self._count

    def __iter__(self) -> Iterator[Node]:
        """Yield the nodes without the root, parents before children; the tree must not change meanwhile."""
        waiting = list(self.root.children.values())
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children.values())

    def match(self, tokens: Tokens) -> Match:
        """Return the longest known prefix of `tokens`, without marking anything as used."""
        path = []
        node, data, at = self.root, tokens.data, 0
        while at < len(data):
            child = node.children.get(_first(data, at))
            if child is None:
                break
            path.append(child)
            same = _common_bytes(child.edge.data, data, at)
            at += same
            if same < len(child.edge.data):
                break
            node = child
        return Match(tuple(path), at // _TOKEN_BYTES)

    def insert(self, tokens: Tokens) -> Node:
        """Return the node that ends exactly with `tokens`; if there is none, split a node or add a leaf.

        The node and everything above it are marked as used now. The lower part of a split node keeps its time.
        """
        found = self.match(tokens)
        node = found.path[-1] if found.path else self.root
        if found.length < node.end:
            node = self.split(node, found.length)
        if found.length < len(tokens):
            leaf = Node(tokens[found.length :], found.length, node, 0)
            node.children[_first(leaf.edge.data, 0)] = leaf
            self._count += 1
            node = leaf
        self.touch(node)
        return node

    def split(self, node: Node, at: int) -> Node:
        """Split a node and return the new upper part; `node` itself becomes the lower part and keeps its children.

        Args:
            node: The node to split.
            at: Number of tokens before the split, counted from the root; strictly inside the node.

        Raises:
            ValueError: The node is the root, or `at` is not inside it.
        """
        if node.parent is None or not node.start < at < node.end:
            raise ValueError(f"{node} cannot be cut at {at}")
        cut = at - node.start
        above, below = (None, None) if node.payload is None else self._split(node.payload, cut)
        upper = Node(node.edge[:cut], node.start, node.parent, node.used)
        upper.payload, node.payload = above, below
        node.parent.children[_first(upper.edge.data, 0)] = upper
        node.edge, node.start, node.parent = node.edge[cut:], at, upper
        upper.children[_first(node.edge.data, 0)] = node
        self._count += 1
        return upper

    def merge(self, node: Node) -> Node:
        """Merge a node into its only child and return that child, which now begins where the node did.

        The child takes over the node's time, which is never the earlier of the two.

        Raises:
            ValueError: The node is the root, or does not have exactly one child.
        """
        if node.parent is None or len(node.children) != 1:
            raise ValueError(f"{node} cannot be joined with a child: it must have exactly one and not be the root")
        (child,) = node.children.values()
        if node.payload is not None or child.payload is not None:
            child.payload = self._join(node.payload, child.payload)
        child.edge, child.start = Tokens(node.edge.data + child.edge.data), node.start
        child.parent, child.used = node.parent, node.used
        node.parent.children[_first(child.edge.data, 0)] = child
        self._release(node)
        return child

    def remove(self, leaf: Node) -> Node:
        """Remove a leaf and return its parent, which may be a leaf now; the removed leaf keeps its payload.

        Raises:
            ValueError: The node is the root or not a leaf.
        """
        parent = leaf.parent
        if parent is None or leaf.children:
            raise ValueError(f"{leaf} cannot be removed: only a leaf of the tree can")
        del parent.children[_first(leaf.edge.data, 0)]
        self._release(leaf)
        return parent

    def touch(self, node: Node) -> None:
        """Mark a node and everything above it as used now.

        Reading a node's sequence reads its whole path, so a shared prefix is as recent as its most recent continuation.
        """
        self._clock += 1
        above: Node | None = node
        while above is not None:
            above.used = self._clock
            above = above.parent

    def clear(self) -> None:
        """Remove everything and free the payloads at once, rather than when Python collects reference cycles."""
        for node in list(self):
            node.payload = None
            self._release(node)
        self.root.children = {}

    def _release(self, node: Node) -> None:
        """Detach a node that is no longer in the tree."""
        node.parent = None
        node.children = {}
        self._count -= 1


def _first(data: bytes, at: int) -> int:
    """Return the token at byte `at`."""
    return int.from_bytes(data[at : at + _TOKEN_BYTES], "little")


def _common_bytes(edge: bytes, data: bytes, at: int) -> int:
    """Return the length in bytes, of whole tokens, of the common prefix of `edge` and `data[at:]`."""
    # Neither copies nor reads beyond the first difference.
    if data.startswith(edge, at):
        return len(edge)
    most = min(len(edge), len(data) - at)
    low, high = 0, min(_FIRST_STEP, most)
    while edge[low:high] == data[at + low : at + high]:
        if high == most:
            return most
        low, high = high, min(3 * high, most)
    # The first difference is in [low, high); both are whole tokens.
    while high - low > _TOKEN_BYTES:
        middle = low + (high - low) // (2 * _TOKEN_BYTES) * _TOKEN_BYTES
        if edge[low:middle] == data[at + low : at + middle]:
            low = middle
        else:
            high = middle
    return low


def shared_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the number of tokens in the common prefix."""
    shorter, longer = sorted((Tokens.of(first), Tokens.of(second)), key=len)
    return _common_bytes(shorter.data, longer.data, 0) // _TOKEN_BYTES
