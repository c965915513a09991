"""Reducing the memory of caches and prefills while the machine is short of memory.

Memory pressure is checked once a second. Under pressure, prefix caches shrink, the least recently used entries first,
and prompts are prefilled in smaller chunks, which need less memory beside the caches. Freed memory goes back to the
system at once.
"""

import time
from collections.abc import Sequence

import mlx.core as mx

from sotto.engine.caches.prefix_cache import PrefixCache
from sotto.engine.memory.memory_plan import CHUNKS
from sotto.engine.memory.system_memory import Pressure, SystemMemory, give_back

_CHECK_SECONDS = 1.0


class MemoryGuard:
    """Adjusts the budgets of prefix caches and the size of chunks to memory pressure."""

    def __init__(self, memory: SystemMemory, prefixes: Sequence[PrefixCache], chunk: int) -> None:
        """Begin with the present budgets of the prefix caches.

        Args:
            memory: Reports memory pressure.
            prefixes: The prefix caches of the model and of its draft model, if it has one.
            chunk: Maximum tokens of a chunk without memory pressure.
        """
        self._memory = memory
        self._budgets = [(prefix, prefix.budget) for prefix in prefixes]
        self._allowed: int | None = None
        self._chunk = chunk
        self._most = chunk
        self._due = 0.0

    def allow(self, nbytes: int | None) -> None:
        """Limit each prefix cache to `nbytes`; None for its initial budget."""
        self._allowed = nbytes
        for prefix, budget in self._budgets:
            prefix.budget = self._share(budget)
            prefix.make_room()

    def _share(self, budget: int) -> int:
        return budget if self._allowed is None else min(budget, self._allowed)

    def look(self) -> int:
        """Return the maximum tokens of a chunk now, and shrink the prefix caches under memory pressure."""
        if time.monotonic() < self._due:
            return self._most
        self._due = time.monotonic() + _CHECK_SECONDS
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
        if pressure is not Pressure.NONE:
            # What was freed, here and by the last steps, is still in MLX's pool, which keeps gigabytes on a GPU.
            mx.clear_cache()
            give_back()
        return self._most


def _bearable(prefix: PrefixCache, budget: int, pressure: Pressure) -> int:
    """Return the bytes that a prefix cache may hold under some pressure."""
    if pressure is Pressure.NONE:
        return budget
    if pressure is Pressure.SOME:
        return max(prefix.live_nbytes, prefix.nbytes // 2)
    return prefix.live_nbytes
