"""The live caches of a loaded model, and what a new prompt finds in them already computed.

One sequence of tokens is live. A prompt that begins like it is computed only from where the two part:

- Where every cache can go back, it goes back exactly there. Plain KV caches always can, and a sliding window can until
  it is full.
- Recurrent states and full windows have forgotten what is needed to go back. For these a snapshot is kept where the
  next prompt is likely to part: before the last token of each prompt (asking again evaluates that token only), at the
  end of the messages, in front of what the template adds to ask for an answer (the next turn may render that part and
  the answer differently), and every 8192 tokens of a long prompt. Layers that can go back are not copied into
  snapshots, so a snapshot is worth only as long as the live sequence still begins with its tokens.

The tokens recorded here are exactly those that were fed to the model, so they say what the caches hold at any moment
between two steps. Everything here runs on the thread that owns MLX.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_map

from sotto.engine.caches import ConcatenateKVCache, KVCache, PlannedKVCache

SNAPSHOT_INTERVAL = 8192
SNAPSHOT_BUDGET = 512 * 2**20
_SHRINK_FROM = 1024


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The caches that cannot go back, as they were after `length` tokens: the attributes of each leaf."""

    length: int
    states: tuple[dict[str, Any], ...]

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for _, value in tree_flatten(list(self.states)) if isinstance(value, mx.array))


