"""Connections that are far slower than others were: a new one is often as fast as those again."""

import statistics
import time
from collections import deque
from collections.abc import Callable

# What is asked of a connection before it is judged: so many others that ended, and of what is much slower than them.
_SAMPLES, _LAST, _SHARE = 5, 30, 0.1
# Shorter ones say more about the time to the first byte.
_SHORTEST = 100 << 10


class Speeds:
    """How fast the last connections were, in bytes per second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._last: deque[float] = deque(maxlen=_LAST)

    def add(self, speed: float) -> None:
        """Take in how fast a connection was."""
        self._last.append(speed)

    def least(self) -> float:
        """Return what a connection should reach; 0 while too few are known."""
        return _SHARE * statistics.median(self._last) if len(self._last) >= _SAMPLES else 0.0


class Watch:
    """Looks at one connection."""

    def __init__(self, speeds: Speeds, patience: float) -> None:
        """Begin now, and judge after `patience` seconds."""
        self._speeds = speeds
        self._patience = patience
        self._began = speeds.clock()
        self._count = 0

    def came(self, count: int) -> bool:
        """Take in that bytes came, and return whether that was far too slow."""
        self._count += count
        passed = self._speeds.clock() - self._began
        return passed >= self._patience and self._count < passed * self._speeds.least()

    def end(self) -> None:
        """Take in that everything came."""
        passed = self._speeds.clock() - self._began
        if self._count >= _SHORTEST and passed > 0:
            self._speeds.add(self._count / passed)
