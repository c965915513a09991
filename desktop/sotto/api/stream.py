"""Passing events from the engine's thread to the server's event loop."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from sotto.engine.contract.events import RequestEvent, TextChunk
from sotto.runner.joining import join_events

# Characters of text that may wait for a client; one that leaves more unread has stopped reading.
_MAX_UNREAD_CHARACTERS = 1 << 20


class Bridge:
    """Calls functions on an event loop from other threads, until it is closed."""

    def __init__(self) -> None:
        """Call functions on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._open = True

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Schedule a call on the loop; do nothing once the bridge is closed."""
        with self._lock:
            if self._open:
                self._loop.call_soon_threadsafe(function, *arguments)

    def close(self) -> None:
        """Ignore all later calls."""
        with self._lock:
            self._open = False


class Unread(Exception):  # noqa: N818 - not an error of Sotto
    """More text waits than a client that still reads would leave."""


class Stream:
    """A queue of the events of one answer, in which waiting neighbours are joined."""

    def __init__(self, bridge: Bridge) -> None:
        """Begin empty. Must be made on the server's loop."""
        self._bridge = bridge
        self._lock = threading.Lock()
        self._events: list[object] = []
        self._unread = 0
        self._failure: Exception | None = None
        self._woken = asyncio.Event()

    def put(self, event: RequestEvent) -> None:
        """Add an event; may be called on any thread."""
        with self._lock:
            asleep = not self._events
            self._unread += sum(len(piece.text) for piece in event.pieces) if isinstance(event, TextChunk) else 0
            if self._unread <= _MAX_UNREAD_CHARACTERS:
                self._events.append(event)
        if asleep:
            self._bridge.call(self._woken.set)

    async def take(self) -> list[Any]:
        """Wait for events and return all that there are.

        Raises:
            Unread: They held too much text.
        """
        await self._woken.wait()
        if self._failure is not None:
            raise self._failure
        with self._lock:
            events, self._events = self._events, []
            unread, self._unread = self._unread, 0
            self._woken.clear()
        if unread > _MAX_UNREAD_CHARACTERS:
            raise Unread
        return join_events(events)

    def fail(self, failure: Exception) -> None:
        """Make `take` raise this error from now on. Must be called on the server's loop."""
        self._failure = failure
        self._woken.set()
