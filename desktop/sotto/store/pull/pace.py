"""The speed limit of downloads."""

import asyncio
import time

# In seconds; a changed limit takes effect within this time.
_NAP = 0.2


class Pace:
    """A speed limit for all connections together.

    Attributes:
        rate: Bytes per second; None or 0 for no limit.
    """

    def __init__(self, rate: int | None) -> None:
        self.rate = rate
        self._ready = 0.0

    async def spend(self, count: int) -> None:
        """Wait until `count` more bytes are within the limit."""
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
                # The rest of a wait under the old limit is dropped, as it could be as long as an hour.
                self._ready = 0.0
                return
