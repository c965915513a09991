"""A compressed trie over token ids: which sequences are known, and where they part.

It knows tokens and structure alone. What hangs on a node, its payload, is the caller's, who says how it is cut when an
edge is cut and joined when two become one.

Edges are packed bytes, so comparing them is a comparison of memory: a look-up takes time in proportion to the tokens
that match, whatever is stored behind the place where the sequences part.
"""

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

_WIDTH = 4
# The first stretch that is compared when an edge does not match as a whole; each next one is twice as long.
_FIRST_STRETCH = 64 * _WIDTH


@dataclass(frozen=True, slots=True)
class Tokens:
    """A sequence of token ids, packed once and then compared and cut as bytes.

    Attributes:
        data: Each id as a little-endian uint32.
    """

    data: bytes = b""

    @classmethod
    def of(cls, ids: Iterable[int]) -> Self:
        """Pack ids; OverflowError where one is negative or takes more than 32 bits."""
        packed = array("I", ids)
        if sys.byteorder == "big":
            packed.byteswap()
        return cls(packed.tobytes())

    def __len__(self) -> int:
        return len(self.data) // _WIDTH

    def __getitem__(self, part: slice) -> "Tokens":
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ValueError("tokens are cut in steps of 1")
        return Tokens(self.data[start * _WIDTH : max(start, stop) * _WIDTH])


class Node:
    """A stretch of tokens that all sequences through it share.

    Attributes:
        edge: The tokens from `start` to `end`; empty at the root alone.
        start: Tokens before this node's.
        parent: The node that ends at `start`; None at the root, and once the node is out of its tree.
        children: What follows, by first token.
        used: When it was last used, by the tree's own count; a parent is never older than a child.
        payload: What the caller hung on it; None in the beginning.
    """

    __slots__ = ("children", "edge", "parent", "payload", "start", "used")

    def __init__(self, edge: Tokens, start: int, parent: "Node | None", used: int) -> None:
        """Make a node that nothing follows; it is not yet among its parent's children."""
        self.edge = edge
        self.start = start
        self.parent = parent
        self.children: dict[int, Node] = {}
        self.used = used
        self.payload: Any = None

    @property
    def end(self) -> int:
        """Tokens up to and with this node's."""
        return self.start + len(self.edge)

    def path(self) -> tuple["Node", ...]:
        """Return the nodes from the root's child to this one; none for the root."""
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
    """The longest beginning of a prompt that a tree knows.

    Attributes:
        path: The nodes it lies in, from the root's child on; the last one may go on beyond it.
        length: Its tokens.
    """

    path: tuple[Node, ...]
    length: int


class RadixTree:
    """Sequences of tokens by their shared beginnings.

    Attributes:
        root: The node of no tokens; it is never cut, joined or removed, and carries no payload.
    """

    def __init__(self, split: Callable[[Any, int], tuple[Any, Any]], join: Callable[[Any, Any], Any]) -> None:
        """Start empty.

        Args:
            split: Takes a payload and the tokens of its edge that go to the upper part; returns the payloads of the
                upper and of the lower part. It may raise; the tree is then as it was. Not asked about None, which
                stays None on both sides.
            join: Takes the payloads of a node and of its only child; returns that of both together. Not asked where
                both are None.
        """
        self.root = Node(Tokens(), 0, None, 0)
        self._split = split
        self._join = join
        self._clock = 0
        self._count = 0

    def __len__(self) -> int:
        """Count the nodes; the root does not count."""
        return self._count

    def __iter__(self) -> Iterator[Node]:
        """Yield the nodes, parents before children; the tree must stay as it is meanwhile."""
        waiting = list(self.root.children.values())
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children.values())

    def match(self, tokens: Tokens) -> Match:
        """Return the longest beginning of `tokens` that is here; nothing counts as used by that."""
        path = []
        node, data, at = self.root, tokens.data, 0
        while at < len(data):
            child = node.children.get(_first(data, at))
            if child is None:
                break
            path.append(child)
            same = _common(child.edge.data, data, at)
            at += same
            if same < len(child.edge.data):
                break
            node = child
        return Match(tuple(path), at // _WIDTH)

    def insert(self, tokens: Tokens) -> Node:
        """Return the node that ends exactly with `tokens`, made by a cut or as a leaf where there is none.

        It and everything above it count as used now. What is cut off below keeps its time.
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
        """Cut a node in two and return the new upper one; `node` itself stays the lower one and keeps its children.

        Args:
            node: What to cut.
            at: Tokens before the cut, counted from the root; inside of the node.
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
        """Join a node with its only child and return that child, which now begins where the node did.

        The later of the two times stays, which is the node's.
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
        """Take a leaf out and return its parent, which may be a leaf now; the leaf keeps its payload."""
        parent = leaf.parent
        if parent is None or leaf.children:
            raise ValueError(f"{leaf} cannot be removed: only a leaf of the tree can")
        del parent.children[_first(leaf.edge.data, 0)]
        self._release(leaf)
        return parent

    def touch(self, node: Node) -> None:
        """Count a node and everything above it as used now.

        What reads a node's sequence reads its whole path, so a beginning that many share is as young as the youngest
        of what follows it.
        """
        self._clock += 1
        above: Node | None = node
        while above is not None:
            above.used = self._clock
            above = above.parent

    def clear(self) -> None:
        """Take everything out; payloads go at once, not only when Python looks for circles of references."""
        for node in list(self):
            node.payload = None
            self._release(node)
        self.root.children = {}

    def _release(self, node: Node) -> None:
        """Let go of a node that is no longer in the tree."""
        node.parent = None
        node.children = {}
        self._count -= 1


def _first(data: bytes, at: int) -> int:
    """Return the token at byte `at`."""
    return int.from_bytes(data[at : at + _WIDTH], "little")


def _common(edge: bytes, data: bytes, at: int) -> int:
    """Return how many bytes, in whole tokens, `edge` and `data` from `at` on begin with together."""
    # Neither copies nor looks beyond the first difference.
    if data.startswith(edge, at):
        return len(edge)
    most = min(len(edge), len(data) - at)
    low, high = 0, min(_FIRST_STRETCH, most)
    while edge[low:high] == data[at + low : at + high]:
        if high == most:
            return most
        low, high = high, min(3 * high, most)
    # The first difference is in [low, high); both are whole tokens.
    while high - low > _WIDTH:
        middle = low + (high - low) // (2 * _WIDTH) * _WIDTH
        if edge[low:middle] == data[at + low : at + middle]:
            low = middle
        else:
            high = middle
    return low


def shared_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens both begin with."""
    one, other = Tokens.of(first), Tokens.of(second)
    if len(one) > len(other):
        one, other = other, one
    return _common(one.data, other.data, 0) // _WIDTH
