"""How fast downloads may be."""

import asyncio
import time

# A new limit holds after this time at the latest.
_NAP = 0.2


class Pace:
    """A limit for all connections together.

    Attributes:
        rate: Bytes per second; None or 0 for no limit.
    """

    def __init__(self, rate: int | None) -> None:
        self.rate = rate
        self._ready = 0.0

    async def spend(self, count: int) -> None:
        """Wait until `count` bytes more were within the limit."""
        now = time.monotonic()
        owed = 0.0
        if self.rate:
            self._ready = max(self._ready, now) + count / self.rate
            owed = self._ready - now
        while owed > 0:
            before = self.rate
            nap = min(owed, _NAP)
            await asyncio.sleep(nap)
            owed -= nap
            if self.rate != before:
                # What is owed under another limit is forgiven: it may have been an hour of waiting.
                self._ready = 0.0
                return