class PrefixCache:
    """The caches of one model together with the tokens they hold.

    Attributes:
        caches: One per layer, as the model's forward pass takes them.
        tokens: What was fed to the model so far; every cache rests at this length.
    """

    def __init__(self, make: Callable[[], list[Any]]) -> None:
        """Start empty.

        Args:
            make: Makes fresh caches for the model.
        """
        self._make = make
        self.caches: list[Any] = []
        self.tokens: list[int] = []
        self._snapshots: list[_Snapshot] = []
        self.reset()

    def reset(self) -> None:
        """Forget everything; the memory goes back with the old arrays."""
        self.caches = self._make()
        self.tokens = []
        self._snapshots = []
        self._planned = [leaf for leaf in _leaves(self.caches) if isinstance(leaf, PlannedKVCache)]
        self._lasting = [leaf for leaf in _leaves(self.caches) if not isinstance(leaf, KVCache)]

    @property
    def nbytes(self) -> int:
        """Bytes of the caches and of the snapshots."""
        live: int = sum(leaf.nbytes for leaf in _leaves(self.caches) if not leaf.empty())
        return live + sum(snapshot.nbytes for snapshot in self._snapshots)

    @property
    def bytes_per_token(self) -> int | None:
        """Bytes by which the caches grow with each token; None when some grow otherwise, or nothing was fed yet."""
        leaves = list(_leaves(self.caches))
        if self.keeps_snapshots or any(leaf.empty() for leaf in leaves):
            return None
        each: int = sum((leaf.keys.nbytes + leaf.values.nbytes) // leaf.keys.shape[-2] for leaf in leaves)
        return each

    @property
    def keeps_snapshots(self) -> bool:
        """Whether some cache cannot always go back."""
        return bool(self._lasting)

    @property
    def snapshot_lengths(self) -> tuple[int, ...]:
        """Lengths that can be gone back to by a snapshot, ascending."""
        return tuple(snapshot.length for snapshot in self._snapshots)

    def begin(self, prompt: Sequence[int]) -> int:
        """Go back to the longest prefix of `prompt` that is still here and return its length.

        At least the last token of the prompt is left to evaluate, because its logits are needed.
        """
        self._plan(len(prompt))
        shared = shared_length(self.tokens, prompt[:-1])
        surplus = len(self.tokens) - shared
        if surplus == 0:
            return shared
        if shared and all(_can_go_back(leaf) for leaf in _leaves(self.caches)):
            self._trim(surplus)
        else:
            self._restore(shared)
        del self._snapshots[self._after(len(self.tokens)) :]
        return len(self.tokens)

    def room(self, length: int) -> float:
        """Return how many tokens may be drawn after a prompt of `length` before all must be computed in another way."""
        beyond = not self._planned or length > self._planned[0].boundary
        return math.inf if beyond else self._planned[0].boundary - length + 1

    def stops(self, prompt_length: int, boundary: int) -> list[int]:
        """Return the lengths, ascending, at which a prefill must pause for `snapshot`; none when all can go back.

        Args:
            prompt_length: Tokens of the prompt.
            boundary: Tokens of the prompt before what asks for the answer; 0 when that is not known.
        """
        if not self.keeps_snapshots:
            return []
        end = prompt_length - 1
        lengths = {end, *range(SNAPSHOT_INTERVAL, end, SNAPSHOT_INTERVAL), min(boundary, end)}
        return sorted(length for length in lengths if length >= max(1, len(self.tokens)))

    def snapshot(self) -> None:
        """Keep what is needed to come back to the present length; free where that is kept already."""
        length = len(self.tokens)
        if not self.keeps_snapshots or length in self.snapshot_lengths:
            return
        states = tuple(_detached(vars(leaf)) for leaf in self._lasting)
        mx.eval(states)
        self._snapshots.insert(self._after(length), _Snapshot(length, states))
        # The shallowest is given up first: turns are edited and answers made again mostly near the end.
        while len(self._snapshots) > 2 and sum(kept.nbytes for kept in self._snapshots) > SNAPSHOT_BUDGET:
            del self._snapshots[0]

    def states(self) -> list[Any]:
        """Return everything that must be evaluated for the caches to hold `tokens`."""
        return [cache.state for cache in self.caches]

    def _plan(self, length: int) -> None:
        """Tell the caches how long the context will be; forget what was computed in the other way."""
        if not self._planned:
            return
        boundary, before = self._planned[0].boundary, self._planned[0].planned
        if (length > boundary) != (before > boundary):
            self.reset()
        for leaf in self._planned:
            leaf.planned = length

    def _after(self, length: int) -> int:
        """Index of the first snapshot beyond `length`."""
        return bisect_left(self.snapshot_lengths, length + 1)

    def _trim(self, surplus: int) -> None:
        for leaf in _leaves(self.caches):
            if leaf.trim(surplus) != surplus:
                raise RuntimeError(f"{type(leaf).__name__} went back less than {surplus} tokens")
            _shrink(leaf)
        del self.tokens[len(self.tokens) - surplus :]

    def _restore(self, shared: int) -> None:
        """Go back to the last snapshot within `shared` tokens, or to nothing."""
        index = self._after(shared) - 1
        if index < 0:
            self.reset()
            return
        snapshot = self._snapshots[index]
        lasting = set(map(id, self._lasting))
        for leaf in _leaves(self.caches):
            if id(leaf) not in lasting:
                leaf.trim(len(self.tokens) - snapshot.length)
                _shrink(leaf)
        for leaf, state in zip(self._lasting, snapshot.states, strict=True):
            vars(leaf).update(_detached(state))
        del self.tokens[snapshot.length :]


def _leaves(caches: Sequence[Any]) -> Iterator[Any]:
    """Yield the caches with lists of caches taken apart."""
    for cache in caches:
        if hasattr(cache, "caches"):
            yield from _leaves(cache.caches)
        else:
            yield cache


def _can_go_back(leaf: Any) -> bool:
    # A chunked cache calls itself trimmable even after it has dropped what lies in front of its chunk, and a
    # concatenating one keeps what was trimmed and appends to it.
    honest = not isinstance(leaf, ConcatenateKVCache) and getattr(leaf, "start_position", 0) == 0
    return honest and bool(leaf.is_trimmable())


def _detached(state: dict[str, Any]) -> dict[str, Any]:
    """Return `state` with array objects of its own that share the buffers.

    Caches write in place: they change the array object they hold. MLX copies a buffer before writing to it when
    another array shares it, so a copy is paid for once, by the first write, and not at all where none follows.
    """
    copied: dict[str, Any] = tree_map(
        lambda leaf: mx.stop_gradient(leaf) if isinstance(leaf, mx.array) else leaf, state
    )
    return copied


def _shrink(leaf: Any) -> None:
    """Give back what a plain KV cache holds beyond its length, where that is most of it."""
    if isinstance(leaf, KVCache) and leaf.keys.shape[2] > max(_SHRINK_FROM, 2 * leaf.offset):
        leaf.keys = mx.contiguous(leaf.keys[..., : leaf.offset, :])
        leaf.values = mx.contiguous(leaf.values[..., : leaf.offset, :])
        mx.eval(leaf.keys, leaf.values)


def shared_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens both begin with."""
    length = min(len(first), len(second))
    if list(first[:length]) == list(second[:length]):
        return length
    return next((index for index in range(length) if first[index] != second[index]), length)
