"""The log of requests to the API: those under way and the last that have ended, in memory only.

It holds no contents: no bodies, no headers, and no queries of addresses.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sotto.store.printable import printable

CAPACITY = 200
"""How many requests that have ended are kept."""

# What a client may have put into the log, in characters.
_MAX_METHOD, _MAX_PATH, _MAX_MODEL = 16, 120, 120


class Stage(StrEnum):
    """What a request is doing: waiting for a model or a turn, in an engine, or something else."""

    WORKING = "working"
    QUEUED = "queued"
    READING = "reading"
    WRITING = "writing"


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request, under way or ended.

    Attributes:
        number: Requests are numbered as they arrive.
        method: The HTTP method.
        path: The path without the query.
        arrived: When it arrived, by `time.time`.
        began: The same by `time.monotonic`.
        model: The model that it asks for; empty for none.
        stage: What it is doing; once it has ended, what it did last.
        prompt_tokens: Tokens of its prompts that a model has read, including cached ones.
        answer_tokens: Tokens of its answers.
        status: The HTTP status, or that of the error with which a stream broke off; 0 while it is under way.
        cancelled: Whether the client disconnected before the whole response was sent.
        seconds: How long it took; 0 while it is under way.
    """

    number: int
    method: str
    path: str
    arrived: float
    began: float
    model: str = ""
    stage: Stage = Stage.WORKING
    prompt_tokens: int = 0
    answer_tokens: int = 0
    status: int = 0
    cancelled: bool = False
    seconds: float = 0.0

    @property
    def ended(self) -> bool:
        """Whether it is no longer under way."""
        return self.status != 0


class RequestLog:
    """The log. It is written on the server's event loop, and may be read and cleared on any thread."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        """Begin empty.

        Args:
            changed: Called once after each `read` when something changes, on the thread that changes it.
        """
        self._changed = changed
        self._lock = threading.Lock()
        self._arrived = 0
        self._running: dict[int, RequestRecord] = {}
        self._ended: deque[RequestRecord] = deque(maxlen=CAPACITY)
        self._was_read = True

    def begin(self, method: str, path: str) -> "LoggedRequest":
        """Add a request that has just arrived."""
        with self._lock:
            self._arrived += 1
            number = self._arrived
            self._running[number] = RequestRecord(
                number, printable(method, _MAX_METHOD), printable(path, _MAX_PATH), time.time(), time.monotonic()
            )
        self._tell()
        return LoggedRequest(self, number)

    def change(self, number: int, **changes: Any) -> None:
        """Change fields of a request that is under way; ignore one that is not."""
        with self._lock:
            before = self._running.get(number)
            after = replace(before, **changes) if before is not None else None
            if before is None or after is None or after == before:
                return
            self._running[number] = after
        self._tell()

    def end(self, number: int, status: int, *, cancelled: bool) -> None:
        """Move a request to those that have ended."""
        with self._lock:
            record = self._running.pop(number)
            seconds = time.monotonic() - record.began
            self._ended.append(replace(record, status=status, cancelled=cancelled, seconds=seconds))
        self._tell()

    def read(self) -> tuple[RequestRecord, ...]:
        """Return all requests: those under way and then those that have ended, the newest first in each part."""
        with self._lock:
            self._was_read = True
            return (*reversed(self._running.values()), *reversed(self._ended))

    def clear(self) -> None:
        """Forget the requests that have ended."""
        with self._lock:
            self._ended.clear()
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            was_read, self._was_read = self._was_read, False
        if was_read:
            self._changed()


class LoggedRequest:
    """A request that is being served, as those who serve it report on it."""

    def __init__(self, log: RequestLog, number: int) -> None:
        """Report on the request of this number in `log`."""
        self._log, self._number = log, number
        self._prompt_tokens = self._answer_tokens = 0
        self._failure = 0
        self._cancelled = False

    def ask_for(self, model: str) -> None:
        """Report the name of the model."""
        self._log.change(self._number, model=printable(model, _MAX_MODEL))

    def enter(self, stage: Stage) -> None:
        """Report what the request is doing now."""
        self._log.change(self._number, stage=stage)

    def add_tokens(self, prompt: int, answer: int = 0) -> None:
        """Report tokens of one more prompt and its answer."""
        self._prompt_tokens += prompt
        self._answer_tokens += answer
        self._log.change(self._number, prompt_tokens=self._prompt_tokens, answer_tokens=self._answer_tokens)

    def break_off(self, status: int) -> None:
        """Report the status of the error with which a stream ends that began well."""
        self._failure = status

    def cancel(self) -> None:
        """Report that the client has closed its side of the connection before it had the whole response."""
        self._cancelled = True

    def end(self, status: int, *, whole: bool) -> None:
        """Report the end: the HTTP status, and whether the whole response was sent."""
        cancelled = self._cancelled or not whole
        self._log.end(self._number, int(status if cancelled else self._failure or status), cancelled=cancelled)


# What is done outside of any request is reported to a log that nobody reads.
_NO_REQUEST = LoggedRequest(RequestLog(), 0)
_current: ContextVar[LoggedRequest] = ContextVar("current request")


def current_request() -> LoggedRequest:
    """Return the request that the calling task serves."""
    return _current.get(_NO_REQUEST)


@contextmanager
def serving(request: LoggedRequest) -> Iterator[None]:
    """Make `request` the current one, also for tasks that are started meanwhile."""
    token = _current.set(request)
    try:
        yield
    finally:
        _current.reset(token)
