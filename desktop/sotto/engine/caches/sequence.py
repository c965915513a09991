"""One sequence of tokens together with its caches.

There are two sorts of caches. *Ranged* ones hold something for each token, so any range of tokens can be copied into
another cache. All others are *stateful*: a recurrent state or a window. They can only be captured as a whole at one
length, and restored to that length.
"""

from collections.abc import Callable, Iterable
from collections.abc import Sequence as Series
from itertools import chain
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map

from sotto.engine.architectures.cache_types import ArraysCache, FullKVCache, SlidingKVCache
from sotto.engine.caches.caches import leaves

# A range of tokens in the ranged caches: the arrays of each cache.
Piece = tuple[tuple[mx.array, ...], ...]
# The stateful caches at one length: the attributes of each.
States = tuple[dict[str, Any], ...]


class Sequence:
    """Caches together with the tokens that were fed to them.

    Attributes:
        caches: One per layer, as the model's forward pass takes them.
        tokens: The tokens fed so far; every cache is at this length.
        ranged: The caches that hold something for each token.
        stateful: The others.
    """

    def __init__(self, make: Callable[[], list[Any]]) -> None:
        """Start empty, with the caches that `make` returns."""
        self.caches = make()
        self.tokens: list[int] = []
        all_leaves = list(leaves(self.caches))
        self.ranged = [leaf for leaf in all_leaves if isinstance(leaf, FullKVCache)]
        self.stateful = [leaf for leaf in all_leaves if not isinstance(leaf, FullKVCache)]

    @property
    def nbytes(self) -> int:
        """Bytes of the caches' buffers."""
        return sum(leaf.nbytes for leaf in (*self.ranged, *self.stateful) if not leaf.empty())

    @property
    def bytes_per_token(self) -> int | None:
        """Bytes that each token adds; None if some caches do not grow evenly, or before the first token."""
        buffers = [buffer for leaf in self.ranged for buffer in leaf.buffers]
        if self.stateful or not buffers:
            return None
        return sum(buffer.nbytes // buffer.shape[2] for buffer in buffers)

    @property
    def has_states(self) -> bool:
        """Whether all recurrent layers have a state, which the first token creates."""
        return bool(self.tokens) or not any(isinstance(leaf, ArraysCache) for leaf in self.stateful)

    def shift_positions(self, shift: int) -> None:
        """Set what the position of the next token is ahead of the number of tokens."""
        for leaf in self.ranged:
            leaf.shift = shift

    def evaluate(self) -> None:
        """Evaluate the arrays of all caches."""
        mx.eval([cache.state for cache in self.caches])

    @property
    def is_stoppable(self) -> bool:
        """Whether `compute` can be stopped; states would have to be copied for that."""
        return not self.stateful

    def compute(self, forward: Callable[[], object], stop: Callable[[], bool], steps: int) -> bool:
        """Evaluate what a forward pass appends to the caches, layer by layer, unless it is stopped.

        Args:
            forward: The pass, which is lazy.
            stop: Asked between two steps, if it can be stopped. Once it returns True, the caches are brought back to
                where they were.
            steps: In how many parts to evaluate, if there are as many layers.

        Returns:
            Whether it was evaluated as a whole.
        """
        if not self.is_stoppable or steps <= 1:
            forward()
            self.evaluate()
            return True
        held = [[(leaf, _unalias(vars(leaf))) for leaf in leaves([cache])] for cache in self.caches]
        forward()
        together = -(-len(self.caches) // steps)
        for first in range(0, len(self.caches), together):
            # Before they are evaluated, so that the buffers are changed in place.
            del held[:together]
            mx.eval([cache.state for cache in self.caches[first : first + together]])
            if held and stop():
                for leaf in self.ranged:
                    leaf.rewind(len(self.tokens))
                for leaf, before in chain.from_iterable(held):
                    vars(leaf).update(before)
                return False
        return True

    @property
    def is_rewindable(self) -> bool:
        """Whether the last few tokens can always be removed."""
        return all(isinstance(leaf, SlidingKVCache) for leaf in self.stateful)

    def can_rewind(self, length: int) -> bool:
        """Return whether `rewind` can go back to `length`."""
        if length == len(self.tokens):
            return True
        return all(isinstance(leaf, SlidingKVCache) and leaf.can_rewind(length) for leaf in self.stateful)

    def rewind(self, length: int, states: States | None = None) -> None:
        """Go back to `length` tokens.

        Args:
            length: At most the current length.
            states: The stateful caches at that length; None if `can_rewind(length)`.
        """
        if length == len(self.tokens):
            return
        for leaf in self.ranged:
            leaf.rewind(length)
        if states is not None:
            self._restore(states)
        else:
            for leaf in self.stateful:
                leaf.rewind(length)
        del self.tokens[length:]

    def capture(self, *, computed: bool = True) -> States:
        """Return the current content of the stateful caches.

        Args:
            computed: Whether to evaluate it now.
        """
        states = tuple(
            leaf.capture() if isinstance(leaf, SlidingKVCache) else _unalias(vars(leaf)) for leaf in self.stateful
        )
        if computed:
            mx.eval(states)
        return states

    def part(self, start: int, end: int) -> Piece:
        """Return tokens `start` to `end` of the ranged caches, lazily and without a copy."""
        return tuple(leaf.part(start, end) for leaf in self.ranged)

    def copy_part(self, start: int, end: int) -> Piece:
        """Return an evaluated copy of tokens `start` to `end` of the ranged caches."""
        piece = tuple(tuple(mx.contiguous(array) for array in arrays) for arrays in self.part(start, end))
        mx.eval(piece)
        return piece

    def fill(self, tokens: Series[int], pieces: Iterable[Piece], states: States | None) -> None:
        """Fill an empty sequence with `tokens`.

        Args:
            tokens: The tokens that the pieces belong to.
            pieces: Consecutive ranges from the first token on. Each is copied before the next one is requested, so
                only one at a time has to be in memory.
            states: The stateful caches after the last token; None if there are none.
        """
        for piece in pieces:
            for leaf, part in zip(self.ranged, piece, strict=True):
                leaf.put(part, len(tokens))
            self.evaluate()
        if states is not None:
            self._restore(states)
        self.tokens = list(tokens)

    def shrink(self) -> None:
        """Release unused room in the buffers."""
        for leaf in self.ranged:
            leaf.shrink()

    def _restore(self, states: States) -> None:
        for leaf, state in zip(self.stateful, states, strict=True):
            vars(leaf).update(_unalias(state))


def nbytes_of(arrays: Any) -> int:
    """Return the total bytes of all arrays in a tree."""
    return sum(leaf.nbytes for _, leaf in tree_flatten(arrays) if isinstance(leaf, mx.array))


def _unalias(state: dict[str, Any]) -> dict[str, Any]:
    """Return `state` with new array objects that share the old buffers.

    Caches write in place: they change the array object they hold. MLX copies a shared buffer before it writes to it,
    so only the first write pays for a copy, and nothing does if no write follows.
    """
    owned: dict[str, Any] = tree_map(lambda leaf: mx.stop_gradient(leaf) if isinstance(leaf, mx.array) else leaf, state)
    return owned
