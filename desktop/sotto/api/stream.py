"""From the thread that owns the engine to the reader of an answer on the server's event loop."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from sotto.engine.contract.events import RequestEvent, TextChunk
from sotto.runner.joining import join_events

# A client that leaves so much text unread, while its connection takes no more, does not read.
_MOST_UNREAD = 1 << 20


class Bridge:
    """Calls functions on an event loop from other threads, as long as it runs."""

    def __init__(self) -> None:
        """Call on the loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._open = True

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function soon; after the end, never."""
        with self._lock:
            if self._open:
                self._loop.call_soon_threadsafe(function, *arguments)

    def close(self) -> None:
        """Call nothing any more."""
        with self._lock:
            self._open = False


class Unread(Exception):  # noqa: N818 - it is no error of Sotto's
    """More text waits for a client than any client that reads would leave."""


class Stream:
    """Events of one answer on their way; neighbours are joined while nobody takes them."""

    def __init__(self, bridge: Bridge) -> None:
        """Begin empty. Must be made on the server's loop."""
        self._bridge = bridge
        self._lock = threading.Lock()
        self._events: list[object] = []
        self._unread = 0
        self._failure: Exception | None = None
        self._woken = asyncio.Event()

    def put(self, event: RequestEvent) -> None:
        """Leave an event, on any thread."""
        with self._lock:
            asleep = not self._events
            self._unread += sum(len(piece.text) for piece in event.pieces) if isinstance(event, TextChunk) else 0
            if self._unread <= _MOST_UNREAD:
                self._events.append(event)
        if asleep:
            self._bridge.call(self._woken.set)

    async def take(self) -> list[Any]:
        """Wait for events and return all there are.

        Raises:
            Unread: There were too many.
        """
        await self._woken.wait()
        if self._failure is not None:
            raise self._failure
        with self._lock:
            events, self._events = self._events, []
            unread, self._unread = self._unread, 0
            self._woken.clear()
        if unread > _MOST_UNREAD:
            raise Unread
        return join_events(events)

    def fail(self, failure: Exception) -> None:
        """Raise this error instead of giving events from now on. Must be called on the server's loop."""
        self._failure = failure
        self._woken.set()
