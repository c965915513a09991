"""Who waits at a server, and who has come in.

Whoever connects and says nothing, or not all of a head, costs a descriptor, and there are few of those. So only so many
may wait, of one address and of all, and the one that has waited longest leaves for the next. Where as many requests are
served as can be, one whose body has not come to its end leaves for one that has all of its head; only where there is
none of those is somebody told to come back later.
"""

import resource
from pathlib import Path
from typing import Protocol

_MOST_HEADS, _MOST_REQUESTS, _MOST_AT_ONCE = 256, 1024, 32
# Descriptors that are left for files of models, and for what is kept of prompts.
_KEPT_DESCRIPTORS = 64


class Guest(Protocol):
    """A connection."""

    def send_away(self) -> None:
        """End it at once."""


class Doorway:
    """Who waits at a server, and who has come in; for connections on one event loop.

    Attributes:
        heads: How many may wait without a whole head: those that ask nothing yet, or nothing more.
        heads_each: How many of those may be of one address.
        requests: How many requests may be served at a time; None for any number.
        at_once: How many may connect before those before them are looked at.
    """

    def __init__(self, descriptors: int | None = None, *, limits_requests: bool = True) -> None:
        """Begin with nobody.

        Args:
            descriptors: How many connections there can be; None for as many as this process can open files.
            limits_requests: Whether there can be too many requests.
        """
        room = _free_descriptors() if descriptors is None else descriptors
        self.at_once = min(max(room // 8, 1), _MOST_AT_ONCE)
        self.heads = min(max(room * 3 // 8, 2), _MOST_HEADS)
        self.heads_each = max(self.heads * 3 // 4, 1)
        served = min(max(room - self.heads - 2 * self.at_once, 2), _MOST_REQUESTS)
        self.requests = served if limits_requests else None
        # Each in the order in which they came.
        self._waiting: dict[Guest, str] = {}
        self._reading: dict[Guest, None] = {}
        self._whole: set[Guest] = set()

    def wait(self, guest: Guest, address: str) -> None:
        """Let one from an address wait; another one may have to leave for it."""
        if guest in self._waiting:
            return
        self.leave(guest)
        self._waiting[guest] = address
        same = [one for one, its in self._waiting.items() if its == address]
        if len(same) > self.heads_each:
            self._send_away(same[0])
        elif len(self._waiting) > self.heads:
            self._send_away(next(iter(self._waiting)))

    def come_in(self, guest: Guest) -> bool:
        """Let one in that has sent a whole head; return whether what it asks can be served."""
        self.leave(guest)
        crowded = self.requests is not None and len(self._reading) + len(self._whole) >= self.requests
        if crowded and self._reading:
            self._send_away(next(iter(self._reading)))
            crowded = False
        self._reading[guest] = None
        return not crowded

    def settle(self, guest: Guest) -> None:
        """Take note that one has sent the whole of its request."""
        if guest in self._reading:
            del self._reading[guest]
            self._whole.add(guest)

    def leave(self, guest: Guest) -> None:
        """Forget one."""
        self._waiting.pop(guest, None)
        self._reading.pop(guest, None)
        self._whole.discard(guest)

    def _send_away(self, guest: Guest) -> None:
        self.leave(guest)
        guest.send_away()


def _free_descriptors() -> int:
    """Return how many files this process may open yet, but for those that it needs otherwise."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = max(most - sum(1 for _ in Path("/dev/fd").iterdir()), 0) if most != resource.RLIM_INFINITY else 1 << 20
    return free - min(_KEPT_DESCRIPTORS, free // 3)
