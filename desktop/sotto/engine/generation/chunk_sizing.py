"""How much to compute in a step: the size of prefill chunks, and whether decoding runs ahead of reading."""

import math
from dataclasses import dataclass, field

CHUNK = 2048
# The ratio of costs that justifies a longer chunk.
_WORTHWHILE = 1.25
# The share of a chunk that is too small for a chunk of its own: of one of the usual size, and of a longer one.
_SMALL, _SMALL_BESIDE_LONG = 0.25, 0.5


class ChunkSize:
    """The size of prefill chunks, adapted to measured times.

    On a GPU the largest chunk is the fastest and short enough. On a CPU a chunk should end soon enough to show progress
    and to let others begin, but small chunks can cost much more per token, because each of them reads all weights. So
    the size is halved while chunks take longer than their target, unless that makes tokens much more expensive, and
    doubled while there is time, or much to gain within the limit.

    Attributes:
        tokens: The size to use next.
    """

    def __init__(
        self,
        largest: int = CHUNK,
        first: int = CHUNK,
        target: float | None = None,
        limit: float = 1.0,
        least: int = 1,
        fair: int = 0,
    ) -> None:
        """Start with chunks of `first` tokens.

        Args:
            largest: Maximum size.
            first: Size until a chunk has been measured.
            target: Seconds that a chunk should take; None to use `largest` always.
            limit: Seconds that a chunk may take if that saves time overall.
            least: Minimum size, however long it takes.
            fair: Size up to which a chunk may take `limit` in any case.
        """
        self.tokens = first if target is not None else largest
        self._largest = largest
        self._target = target
        self._limit = limit
        self._least = least
        self._fair = fair
        self._seconds: dict[int, float] = {}
        # Tokens per second of the last whole chunk.
        self._rate = 0.0
        # Seconds for each token of the last chunk of any size.
        self._pace = math.inf

    def next_of(self, remaining: int, seconds: float = 0.0) -> int:
        """Return how many of the remaining tokens to compute next: all of them if few would be left.

        Args:
            remaining: The number of tokens that remain.
            seconds: What a chunk may take even if chunks usually take fewer.
        """
        longer = int(min(self._rate * seconds, self._largest))
        tokens, small = (longer, _SMALL_BESIDE_LONG) if longer > self.tokens else (self.tokens, _SMALL)
        return remaining if remaining <= tokens * (1 + small) else tokens

    def seconds_of(self, tokens: int) -> float:
        """Return how long a chunk of so many tokens will take, about; infinity before one was measured."""
        return tokens * self._pace

    def took(self, tokens: int, seconds: float) -> None:
        """Record that a chunk of `tokens` took `seconds`."""
        self._pace = seconds / tokens
        if tokens >= self.tokens:
            self._rate = tokens / seconds
        if self._target is None or tokens > self.tokens or (tokens < self.tokens and seconds < self._limit):
            return  # the last chunk of a prompt says little about whole ones
        self._seconds[tokens] = seconds
        if seconds < self._target_of(2 * tokens) / 2 or self._gains_by_doubling(tokens, seconds):
            self.tokens = min(self._largest, 2 * tokens)
        elif seconds > self._target_of(tokens) and self._can_be_halved(tokens, seconds):
            # Not from above a fair size to one below it.
            self.tokens = self._fair if tokens // 2 < self._fair < tokens else max(self._least, tokens // 2)

    def _target_of(self, tokens: int) -> float:
        assert self._target is not None
        return self._limit if tokens <= self._fair else self._target

    def _gains_by_doubling(self, tokens: int, seconds: float) -> bool:
        double = self._seconds.get(2 * tokens)
        if double is None:
            return seconds < self._limit / 2
        return double < max(self._limit, seconds * _WORTHWHILE) and self._is_dear(tokens, seconds)

    def _can_be_halved(self, tokens: int, seconds: float) -> bool:
        half = self._seconds.get(tokens // 2)
        if half is None:
            return True
        return half * _WORTHWHILE < seconds if seconds > self._limit else not self._is_dear(tokens // 2, half)

    def _is_dear(self, tokens: int, seconds: float) -> bool:
        """Return whether a token costs much more than in the cheapest size, however many halvings lie between them."""
        cheapest = min(taken / size for size, taken in self._seconds.items())
        return seconds / tokens >= cheapest * _WORTHWHILE


@dataclass(frozen=True, slots=True)
class ChunkSizing:
    """How much to compute in a step on a device.

    Attributes:
        chunk: Size of prefill chunks while no answer is written.
        shared: Size while answers are written, which pause meanwhile.
        ahead_below: Seconds between tokens below which the next step is dispatched before a token is read. That keeps a
            GPU busy. MLX's CPU backend queues few operations, so dispatching a step takes nearly as long as computing
            it, and each token, and a Stop, is noticed that much later: worth it only if the pause between two steps
            matters, and never before the first token.
    """

    chunk: ChunkSize = field(default_factory=ChunkSize)
    shared: ChunkSize = field(default_factory=lambda: ChunkSize(first=256, target=0.1, limit=0.25))
    ahead_below: float = math.inf
