"""How much to compute at a time: the size of prefill chunks, and how far decoding runs ahead of its reader."""

import math
from dataclasses import dataclass, field

CHUNK = 2048
# A difference in cost that is worth a longer chunk.
_MUCH = 1.25


class ChunkSize:
    """How many prompt tokens to feed at a time.

    On a GPU the largest chunk is the fastest and short enough. On a CPU a chunk should end soon enough for progress to
    move and for Stop to be heard, but a small one can be much dearer by the token, because each reads all weights. So
    the size follows what chunks have taken: it is halved while they take longer than they should, unless that makes a
    token much dearer, and doubled while there is time, or much to gain within the limit.

    Attributes:
        tokens: The size to use next.
    """

    def __init__(
        self, largest: int = CHUNK, first: int = CHUNK, target: float | None = None, limit: float = 1.0
    ) -> None:
        """Start with chunks of `first` tokens.

        Args:
            largest: Never more than this.
            first: Size until something has been measured.
            target: Seconds that a chunk should take; None always gives `largest`.
            limit: Seconds that a chunk may take where that saves time on the whole.
        """
        self.tokens = first if target is not None else largest
        self._largest = largest
        self._target = target
        self._limit = limit
        self._seconds: dict[int, float] = {}

    def took(self, tokens: int, seconds: float) -> None:
        """Learn that a chunk of `tokens` took `seconds`."""
        if self._target is None or (tokens < self.tokens and seconds < self._limit):
            return  # the rest of a prompt says little about whole chunks
        self._seconds[tokens] = seconds
        if seconds < self._target / 2 or self._gains_by_doubling(tokens, seconds):
            self.tokens = min(self._largest, 2 * tokens)
        elif seconds > self._target and self._can_be_halved(tokens, seconds):
            self.tokens = max(1, tokens // 2)

    def _gains_by_doubling(self, tokens: int, seconds: float) -> bool:
        double = self._seconds.get(2 * tokens)
        if double is None:
            return seconds < self._limit / 2
        return double < max(self._limit, seconds * _MUCH) and double * _MUCH <= 2 * seconds

    def _can_be_halved(self, tokens: int, seconds: float) -> bool:
        half = self._seconds.get(tokens // 2)
        if half is None:
            return True
        return half * _MUCH < seconds if seconds > self._limit else 2 * half <= seconds * _MUCH


@dataclass(frozen=True, slots=True)
class ChunkSizing:
    """How much to compute at a time on a device.

    Attributes:
        chunk: Size of prefill chunks while nobody else waits.
        shared: Size while somebody does: between two of their tokens there is one chunk at most.
        ahead_below: Where tokens come at shorter intervals than this many seconds, the step after a token is dispatched
            before that token is read. That keeps a GPU busy. MLX's CPU backend takes few operations in advance, so
            dispatching a step lasts nearly as long as computing it, and each token is read, and Stop heard, that much
            later: worth it only where the pause between two steps counts, and never before the first token.
    """

    chunk: ChunkSize = field(default_factory=ChunkSize)
    shared: ChunkSize = field(default_factory=lambda: ChunkSize(first=256, target=0.1, limit=0.25))
    ahead_below: float = math.inf
