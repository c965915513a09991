"""The prefix cache: what a loaded model has computed for many conversations and their branches, found by token.

A radix tree holds the tokens. The cache contents for a node's tokens are in one of three places:

- in a *sequence*: the caches of an answer that is being generated or has ended. A new prompt that continues an idle
  sequence takes it over without a copy;
- *owned* by the node: a copy of just its tokens. It is made when the only sequence that holds them is rewound past them
  or evicted, so that branches share their common prefix;
- on disk, see `sotto.engine.caches.disk_tier`.

Stateful caches (windows, recurrent states) can be restored only where their state was kept, so a prompt for such a
model continues from the last node with states. Everything here runs on the thread that owns MLX.
"""

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Series
from functools import partial
from typing import Any

from sotto.engine.architectures.cache_types import PlannedKVCache
from sotto.engine.caches.prefix_disk import PrefixDisk
from sotto.engine.caches.prefix_tree import Payload, PrefixTree
from sotto.engine.caches.radix import Match, Node, Tokens
from sotto.engine.caches.sequence import Piece, Sequence

# While a prompt is fed, states are kept after every so many tokens.
SNAPSHOT_INTERVAL = 1024


class _LostError(Exception):
    """An entry is no longer on disk."""


class PrefixCache:
    """The sequences of one model and the tree of what they have computed.

    Attributes:
        budget: Bytes for everything; running sequences count, but are never evicted.
        keeps_states: Whether the model has stateful caches.
    """

    def __init__(self, make: Callable[[], list[Any]], budget: int, disks: Series[PrefixDisk] = ()) -> None:
        """Start with what is on disk.

        Args:
            make: Returns new, empty caches for the model.
            budget: In bytes; 0 keeps nothing once an answer has ended.
            disks: Receive what is evicted, and everything when the model is unloaded. One for short contexts and, if
                the model computes long ones differently (see `limit`), another for those; empty to store nothing.
        """
        self._make = make
        self.budget = budget
        self._places: dict[Sequence, Node] = {}
        self._active: set[Sequence] = set()
        self._other_nbytes: dict[int, int] = {}
        probe = Sequence(make)
        self._planned = next((leaf for leaf in probe.ranged if isinstance(leaf, PlannedKVCache)), None)
        self.keeps_states = bool(probe.stateful)
        # One tree for short and one for long contexts, which some models compute differently.
        self._trees = tuple(PrefixTree(disk) for disk in (disks or (None, None)))

    @property
    def nbytes(self) -> int:
        """Bytes of all sequences, all nodes and all other caches."""
        held: int = sum(node.payload.nbytes for node in self._nodes())
        return held + sum(sequence.nbytes for sequence in self._places) + sum(self._other_nbytes.values())

    @property
    def live_nbytes(self) -> int:
        """Bytes of the sequences in use by running answers, and of all other caches."""
        return sum(sequence.nbytes for sequence in self._active) + sum(self._other_nbytes.values())

    def limit(self, length: int) -> float:
        """Return how many tokens may be fed in total, after a prompt of `length`, before new caches are needed.

        Some models compute everything differently once the context exceeds a boundary.
        """
        if self._planned is None or length > self._planned.boundary:
            return float("inf")
        return int(self._planned.boundary)

    def begin(self, prompt: Series[int], whole: Series[range] = ()) -> Sequence:
        """Return a sequence that holds the known prefix of `prompt`, with at least the last token left to feed.

        It belongs to the caller until `end` or `drop`.

        Args:
            prompt: Tokens.
            whole: Parts of it that are fed as a whole, so that the prefix may not end inside of one.
        """
        tokens = Tokens.of(prompt[:-1])
        tree = self._tree(len(prompt))
        sequence = None
        while sequence is None:
            match = tree.match(tokens)
            torn = next((part for part in whole if part.start < match.length < part.stop), None)
            if torn is not None:
                match = tree.match(tokens[: torn.start])
            sequence = self._take_over(tree, match) or self._gather(tree, match, prompt)
        for leaf in sequence.ranged:
            if isinstance(leaf, PlannedKVCache):
                leaf.planned = len(prompt)
        self._active.add(sequence)
        self._place(tree, sequence)
        self.make_room()
        return sequence

    def stops(
        self, sequence: Sequence, prompt_length: int, boundaries: Series[int], whole: Series[range] = ()
    ) -> list[int]:
        """Return the lengths, ascending, at which a prefill must pause for `keep`.

        Args:
            sequence: The sequence about to be fed.
            prompt_length: Number of tokens in the prompt.
            boundaries: Where the system prompt and the messages end, because the next prompt is likely to diverge
                there.
            whole: Parts of the prompt that are fed as a whole; the pause comes after one.
        """
        end = prompt_length - 1
        lengths = {end}
        if sequence.stateful:
            lengths.update(range(SNAPSHOT_INTERVAL, end, SNAPSHOT_INTERVAL), (min(at, end) for at in boundaries))
        for part in whole:
            lengths = {min(part.stop, end) if part.start < length < part.stop else length for length in lengths}
        return sorted(length for length in lengths if length >= max(1, len(sequence.tokens)))

    def keep(self, sequence: Sequence) -> None:
        """Make what a running sequence holds now available to others, with a copy of its states if it has any."""
        if not sequence.tokens:
            return
        node = self._place(self._tree_of(sequence), sequence)
        if sequence.stateful and node.payload.states is None:
            node.payload.states = sequence.capture()
            node.payload.states_used = node.used
            self.make_room()

    def end(self, sequence: Sequence) -> None:
        """Take a sequence back, keeping what it holds for later prompts."""
        self._active.discard(sequence)
        if not sequence.tokens:
            self._places.pop(sequence, None)
            return
        tree = self._tree_of(sequence)
        node = self._place(tree, sequence)
        above = set(node.path())
        for other in [idle for idle in self._idle() if idle is not sequence and self._places[idle] in above]:
            # The longer sequence holds everything that it holds.
            del self._places[other]
        tree.touch(node)
        self._compact(tree, node)
        self.make_room()

    def drop(self, sequence: Sequence) -> None:
        """Forget a sequence whose caches may be wrong, and everything that only it held."""
        self._active.discard(sequence)
        self._places.pop(sequence, None)
        self._prune()

    def clear(self) -> None:
        """Forget everything that no running answer uses; wiping the disk is left to its owner."""
        for sequence in self._idle():
            del self._places[sequence]
        for node in self._nodes():
            node.payload.owned = node.payload.states = node.payload.stored = None
        self._prune()

    def count_other_caches(self, owner: object, nbytes: int) -> None:
        """Count caches that are not part of this one (those of an embedding) as in use, and make room for them.

        Args:
            owner: Identifies the caches; must stay alive until they are gone.
            nbytes: Bytes of the caches; 0 once they are gone.
        """
        self._other_nbytes.pop(id(owner), None)
        if nbytes:
            self._other_nbytes[id(owner)] = nbytes
            self.make_room()

    def make_room(self) -> None:
        """Evict what was used least recently, to the disk if possible, until the rest is within the budget."""
        for tree in self._trees:
            tree.release()
        while self.nbytes > self.budget:
            victim = min(self._victims(), key=lambda candidate: candidate[0], default=None)
            if victim is None:
                return
            _, evict = victim
            evict()

    def close(self) -> None:
        """Hand everything to the disk, most recently used first, and forget it."""
        for tree in self._trees:
            for node in sorted(tree, key=lambda node: -node.used):
                tree.store(node, self._held_piece, wait=True)
            tree.close()
        self._places.clear()
        self._active.clear()

    # Finding what to continue from

    def _take_over(self, tree: PrefixTree, match: Match) -> Sequence | None:
        """Return the idle sequence with the longest usable part of the match, rewound; None if copying is better."""
        best: tuple[int, int, Sequence, Node | None] | None = None
        for sequence in self._idle():
            shared = self._shared_length(sequence, match)
            reached, at = self._reusable_length(tree, sequence, match, shared)
            beyond = len(sequence.tokens) - reached
            if reached and (best is None or (reached, -beyond) > (best[0], -best[1])):
                best = (reached, beyond, sequence, at)
        copied, _ = self._restorable(tree, match)
        if best is None or best[0] < copied:
            return None
        reached, beyond, sequence, at = best
        if beyond > reached == copied:
            return None  # Its tail would have to be saved, which copies more than a new sequence with the match.
        states = tree.states_of(at) if at is not None else None
        if at is not None and states is None:
            return None
        self._save_tail(tree, sequence, reached)
        sequence.rewind(reached, states)
        sequence.shrink()
        return sequence

    def _reusable_length(
        self, tree: PrefixTree, sequence: Sequence, match: Match, shared: int
    ) -> tuple[int, Node | None]:
        """Return how many of `shared` tokens remain after a rewind, and the node whose states that needs, if any."""
        if sequence.can_rewind(shared):
            return shared, None
        node = _last_with_states(tree, match, shared)
        return (node.end, node) if node else (0, None)

    def _restorable(self, tree: PrefixTree, match: Match) -> tuple[int, Node | None]:
        """Return how many matched tokens a new sequence can hold, and the node whose states that needs, if any."""
        if not self.keeps_states:
            return match.length, None
        node = _last_with_states(tree, match, match.length)
        return (node.end, node) if node else (0, None)

    def _gather(self, tree: PrefixTree, match: Match, prompt: Series[int]) -> Sequence | None:
        """Return a new sequence with a copy of what matched; None if part of it turned out to be lost."""
        length, at = self._restorable(tree, match)
        path = [node for node in match.path if node.start < length]
        states = tree.states_of(at) if at is not None else None
        if at is not None and states is None:
            return None
        sequence = Sequence(self._make)

        def pieces() -> Iterator[Piece]:
            for node in path:
                piece = self._piece(tree, node, min(node.end, length))
                if piece is None:
                    raise _LostError
                yield piece

        try:
            if path:
                sequence.fill(prompt[:length], pieces(), states)
        except _LostError:
            self._prune()
            return None
        return sequence

    def _piece(self, tree: PrefixTree, node: Node, end: int) -> Piece | None:
        """Return a node's tokens up to `end` in the ranged caches; None if they are no longer on disk."""
        held = self._held_piece(node, end)  # empty, not None, if the model has no ranged caches
        return tree.load_piece(node, end) if held is None else held

    def _held_piece(self, node: Node, end: int | None = None) -> Piece | None:
        """Return a node's tokens up to `end` in the ranged caches; None if they are not in memory."""
        end = node.end if end is None else end
        held: Payload = node.payload
        for sequence, place in self._places.items():
            if node in place.path():
                return sequence.part(node.start, end)
        if held.owned is not None:
            span = slice(0, end - node.start)
            return tuple(tuple(array[..., span, :] for array in arrays) for arrays in held.owned)
        return None

    def _shared_length(self, sequence: Sequence, match: Match) -> int:
        """Return how many of the matched tokens a sequence holds."""
        matched = set(match.path)
        node = next((node for node in reversed(self._places[sequence].path()) if node in matched), None)
        return min(node.end, match.length) if node else 0

    # Who holds what

    def _place(self, tree: PrefixTree, sequence: Sequence) -> Node:
        """Move a sequence to the node where its tokens end, and drop the copies that the nodes on its path own."""
        node = tree.insert(Tokens.of(sequence.tokens)) if sequence.tokens else tree.root
        for ancestor in node.path():
            if ancestor.payload is None:
                ancestor.payload = Payload()
            ancestor.payload.owned = None
        self._places[sequence] = node
        return node

    def _save_tail(self, tree: PrefixTree, sequence: Sequence, length: int) -> None:
        """Copy to the nodes what only this sequence holds beyond `length`, because it will be overwritten."""
        place = self._places.pop(sequence)
        for node in reversed(place.path()):
            if node.end <= length:
                break
            if node.start < length:
                tree.split(node, length)
            if not self._is_available(node):
                node.payload.owned = sequence.copy_part(node.start, node.end)
        self._places[sequence] = place

    def _is_available(self, node: Node) -> bool:
        """Return whether a node's tokens are held by the node, the disk or a sequence in `_places`."""
        held: Payload = node.payload
        if held.owned is not None or held.stored is not None:
            return True
        return any(node in place.path() for place in self._places.values())

    def _compact(self, tree: PrefixTree, node: Node) -> None:
        """Merge the nodes above `node` that hold nothing themselves into their only child."""
        places = set(self._places.values())
        for ancestor in node.path()[:-1]:
            if len(ancestor.children) == 1 and ancestor not in places and ancestor.payload.is_mergeable:
                (child,) = ancestor.children.values()
                if child.payload.owned is None and child.payload.stored is None:
                    tree.merge(ancestor)

    def _prune(self) -> None:
        """Remove the nodes that nothing holds any more, with those below, which are useless without them."""
        for tree in self._trees:
            lost = [node for node in tree if not self._is_available(node)]
            for node in lost:
                if node.parent is not None:
                    tree.remove_subtree(node)

    # Eviction

    def _victims(self) -> Iterator[tuple[int, Callable[[], None]]]:
        """Yield what could be evicted: when it was last used, and a function that evicts it."""
        for sequence in self._idle():
            yield self._places[sequence].used, partial(self._evict_sequence, sequence)
        for tree in self._trees:
            for node in tree:
                held: Payload = node.payload
                if held.states is not None:
                    yield held.states_used, partial(self._evict_states, tree, node)
                if held.owned is not None and not any(child.payload.owned for child in node.children.values()):
                    yield node.used, partial(self._evict_owned, tree, node)

    def _evict_sequence(self, sequence: Sequence) -> None:
        """Forget an idle sequence, offering it to the disk first; what others branch off from is copied."""
        place = self._places[sequence]
        self._tree_of(sequence).store(place, self._held_piece)
        del self._places[sequence]
        for node in place.path():
            needed = any(child not in place.path() and child.payload.nbytes for child in node.children.values())
            if needed and not self._is_available(node):
                for above in node.path():
                    if not self._is_available(above):
                        above.payload.owned = sequence.copy_part(above.start, above.end)
        self._prune()

    def _evict_owned(self, tree: PrefixTree, node: Node) -> None:
        tree.store(node, self._held_piece)
        node.payload.owned = None
        self._prune()

    def _evict_states(self, tree: PrefixTree, node: Node) -> None:
        tree.store(node, self._held_piece)
        node.payload.states, node.payload.states_used = None, 0

    # Bookkeeping

    def _idle(self) -> list[Sequence]:
        return [sequence for sequence in self._places if sequence not in self._active]

    def _nodes(self) -> Iterator[Node]:
        for tree in self._trees:
            yield from tree

    def _tree(self, length: int) -> PrefixTree:
        return self._trees[self._planned is not None and length > self._planned.boundary]

    def _tree_of(self, sequence: Sequence) -> PrefixTree:
        return self._tree(
            max((leaf.planned for leaf in sequence.ranged if isinstance(leaf, PlannedKVCache)), default=0)
        )


def _last_with_states(tree: PrefixTree, match: Match, length: int) -> Node | None:
    """Return the last matched node within `length` tokens that has states; None if there is none."""
    return next((node for node in reversed(match.path) if node.end <= length and tree.has_states(node)), None)
