"""Routing of events in the child process, from the engine thread to the streams of the server."""

import asyncio
import threading
from collections import deque

from sotto.engine.contract.events import Event, RequestEvent
from sotto.runner.status import EngineReport


class Stream:
    """Events on their way to one reader on the server's loop."""

    def __init__(self) -> None:
        """Begin empty. Call it on the server's loop."""
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._events: deque[Event] = deque()
        self._ended = False
        self._wake = asyncio.Event()

    def put(self, event: Event | None) -> None:
        """Add an event, on any thread; None ends the stream."""
        with self._lock:
            asleep = not self._events and not self._ended
            if event is None:
                self._ended = True
            else:
                self._events.append(event)
        if asleep:
            self._loop.call_soon_threadsafe(self._wake.set)

    async def take(self) -> list[Event]:
        """Wait for events and return all of them; empty once the stream has ended."""
        while True:
            with self._lock:
                events, ended = list(self._events), self._ended
                self._events.clear()
                self._wake.clear()
            if events or ended:
                return events
            await self._wake.wait()


class Switchboard:
    """Passes each event to the stream that waits for it, and keeps the engine's status."""

    def __init__(self) -> None:
        """Begin without streams."""
        self._lock = threading.Lock()
        self._requests: dict[str, Stream] = {}
        self._session: Stream | None = None
        self._ended = False
        self.report = EngineReport()

    def emit(self, event: Event) -> None:
        """Take an event of the engine, on the engine thread."""
        request = event.request_id if isinstance(event, RequestEvent) else ""
        with self._lock:
            self.report = self.report.after(event)
            stream = self._requests.get(request) or self._session
        if stream is not None:
            stream.put(event)

    def end(self) -> None:
        """End every stream, including later ones, because the engine has ended."""
        with self._lock:
            self._ended = True
            streams = [*self._requests.values(), *([self._session] if self._session else [])]
        for stream in streams:
            stream.put(None)

    def begin_session(self) -> Stream | None:
        """Return the stream of all events not for another stream; None if there is a session already."""
        with self._lock:
            if self._session is not None:
                return None
            self._session = self._new_stream()
            return self._session

    def end_session(self) -> None:
        """Remove the session's stream."""
        with self._lock:
            self._session = None

    def begin_request(self, request_id: str) -> Stream:
        """Return the stream of one request."""
        with self._lock:
            stream = self._requests[request_id] = self._new_stream()
            return stream

    def end_request(self, request_id: str) -> None:
        """Remove a request's stream."""
        with self._lock:
            del self._requests[request_id]

    def _new_stream(self) -> Stream:
        stream = Stream()
        if self._ended:
            stream.put(None)
        return stream
