"""The radix tree of known prefixes, whose nodes hold cache contents in memory and refer to those on disk."""

from collections.abc import Callable

import mlx.core as mx

from sotto.engine.caches.prefix_disk import MAX_ENTRY_TOKENS, PrefixDisk
from sotto.engine.caches.radix import Node, RadixTree
from sotto.engine.caches.sequence import Piece, States, nbytes_of

# A prefix of fewer tokens than this is recomputed faster than it is read from disk.
_MIN_STORED_TOKENS = 64


class Payload:
    """What a node of the tree holds itself.

    Attributes:
        states_used: When the states were last used, on the tree's clock.
        stored: The entry on disk and the position of its first token; None if there is none.
        nbytes: Bytes in memory.
    """

    __slots__ = ("_owned", "_states", "nbytes", "states_used", "stored")

    def __init__(self, stored: tuple[str, int] | None = None) -> None:
        """Hold nothing in memory."""
        self._owned: Piece | None = None
        self._states: States | None = None
        self.states_used = 0
        self.stored = stored
        # Stored because it is summed over all nodes whenever something is kept.
        self.nbytes = 0

    @property
    def owned(self) -> Piece | None:
        """The node's tokens in the ranged caches; None if only sequences or the disk have them."""
        return self._owned

    @owned.setter
    def owned(self, piece: Piece | None) -> None:
        self._owned = piece
        self.nbytes = nbytes_of(piece) + nbytes_of(self._states)

    @property
    def states(self) -> States | None:
        """The stateful caches after the node's last token; None if they were not kept."""
        return self._states

    @states.setter
    def states(self, states: States | None) -> None:
        self._states = states
        self.nbytes = nbytes_of(self._owned) + nbytes_of(states)

    @property
    def is_mergeable(self) -> bool:
        """Whether nothing is lost when the node is merged into its child."""
        return self._owned is None and self._states is None and self.stored is None


class PrefixTree(RadixTree):
    """A radix tree whose nodes hold a `Payload`, parts of which may be on disk."""

    def __init__(self, disk: PrefixDisk | None = None) -> None:
        """Start with the entries of `disk`."""
        super().__init__(_split, _join)
        self._disk = disk
        for entry, tokens, start in disk.entries() if disk else ():
            for node in self.insert(tokens).path():
                if node.payload is None:
                    node.payload = Payload()
                if node.start >= start and node.payload.stored is None:
                    node.payload.stored = (entry, start)

    def store(self, node: Node, piece_of: Callable[[Node], Piece | None], *, wait: bool = False) -> None:
        """Hand a node and those above it to the disk, except what is there already.

        Args:
            node: May be split, because entries have a maximum length.
            piece_of: Returns a node's tokens in the ranged caches; None if they are not in memory.
            wait: Whether to wait for the disk if its queue is full.
        """
        if self._disk is None or node.end < _MIN_STORED_TOKENS:
            return
        parent = ""
        for ancestor in node.path():
            cuts = range(ancestor.start + MAX_ENTRY_TOKENS, ancestor.end, MAX_ENTRY_TOKENS)
            parts = [self.split(ancestor, at) for at in cuts]
            for part in (*parts, ancestor):
                held: Payload = part.payload
                whole = (part.start, part.end)
                if held.stored is None or not self._disk.holds(held.stored[0], *whole, states=held.states is not None):
                    piece = piece_of(part)
                    entry = "" if piece is None else self._disk.put(part, parent, piece, held.states, wait=wait)
                    if not entry:
                        return
                    held.stored = (entry, part.start)
                parent = held.stored[0]

    def load_piece(self, node: Node, end: int) -> Piece | None:
        """Return a node's tokens up to `end` from the disk; None if they are no longer there."""
        held: Payload = node.payload
        if self._disk is None or held.stored is None:
            return None
        entry, first = held.stored
        piece = self._disk.piece(entry, node.start - first, end - first)
        if piece is None:
            held.stored = None
        return piece

    def has_states(self, node: Node) -> bool:
        """Return whether the stateful caches at a node's end are known."""
        held: Payload = node.payload
        if held.states is not None:
            return True
        return self._disk is not None and held.stored is not None and self._disk.has_states(held.stored[0], node.end)

    def states_of(self, node: Node) -> States | None:
        """Return the stateful caches at a node's end; None if they are no longer on disk."""
        held: Payload = node.payload
        if held.states is None and self._disk is not None and held.stored is not None:
            held.states = self._disk.states(held.stored[0])
            if held.states is None:
                held.stored = None
        held.states_used = self.root.used + 1
        return held.states

    def remove_subtree(self, node: Node) -> None:
        """Remove a node and everything below it."""
        for child in list(node.children.values()):
            self.remove_subtree(child)
        self.remove(node)

    def release(self) -> None:
        """Free the buffers that the disk has finished writing."""
        if self._disk is not None:
            self._disk.release()

    def close(self) -> None:
        """Wait for the disk, then forget everything."""
        if self._disk is not None:
            self._disk.close()
        self.clear()


def _split(held: Payload, at: int) -> tuple[Payload, Payload]:
    """Split a payload after its first `at` tokens; the states belong to the end, so the lower part gets them."""
    upper, lower = Payload(held.stored), Payload(held.stored)
    lower.states, lower.states_used = held.states, held.states_used
    if held.owned is not None:
        above, below = _part(held.owned, slice(0, at)), _part(held.owned, slice(at, None))
        mx.eval(above, below)
        upper.owned, lower.owned = above, below
    return upper, lower


def _part(piece: Piece, span: slice) -> Piece:
    return tuple(tuple(mx.contiguous(array[..., span, :]) for array in arrays) for arrays in piece)


def _join(upper: Payload, lower: Payload) -> Payload:
    """Return the child's payload: only nodes that are `is_mergeable`, which hold nothing, are merged into a child."""
    return lower
