"""Keeps what is computed for later out of the way of what the machine needs now.

Once a second it asks how short memory is. While others need it, what was kept for later prompts is given up, the least
recently used first, and prompts are read in smaller pieces, which take less memory beside the caches.
"""

import time
from collections.abc import Sequence

from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.memory.memory_plan import CHUNKS
from sotto.engine.memory.system_memory import Pressure, SystemMemory

_EVERY = 1.0


class MemoryGuard:
    """Fits the budgets of prefix caches and the size of chunks to the machine's memory."""

    def __init__(self, memory: SystemMemory, prefixes: Sequence[PrefixCache], chunk: int) -> None:
        """Begin with the budgets that the prefix caches have.

        Args:
            memory: Tells how short memory is.
            prefixes: Whose budgets to fit: that of the model, and that of its draft model where there is one.
            chunk: Most prompt tokens to feed at a time while there is memory enough.
        """
        self._memory = memory
        self._budgets = [(prefix, prefix.budget) for prefix in prefixes]
        self._allowed: int | None = None
        self._chunk = chunk
        self._most = chunk
        self._due = 0.0

    def allow(self, nbytes: int | None) -> None:
        """Let each prefix cache take so much at most; None for all that it had at the beginning."""
        self._allowed = nbytes
        for prefix, budget in self._budgets:
            prefix.budget = self._share(budget)
            prefix.make_room()

    def _share(self, budget: int) -> int:
        return budget if self._allowed is None else min(budget, self._allowed)

    def look(self) -> int:
        """Return how many prompt tokens may be fed at a time now; gives up what is in the way."""
        if time.monotonic() < self._due:
            return self._most
        self._due = time.monotonic() + _EVERY
        pressure = self._memory.pressure()
        if pressure is Pressure.NONE:
            self._most = self._chunk
        elif pressure is Pressure.SOME:
            self._most = max(CHUNKS[-1], self._chunk // 4)
        else:
            self._most = CHUNKS[-1]
        for prefix, budget in self._budgets:
            prefix.budget = min(self._share(budget), _bearable(prefix, budget, pressure))
            prefix.make_room()
        return self._most


def _bearable(prefix: PrefixCache, budget: int, pressure: Pressure) -> int:
    """Return the bytes that a prefix cache may take while memory is so short."""
    if pressure is Pressure.NONE:
        return budget
    if pressure is Pressure.SOME:
        return max(prefix.live_nbytes, prefix.nbytes // 2)
    return prefix.live_nbytes
