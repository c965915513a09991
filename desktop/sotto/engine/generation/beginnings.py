"""Lengths of the common beginnings of prompts in flight, computed once for each pair."""

from collections.abc import Sequence

from sotto.engine.caches.radix import shared_length
from sotto.engine.generation.generation import Generation


class SharedBeginnings:
    """Caches how many tokens each pair of prompts has in common, as the scheduler asks before every step."""

    def __init__(self) -> None:
        """Start without pairs."""
        self._known: dict[tuple[Generation, Generation], tuple[Sequence[int], Sequence[int], int]] = {}

    def length(self, generation: Generation, other: Generation) -> int:
        """Return how many tokens the prompts of two requests have in common at their beginning."""
        known = self._known.get((generation, other))
        # A prompt is never modified, only replaced when an answer is restarted.
        if known is None or known[0] is not generation.prompt or known[1] is not other.prompt:
            known = generation.prompt, other.prompt, shared_length(generation.prompt, other.prompt)
            self._known[generation, other] = known
        return known[2]

    def forget(self, generation: Generation) -> None:
        """Forget a request that has ended."""
        self._known = {pair: known for pair, known in self._known.items() if generation not in pair}
