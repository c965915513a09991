"""What a loaded model has computed before: many conversations and their branches, found by their tokens.

A radix trie holds the tokens. What was computed for a node's tokens lies in one of three places:

- in a *sequence*: the caches of an answer that is being generated or has ended. A new prompt that goes on from there
  takes an idle sequence over as it is, without a copy;
- *owned* by the node: a copy of just its tokens, made when a sequence that was the only one to hold them goes back
  further or makes place, so that branches share what they have in common;
- on the disk, see `sotto.engine.caches.disk_tier`.

Stateful caches (windows, recurrent states) come back only where their state was kept, so a prompt of such a model goes
on from the last node with states. Everything here runs on the thread that owns MLX.
"""

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Series
from functools import partial
from typing import Any

from sotto.engine.architectures.cache_types import PlannedKVCache
from sotto.engine.caches.prefix_disk import PrefixDisk
from sotto.engine.caches.prefix_tree import Held, PrefixTree
from sotto.engine.caches.radix import Match, Node, Tokens
from sotto.engine.caches.sequence import Piece, Sequence

SNAPSHOT_INTERVAL = 1024


class _LostError(Exception):
    """The disk does not have any more what it had."""


class PrefixCache:
    """The sequences of one model and the trie of what they have computed.

    Attributes:
        budget: Bytes that all of it may take; running sequences count, but are never given up.
    """

    def __init__(self, make: Callable[[], list[Any]], budget: int, disks: Series[PrefixDisk] = ()) -> None:
        """Start with what the disk has.

        Args:
            make: Makes fresh caches for the model.
            budget: In bytes; 0 keeps nothing once an answer has ended.
            disks: Take what makes place, and what is there when the model is unloaded: one for contexts that are
                computed in the first way and, where there is one, one for those in the second, see `limit`; none where
                nothing is stored.
        """
        self._make = make
        self.budget = budget
        self._places: dict[Sequence, Node] = {}
        self._active: set[Sequence] = set()
        self._beside: dict[int, int] = {}
        probe = Sequence(make)
        self._planned = next((leaf for leaf in probe.ranged if isinstance(leaf, PlannedKVCache)), None)
        self.keeps_states = bool(probe.stateful)
        # What a model computes in two ways, by the length of the context, is kept apart.
        self._trees = tuple(PrefixTree(disk) for disk in (disks or (None, None)))

    @property
    def nbytes(self) -> int:
        """Bytes of all sequences and of what nodes hold."""
        held: int = sum(node.payload.nbytes for node in self._nodes())
        return held + sum(sequence.nbytes for sequence in self._places) + sum(self._beside.values())

    @property
    def live_nbytes(self) -> int:
        """Bytes of the sequences that answers are being generated with, and of what is computed with beside them."""
        return sum(sequence.nbytes for sequence in self._active) + sum(self._beside.values())

    def limit(self, length: int) -> float:
        """Return how many tokens may be fed in all, given a prompt of `length`, before the caches must begin anew.

        Some models compute everything in another way once the context outgrows a boundary.
        """
        if self._planned is None or length > self._planned.boundary:
            return float("inf")
        return int(self._planned.boundary)

    def begin(self, prompt: Series[int]) -> Sequence:
        """Return a sequence that holds as much of `prompt` as is known already, the last token left to feed.

        It belongs to the caller until `end` or `drop`.
        """
        tokens = Tokens.of(prompt[:-1])
        tree = self._tree(len(prompt))
        sequence = None
        while sequence is None:
            match = tree.match(tokens)
            sequence = self._taken_over(tree, match) or self._gather(tree, match, prompt)
        for leaf in sequence.ranged:
            if isinstance(leaf, PlannedKVCache):
                leaf.planned = len(prompt)
        self._active.add(sequence)
        self._place(tree, sequence)
        self.make_place()
        return sequence

    def stops(self, sequence: Sequence, prompt_length: int, boundaries: Series[int]) -> list[int]:
        """Return the lengths, ascending, at which a prefill must pause for `keep`.

        Args:
            sequence: About to be fed.
            prompt_length: Tokens of the prompt.
            boundaries: Where the system prompt and messages end; the next prompt is likely to part from this one there.
        """
        end = prompt_length - 1
        lengths = {end}
        if sequence.stateful:
            lengths.update(range(SNAPSHOT_INTERVAL, end, SNAPSHOT_INTERVAL), (min(at, end) for at in boundaries))
        return sorted(length for length in lengths if length >= max(1, len(sequence.tokens)))

    def keep(self, sequence: Sequence) -> None:
        """Let others find what a running sequence holds now, and keep its states where that needs to be."""
        if not sequence.tokens:
            return
        node = self._place(self._tree_of(sequence), sequence)
        if sequence.stateful and node.payload.states is None:
            node.payload.states = sequence.capture()
            node.payload.states_used = node.used
            self.make_place()

    def end(self, sequence: Sequence) -> None:
        """Take a sequence back, with all that it holds."""
        self._active.discard(sequence)
        if not sequence.tokens:
            self._places.pop(sequence, None)
            return
        tree = self._tree_of(sequence)
        node = self._place(tree, sequence)
        above = set(node.path())
        for other in [idle for idle in self._idle() if idle is not sequence and self._places[idle] in above]:
            # All that it holds is held by the one that went on.
            del self._places[other]
        tree.touch(node)
        self._compact(tree, node)
        self.make_place()

    def drop(self, sequence: Sequence) -> None:
        """Forget a sequence whose caches cannot be trusted, and what only it held."""
        self._active.discard(sequence)
        self._places.pop(sequence, None)
        self._prune()

    def clear(self) -> None:
        """Forget everything that no running answer has; the disk is wiped by its owner."""
        for sequence in self._idle():
            del self._places[sequence]
        for node in self._nodes():
            node.payload.owned = node.payload.states = node.payload.stored = None
        self._prune()

    def count_beside(self, owner: object, nbytes: int) -> None:
        """Count the caches that something else computes with like those of an answer, and make place for them.

        Args:
            owner: Who computes; must live until it has none.
            nbytes: Bytes of its caches; 0 once they are gone.
        """
        self._beside.pop(id(owner), None)
        if nbytes:
            self._beside[id(owner)] = nbytes
            self.make_place()

    def make_place(self) -> None:
        """Give up what was used least recently until the rest is within the budget; the disk takes it where it can."""
        for tree in self._trees:
            tree.release()
        while self.nbytes > self.budget:
            victim = min(self._victims(), key=lambda entry: entry[0], default=None)
            if victim is None:
                return
            victim[1]()

    def close(self) -> None:
        """Hand everything to the disk, the most recently used first, and forget it."""
        for tree in self._trees:
            for node in sorted(tree, key=lambda node: -node.used):
                tree.store(node, self._held_piece, wait=True)
            tree.close()
        self._places.clear()
        self._active.clear()

    # Where to go on from

    def _taken_over(self, tree: PrefixTree, match: Match) -> Sequence | None:
        """Return the idle sequence that holds most of what matched, gone back to that; None if a copy is better."""
        best: tuple[int, int, Sequence, Node | None] | None = None
        for sequence in self._idle():
            shared = self._shared_length(sequence, match)
            reached, at = self._reach(tree, sequence, match, shared)
            beyond = len(sequence.tokens) - reached
            if reached and (best is None or (reached, -beyond) > (best[0], -best[1])):
                best = (reached, beyond, sequence, at)
        copied, _ = self._restorable(tree, match)
        if best is None or best[0] < copied:
            return None
        reached, beyond, sequence, at = best
        if beyond > reached == copied:
            return None  # less is copied by leaving this one as it is
        states = tree.states_of(at) if at is not None else None
        if at is not None and states is None:
            return None
        self._save_tail(tree, sequence, reached)
        sequence.rewind(reached, states)
        sequence.shrink()
        return sequence

    def _reach(self, tree: PrefixTree, sequence: Sequence, match: Match, shared: int) -> tuple[int, Node | None]:
        """Return how much of `shared` tokens a sequence can go back to, and the node whose states that takes."""
        if sequence.can_rewind(shared):
            return shared, None
        node = _with_states(tree, match, shared)
        return (node.end, node) if node else (0, None)

    def _restorable(self, tree: PrefixTree, match: Match) -> tuple[int, Node | None]:
        """Return how much of what matched a copy can hold, and the node whose states that takes."""
        if not self.keeps_states:
            return match.length, None
        node = _with_states(tree, match, match.length)
        return (node.end, node) if node else (0, None)

    def _gather(self, tree: PrefixTree, match: Match, prompt: Series[int]) -> Sequence | None:
        """Return a new sequence with copies of what matched; None if some of it turned out to be lost."""
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
        """Return what ranged caches hold for a node's tokens up to `end`; None if the disk has lost it."""
        held = self._held_piece(node, end)  # empty where no cache is ranged
        return tree.loaded(node, end) if held is None else held

    def _held_piece(self, node: Node, end: int | None = None) -> Piece | None:
        """Return what is in memory of that; None if nothing is."""
        end = node.end if end is None else end
        held: Held = node.payload
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
        """Move a sequence to the node of all its tokens; nodes on the way need no copies of their own."""
        node = tree.insert(Tokens.of(sequence.tokens)) if sequence.tokens else tree.root
        for ancestor in node.path():
            if ancestor.payload is None:
                ancestor.payload = Held()
            ancestor.payload.owned = None
        self._places[sequence] = node
        return node

    def _save_tail(self, tree: PrefixTree, sequence: Sequence, length: int) -> None:
        """Copy what only this sequence holds beyond `length`, because it will be overwritten."""
        place = self._places.pop(sequence)
        for node in reversed(place.path()):
            if node.end <= length:
                break
            if node.start < length:
                tree.split(node, length)
            if not self._is_available(node):
                node.payload.owned = sequence.take(node.start, node.end)
        self._places[sequence] = place

    def _is_available(self, node: Node) -> bool:
        """Return whether a node's tokens are held by the node, by the disk or by a sequence that is placed."""
        held: Held = node.payload
        if held.owned is not None or held.stored is not None:
            return True
        return any(node in place.path() for place in self._places.values())

    def _compact(self, tree: PrefixTree, node: Node) -> None:
        """Make nodes of the path that mean nothing by themselves part of their only child."""
        places = set(self._places.values())
        for ancestor in node.path()[:-1]:
            if len(ancestor.children) == 1 and ancestor not in places and ancestor.payload.means_nothing:
                (child,) = ancestor.children.values()
                if child.payload.owned is None and child.payload.stored is None:
                    tree.merge(ancestor)

    def _prune(self) -> None:
        """Take out what nobody holds any more, and what is below it, which is of no use without it."""
        for tree in self._trees:
            lost = [node for node in tree if not self._is_available(node)]
            for node in lost:
                if node.parent is not None:
                    tree.uproot(node)

    # Making place

    def _victims(self) -> Iterator[tuple[int, Callable[[], None]]]:
        """Yield what could be given up: when it was last used, and what gives it up."""
        for sequence in self._idle():
            yield self._places[sequence].used, partial(self._give_up, sequence)
        for tree in self._trees:
            for node in tree:
                held: Held = node.payload
                if held.states is not None:
                    yield held.states_used, partial(self._give_up_states, tree, node)
                if held.owned is not None and not any(child.payload.owned for child in node.children.values()):
                    yield node.used, partial(self._give_up_owned, tree, node)

    def _give_up(self, sequence: Sequence) -> None:
        """Let an idle sequence go; what others branch off from is copied, the rest goes to the disk or is lost."""
        place = self._places[sequence]
        self._tree_of(sequence).store(place, self._held_piece)
        del self._places[sequence]
        for node in place.path():
            needed = any(child not in place.path() and child.payload.nbytes for child in node.children.values())
            if needed and not self._is_available(node):
                for above in node.path():
                    if not self._is_available(above):
                        above.payload.owned = sequence.take(above.start, above.end)
        self._prune()

    def _give_up_owned(self, tree: PrefixTree, node: Node) -> None:
        tree.store(node, self._held_piece)
        node.payload.owned = None
        self._prune()

    def _give_up_states(self, tree: PrefixTree, node: Node) -> None:
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


def _with_states(tree: PrefixTree, match: Match, length: int) -> Node | None:
    """Return the last matched node within `length` tokens that has states."""
    return next((node for node in reversed(match.path) if node.end <= length and tree.has_states(node)), None)
