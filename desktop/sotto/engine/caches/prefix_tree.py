"""The trie of prefixes with what hangs on its nodes, and the disk behind it."""

from collections.abc import Callable

import mlx.core as mx

from sotto.engine.caches.prefix_disk import MOST_TOKENS, PrefixDisk
from sotto.engine.caches.radix import Node, RadixTree
from sotto.engine.caches.sequence import Piece, States, nbytes_of

# Fewer tokens than this are computed again sooner than they are found on a disk.
_WORTH_STORING = 64


class Held:
    """What a node holds itself.

    Attributes:
        states_used: When the states were last of use, on the clock of the trie.
        stored: The entry on the disk and its first token's position; None where there is none.
        nbytes: Bytes of memory.
    """

    __slots__ = ("_owned", "_states", "nbytes", "states_used", "stored")

    def __init__(self, stored: tuple[str, int] | None = None) -> None:
        """Hold nothing in memory."""
        self._owned: Piece | None = None
        self._states: States | None = None
        self.states_used = 0
        self.stored = stored
        # Asked for all nodes whenever something is kept, so it is not counted anew each time.
        self.nbytes = 0

    @property
    def owned(self) -> Piece | None:
        """What ranged caches hold for the node's tokens; None where only sequences or the disk have it."""
        return self._owned

    @owned.setter
    def owned(self, piece: Piece | None) -> None:
        self._owned = piece
        self.nbytes = nbytes_of(piece) + nbytes_of(self._states)

    @property
    def states(self) -> States | None:
        """Stateful caches after the node's last token; None where they were not kept."""
        return self._states

    @states.setter
    def states(self, states: States | None) -> None:
        self._states = states
        self.nbytes = nbytes_of(self._owned) + nbytes_of(states)

    @property
    def means_nothing(self) -> bool:
        """Whether nothing is lost when the node becomes part of its child."""
        return self._owned is None and self._states is None and self.stored is None


class PrefixTree(RadixTree):
    """A trie whose nodes hold `Held`, some of which may lie on a disk."""

    def __init__(self, disk: PrefixDisk | None = None) -> None:
        """Start with what `disk` has."""
        super().__init__(_split, _join)
        self._disk = disk
        for entry, tokens, start in disk.entries() if disk else ():
            for node in self.insert(tokens).path():
                if node.payload is None:
                    node.payload = Held()
                if node.start >= start and node.payload.stored is None:
                    node.payload.stored = (entry, start)

    def store(self, node: Node, piece_of: Callable[[Node], Piece | None], *, wait: bool = False) -> None:
        """Hand a node and those above it to the disk, where they are not there yet.

        Args:
            node: May be cut on the way: entries have a largest size.
            piece_of: Returns what ranged caches hold for a node, or None if nobody does.
            wait: Whether to wait for the disk where too much is on the way to it already.
        """
        if self._disk is None or node.end < _WORTH_STORING:
            return
        parent = ""
        for ancestor in node.path():
            parts = [self.split(ancestor, at) for at in range(ancestor.start + MOST_TOKENS, ancestor.end, MOST_TOKENS)]
            for part in (*parts, ancestor):
                held: Held = part.payload
                whole = (part.start, part.end)
                if held.stored is None or not self._disk.holds(held.stored[0], *whole, states=held.states is not None):
                    piece = piece_of(part)
                    entry = "" if piece is None else self._disk.put(part, parent, piece, held.states, wait=wait)
                    if not entry:
                        return
                    held.stored = (entry, part.start)
                parent = held.stored[0]

    def loaded(self, node: Node, end: int) -> Piece | None:
        """Return a node's tokens up to `end` from the disk; None if they are not there any more."""
        held: Held = node.payload
        if self._disk is None or held.stored is None:
            return None
        entry, first = held.stored
        piece = self._disk.piece(entry, node.start - first, end - first)
        if piece is None:
            held.stored = None
        return piece

    def has_states(self, node: Node) -> bool:
        """Return whether the stateful caches at a node's end are known."""
        held: Held = node.payload
        if held.states is not None:
            return True
        return self._disk is not None and held.stored is not None and self._disk.has_states(held.stored[0], node.end)

    def states_of(self, node: Node) -> States | None:
        """Return the stateful caches at a node's end; None if the disk has lost them."""
        held: Held = node.payload
        if held.states is None and self._disk is not None and held.stored is not None:
            held.states = self._disk.states(held.stored[0])
            if held.states is None:
                held.stored = None
        held.states_used = self.root.used + 1
        return held.states

    def uproot(self, node: Node) -> None:
        """Take a node and everything below it out."""
        for child in list(node.children.values()):
            self.uproot(child)
        self.remove(node)

    def release(self) -> None:
        """Let go of what the disk has written meanwhile."""
        if self._disk is not None:
            self._disk.release()

    def close(self) -> None:
        """Wait for the disk, and forget everything."""
        if self._disk is not None:
            self._disk.close()
        self.clear()


def _split(held: Held, at: int) -> tuple[Held, Held]:
    """Divide what a node holds after its first `at` tokens; states are of the end and stay there."""
    upper, lower = Held(held.stored), Held(held.stored)
    lower.states, lower.states_used = held.states, held.states_used
    if held.owned is not None:
        above, below = _part(held.owned, slice(0, at)), _part(held.owned, slice(at, None))
        mx.eval(above, below)
        upper.owned, lower.owned = above, below
    return upper, lower


def _part(piece: Piece, span: slice) -> Piece:
    return tuple(tuple(mx.contiguous(array[..., span, :]) for array in arrays) for arrays in piece)


def _join(upper: Held, lower: Held) -> Held:
    """Make two nodes one; only a node that means nothing by itself is joined with its child."""
    return lower
