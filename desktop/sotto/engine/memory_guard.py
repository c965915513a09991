"""Keeps what is computed for later out of the way of what the machine needs now.

Once a second it asks how short memory is. While others need it, what was kept for later prompts is given up, the least
recently used first, and prompts are read in smaller pieces, which take less memory beside the caches.
"""

import time

from sotto.engine.memory_plan import CHUNKS
from sotto.engine.prefix_cache import PrefixCache
from sotto.engine.system_memory import Pressure, SystemMemory

_EVERY = 1.0


class MemoryGuard:
    """Fits the budget of a prefix cache and the size of chunks to the machine's memory."""

    def __init__(self, memory: SystemMemory, prefix: PrefixCache, chunk: int) -> None:
        """Begin with the budget that the prefix cache has.

        Args:
            memory: Tells how short memory is.
            prefix: Whose budget to fit.
            chunk: Most prompt tokens to feed at a time while there is memory enough.
        """
        self._memory = memory
        self._prefix = prefix
        self._budget = prefix.budget
        self._chunk = chunk
        self._most = chunk
        self._due = 0.0

    def look(self) -> int:
        """Return how many prompt tokens may be fed at a time now; gives up what is in the way."""
        if time.monotonic() < self._due:
            return self._most
        self._due = time.monotonic() + _EVERY
        pressure = self._memory.pressure()
        if pressure is Pressure.NONE:
            self._prefix.budget, self._most = self._budget, self._chunk
        elif pressure is Pressure.SOME:
            half = max(self._prefix.live_nbytes, self._prefix.nbytes // 2)
            self._prefix.budget, self._most = min(self._budget, half), max(CHUNKS[-1], self._chunk // 4)
        else:
            self._prefix.budget, self._most = min(self._budget, self._prefix.live_nbytes), CHUNKS[-1]
        self._prefix.make_place()
        return self._most
