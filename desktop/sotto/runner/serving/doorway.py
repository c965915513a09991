"""Limits on the connections to a server, so that it does not run out of file descriptors.

A connection that sends nothing, or only part of a head, costs a descriptor. So the number of such connections is
limited, per address and in total, and the oldest is closed for the next. When the maximum number of requests is being
served, one with an unfinished body is closed for one with a complete head; only if there is no such request is the new
one refused as crowded.
"""

import os
import resource
from pathlib import Path
from typing import Protocol

_MOST_HEADS, _MOST_REQUESTS, _MOST_AT_ONCE = 256, 1024, 32
# Descriptors reserved for model files and the prompt cache.
_KEPT_DESCRIPTORS = 64


class Guest(Protocol):
    """A connection."""

    def send_away(self) -> None:
        """Close it at once."""


class Doorway:
    """Counts connections by stage and closes those over the limits. Belongs to one event loop.

    Attributes:
        heads: Most connections without a complete head: new or idle ones.
        heads_each: Most of those from one address.
        requests: Most requests served at a time; None for no limit.
        at_once: Most connections accepted before they are counted.
    """

    def __init__(self, descriptors: int | None = None, *, limits_requests: bool = True) -> None:
        """Begin without connections.

        Args:
            descriptors: Descriptors available for connections; None for those that this process has left.
            limits_requests: Whether to limit the number of requests.
        """
        room = _free_descriptors() if descriptors is None else descriptors
        self.at_once = min(max(room // 8, 1), _MOST_AT_ONCE)
        self.heads = min(max(room * 3 // 8, 2), _MOST_HEADS)
        self.heads_each = max(self.heads * 3 // 4, 1)
        served = min(max(room - self.heads - 2 * self.at_once, 2), _MOST_REQUESTS)
        self.requests = served if limits_requests else None
        # Each in order of arrival.
        self._waiting: dict[Guest, str] = {}
        self._reading: dict[Guest, None] = {}
        self._whole: set[Guest] = set()

    def wait(self, guest: Guest, address: str) -> None:
        """Add a connection that waits; another may be closed for it."""
        if guest in self._waiting:
            return
        self.leave(guest)
        self._waiting[guest] = address
        neighbours = [other for other, origin in self._waiting.items() if origin == address]
        if len(neighbours) > self.heads_each:
            self._send_away(neighbours[0])
        elif len(self._waiting) > self.heads:
            self._send_away(next(iter(self._waiting)))

    def come_in(self, guest: Guest) -> bool:
        """Record that a connection has sent a complete head; return whether its request can be served."""
        self.leave(guest)
        crowded = self.requests is not None and len(self._reading) + len(self._whole) >= self.requests
        if crowded and self._reading:
            self._send_away(next(iter(self._reading)))
            crowded = False
        self._reading[guest] = None
        return not crowded

    def settle(self, guest: Guest) -> None:
        """Record that a connection has sent its whole request."""
        if guest in self._reading:
            del self._reading[guest]
            self._whole.add(guest)

    def leave(self, guest: Guest) -> None:
        """Forget a connection."""
        self._waiting.pop(guest, None)
        self._reading.pop(guest, None)
        self._whole.discard(guest)

    def _send_away(self, guest: Guest) -> None:
        self.leave(guest)
        guest.send_away()


def _free_descriptors() -> int:
    """Return how many more files this process may open, less those reserved."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = max(most - _open_descriptors(), 0) if most != resource.RLIM_INFINITY else 1 << 20
    return free - min(_KEPT_DESCRIPTORS, free // 3)


def _open_descriptors() -> int:
    """Return how many files this process has open."""
    listed = Path("/dev/fd")
    if listed.is_dir():
        return sum(1 for _ in listed.iterdir())
    # On a Linux that hides /proc: a new file gets the lowest number that is free.
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    return lowest
