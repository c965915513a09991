"""What prompts in flight begin with together, counted once for each two of them."""

from collections.abc import Sequence

from sotto.engine.caches.radix import shared_length
from sotto.engine.generation.generation import Generation


class SharedBeginnings:
    """Remembers how many tokens two prompts begin with, because the scheduler asks again before every step."""

    def __init__(self) -> None:
        """Start without any."""
        self._known: dict[tuple[Generation, Generation], tuple[Sequence[int], Sequence[int], int]] = {}

    def length(self, generation: Generation, other: Generation) -> int:
        """Return how many tokens the prompts of two requests begin with."""
        known = self._known.get((generation, other))
        # A prompt is never changed, only replaced, where an answer has to be begun anew.
        if known is None or known[0] is not generation.prompt or known[1] is not other.prompt:
            known = generation.prompt, other.prompt, shared_length(generation.prompt, other.prompt)
            self._known[generation, other] = known
        return known[2]

    def forget(self, generation: Generation) -> None:
        """Forget a request that has ended."""
        self._known = {pair: known for pair, known in self._known.items() if generation not in pair}
