"""Detecting connections that are far slower than earlier ones, as a new connection is often fast again."""

import statistics
import time
from collections import deque
from collections.abc import Callable

# A connection is slow below this share of the median speed of the last ones, once there are enough of these.
_MIN_SAMPLES, _MAX_SAMPLES, _SHARE = 5, 30, 0.1
# In bytes; the speed of shorter transfers mostly depends on the time to the first byte.
_MIN_BYTES = 100 << 10


class Speeds:
    """The speeds of the last connections, in bytes per second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._last: deque[float] = deque(maxlen=_MAX_SAMPLES)

    def add(self, speed: float) -> None:
        """Add the speed of a connection that has ended."""
        self._last.append(speed)

    def minimum(self) -> float:
        """Return the speed below which a connection is too slow; 0 while there are too few samples."""
        return _SHARE * statistics.median(self._last) if len(self._last) >= _MIN_SAMPLES else 0.0


class Watch:
    """Measures one connection."""

    def __init__(self, speeds: Speeds, patience: float) -> None:
        """Start measuring; the connection is judged after `patience` seconds."""
        self._speeds = speeds
        self._patience = patience
        self._began = speeds.clock()
        self._count = 0

    def add(self, count: int) -> bool:
        """Add received bytes, and return whether the connection is too slow."""
        self._count += count
        elapsed = self._speeds.clock() - self._began
        return elapsed >= self._patience and self._count < elapsed * self._speeds.minimum()

    def finish(self) -> None:
        """Record the speed of the completed transfer."""
        elapsed = self._speeds.clock() - self._began
        if self._count >= _MIN_BYTES and elapsed > 0:
            self._speeds.add(self._count / elapsed)
