"""In the child process: from the thread that owns the engine to the streams that are read by others."""

import asyncio
import threading
from collections import deque

from sotto.engine.contract.events import Event, RequestEvent
from sotto.runner.status import EngineReport


class Stream:
    """Events on their way to one reader on the server's loop."""

    def __init__(self) -> None:
        """Begin empty. Must be made on the server's loop."""
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._events: deque[Event] = deque()
        self._ended = False
        self._wake = asyncio.Event()

    def put(self, event: Event | None) -> None:
        """Leave an event, on any thread; None is the end."""
        with self._lock:
            asleep = not self._events and not self._ended
            if event is None:
                self._ended = True
            else:
                self._events.append(event)
        if asleep:
            self._loop.call_soon_threadsafe(self._wake.set)

    async def take(self) -> list[Event]:
        """Wait for events and return all there are; nothing once the stream has ended."""
        while True:
            with self._lock:
                events, ended = list(self._events), self._ended
                self._events.clear()
                self._wake.clear()
            if events or ended:
                return events
            await self._wake.wait()


class Switchboard:
    """Hands each event to whoever waits for it, and remembers how the engine stands."""

    def __init__(self) -> None:
        """Begin with nobody who listens."""
        self._lock = threading.Lock()
        self._requests: dict[str, Stream] = {}
        self._session: Stream | None = None
        self._ended = False
        self.report = EngineReport()

    def emit(self, event: Event) -> None:
        """Take an event of the engine, on the thread that owns it."""
        request = event.request_id if isinstance(event, RequestEvent) else ""
        with self._lock:
            self.report = self.report.after(event)
            stream = self._requests.get(request) or self._session
        if stream is not None:
            stream.put(event)

    def end(self) -> None:
        """Let every stream end, also those that are yet to begin: the engine says no more."""
        with self._lock:
            self._ended = True
            streams = [*self._requests.values(), *([self._session] if self._session else [])]
        for stream in streams:
            stream.put(None)

    def begin_session(self) -> Stream | None:
        """Return the stream of everything that no other one is for; None if somebody has it already."""
        with self._lock:
            if self._session is not None:
                return None
            self._session = self._new_stream()
            return self._session

    def end_session(self) -> None:
        """Take the session's stream back."""
        with self._lock:
            self._session = None

    def begin_request(self, request_id: str) -> Stream:
        """Return the stream of one request."""
        with self._lock:
            stream = self._requests[request_id] = self._new_stream()
            return stream

    def end_request(self, request_id: str) -> None:
        """Take a request's stream back."""
        with self._lock:
            del self._requests[request_id]

    def _new_stream(self) -> Stream:
        stream = Stream()
        if self._ended:
            stream.put(None)
        return stream
