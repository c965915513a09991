"""One sequence of tokens and the caches that hold it.

Caches are of two sorts. *Ranged* ones hold something for each token, so that any range of tokens can be copied out and
put into another cache. All others are *stateful*: a recurrent state, a window. They can be captured as a whole, as
they are at one length, and be brought back to that length only.
"""

from collections.abc import Callable, Iterable
from collections.abc import Sequence as Series
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map

from sotto.engine.architectures.cache_types import ArraysCache, FullKVCache, SlidingKVCache
from sotto.engine.caches.caches import leaves

# What ranged caches hold for a range of tokens: the arrays of each cache.
Piece = tuple[tuple[mx.array, ...], ...]
# What stateful caches are at one length: the attributes of each.
States = tuple[dict[str, Any], ...]


class Sequence:
    """Caches together with the tokens that were fed to them.

    Attributes:
        caches: One per layer, as the model's forward pass takes them.
        tokens: What was fed so far; every cache rests at this length.
        ranged: The caches that hold something for each token.
        stateful: The others.
    """

    def __init__(self, make: Callable[[], list[Any]]) -> None:
        """Start empty, with caches from `make`."""
        self.caches = make()
        self.tokens: list[int] = []
        each = list(leaves(self.caches))
        self.ranged = [leaf for leaf in each if isinstance(leaf, FullKVCache)]
        self.stateful = [leaf for leaf in each if not isinstance(leaf, FullKVCache)]

    @property
    def nbytes(self) -> int:
        """Bytes of the caches' buffers."""
        return sum(leaf.nbytes for leaf in (*self.ranged, *self.stateful) if not leaf.empty())

    @property
    def bytes_per_token(self) -> int | None:
        """Bytes by which the caches grow with each token; None when some grow otherwise, or nothing was fed yet."""
        buffers = [buffer for leaf in self.ranged for buffer in leaf.buffers]
        if self.stateful or not buffers:
            return None
        return sum(buffer.nbytes // buffer.shape[2] for buffer in buffers)

    @property
    def has_states(self) -> bool:
        """Whether recurrent layers, where there are any, have a state; it comes with the first token."""
        return bool(self.tokens) or not any(isinstance(leaf, ArraysCache) for leaf in self.stateful)

    def evaluate(self) -> None:
        """Compute what the caches hold."""
        mx.eval([cache.state for cache in self.caches])

    @property
    def is_rewindable(self) -> bool:
        """Whether the last few tokens can always be taken back."""
        return all(isinstance(leaf, SlidingKVCache) for leaf in self.stateful)

    def can_rewind(self, length: int) -> bool:
        """Return whether `rewind` can go back to `length`."""
        if length == len(self.tokens):
            return True
        return all(isinstance(leaf, SlidingKVCache) and leaf.can_rewind(length) for leaf in self.stateful)

    def rewind(self, length: int, states: States | None = None) -> None:
        """Go back to `length` tokens.

        Args:
            length: At most as many as there are.
            states: The stateful caches at that length; None where `can_rewind`.
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
        """Return the stateful caches as they are.

        Args:
            computed: Whether to wait until they are.
        """
        states = tuple(
            leaf.capture() if isinstance(leaf, SlidingKVCache) else _own(vars(leaf)) for leaf in self.stateful
        )
        if computed:
            mx.eval(states)
        return states

    def part(self, start: int, end: int) -> Piece:
        """Return what the ranged caches hold for tokens `start` to `end`, lazily and without a copy."""
        return tuple(leaf.part(start, end) for leaf in self.ranged)

    def take(self, start: int, end: int) -> Piece:
        """Return a copy of that, computed."""
        piece = tuple(tuple(mx.contiguous(array) for array in arrays) for arrays in self.part(start, end))
        mx.eval(piece)
        return piece

    def fill(self, tokens: Series[int], pieces: Iterable[Piece], states: States | None) -> None:
        """Make an empty sequence hold `tokens`.

        Args:
            tokens: What the pieces are of.
            pieces: Of consecutive ranges from the first token on. Each is copied before the next one is asked for, so
                that no two have to be in memory.
            states: The stateful caches after the last token; None where there are none.
        """
        for piece in pieces:
            for leaf, part in zip(self.ranged, piece, strict=True):
                leaf.put(part, len(tokens))
            self.evaluate()
        if states is not None:
            self._restore(states)
        self.tokens = list(tokens)

    def shrink(self) -> None:
        """Give back room that is much more than what is held."""
        for leaf in self.ranged:
            leaf.shrink()

    def _restore(self, states: States) -> None:
        for leaf, state in zip(self.stateful, states, strict=True):
            vars(leaf).update(_own(state))


def nbytes_of(arrays: Any) -> int:
    """Return the bytes of all arrays in a tree."""
    return sum(leaf.nbytes for _, leaf in tree_flatten(arrays) if isinstance(leaf, mx.array))


def _own(state: dict[str, Any]) -> dict[str, Any]:
    """Return `state` with array objects of its own that share the buffers.

    Caches write in place: they change the array object they hold. MLX copies a buffer before writing to it when
    another array shares it, so a copy is paid for once, by the first write, and not at all where none follows.
    """
    owned: dict[str, Any] = tree_map(lambda leaf: mx.stop_gradient(leaf) if isinstance(leaf, mx.array) else leaf, state)
    return owned
