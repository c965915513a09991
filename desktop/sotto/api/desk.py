"""The way of a request to its model: waiting until the host has it loaded, then asking the engine."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar
from weakref import WeakValueDictionary

from sotto.api.content_parts import ContentReader
from sotto.api.error_bodies import ApiError, NotFoundError, answer_error, busy_error, stopped_error
from sotto.api.stream import Bridge, Stream, Unread
from sotto.engine.contract.events import (
    Counted,
    DoneReason,
    Embedded,
    Failed,
    Finished,
    ModelInfo,
    PrefillProgress,
    RequestEnd,
    TextChunk,
)
from sotto.engine.contract.requests import CountRequest, EmbedRequest, GenerateRequest
from sotto.errors import UnsupportedModelError
from sotto.runner.commands import Ask, Count, Embed, Generate
from sotto.runner.host import Host
from sotto.runner.profiles import Profile, Profiles
from sotto.runner.residents import Admit, ModelRequest, Refuse, Resident
from sotto.store.opening import find_by_name
from sotto.store.records import ModelRecord

# How old the list of models may be, as scanning the disk is slow: for requests that list the models or name a model
# that is not in the list, and for all others.
_LISTING_SECONDS, _KNOWN_SECONDS = 1.0, 10.0
# Contents of messages that are read at a time, most of which may wait for a document.
_READERS = 32
_Event = TypeVar("_Event", Embedded, Counted)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Visit:
    """A request's hold on a loaded model.

    Attributes:
        seat: The seat of the model in the host.
        info: The properties of the model.
        waited: Nanoseconds that the request waited for the model.
    """

    seat: str
    info: ModelInfo
    waited: int


class Desk:
    """Has models loaded for requests and passes the requests to them. Lives on the server's event loop.

    Attributes:
        closing: Set once the server stops serving.
    """

    def __init__(self, host: Host) -> None:
        """Serve the models of `host`."""
        self.host = host
        self.closing = asyncio.Event()
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._bridge = Bridge()
        self._waiting: set[asyncio.Future[Resident]] = set()
        self._leaving: set[asyncio.Future[None]] = set()
        self._streams: set[Stream] = set()
        self._closed = False
        self._listing: Sequence[ModelRecord] = ()
        self._listed_at = -math.inf
        self._listing_lock = asyncio.Lock()
        self._profiles = Profiles()
        self._profiles_lock = asyncio.Lock()
        self._readers = ThreadPoolExecutor(_READERS, "contents")

    async def read_contents(self, convert: Callable[[ContentReader], T]) -> tuple[T, tuple[str, ...]]:
        """Run what reads the contents of a request's messages, on a thread; return its result and warnings.

        Raises:
            ApiError: A content is invalid or cannot be read.
        """
        if self._closed:
            raise stopped_error()
        reader = ContentReader(self.closing.is_set)
        result = await asyncio.get_running_loop().run_in_executor(self._readers, convert, reader)
        return result, tuple(reader.warnings)

    # Models

    async def models(self) -> Sequence[ModelRecord]:
        """Return the models on this machine."""
        return await self._list(_LISTING_SECONDS)

    def forget_models(self) -> None:
        """Scan for models again at the next request, because something has changed."""
        self._listed_at = -math.inf

    async def _list(self, seconds: float) -> Sequence[ModelRecord]:
        """Return a list of the models that is at most `seconds` old."""
        async with self._listing_lock:
            if time.monotonic() - self._listed_at > seconds:
                self._listing = await asyncio.to_thread(self.host.models)
                self._listed_at = time.monotonic()
        return self._listing

    async def model(self, name: str) -> ModelRecord:
        """Return the model of this name.

        Raises:
            NotFoundError: There is no such model.
        """
        record = find_by_name(name, await self._list(_KNOWN_SECONDS)) or find_by_name(name, await self.models())
        if record is None:
            raise NotFoundError(name)
        return record

    async def profiles(self, records: Sequence[ModelRecord]) -> Sequence[Profile]:
        """Return the capabilities of each of these models."""
        async with self._profiles_lock:
            return await asyncio.to_thread(self._profiles.of, records)

    @property
    def is_loading_first(self) -> bool:
        """Whether a request waits for a model while none is loaded."""
        return bool(self._waiting) and not self.host.resident_models

    # Turns

    @asynccontextmanager
    async def visit(
        self, record: ModelRecord, num_ctx: int | None = None, keep_alive: float | None = None
    ) -> AsyncIterator[Visit]:
        """Wait until a model is loaded, and keep it loaded during the visit.

        Args:
            record: The model.
            num_ctx: The context length in tokens to load it with; None for the default.
            keep_alive: Seconds for which it stays loaded afterwards; None for the default.

        Raises:
            SottoError: The model cannot run or be loaded, or too many requests are waiting.
        """
        if self._closed:
            raise stopped_error()
        if not record.runnable:
            raise UnsupportedModelError(record.reason)
        began = time.perf_counter_ns()
        admitted: asyncio.Future[Resident] = asyncio.get_running_loop().create_future()
        self._waiting.add(admitted)
        wish = ModelRequest(record, num_ctx, keep_alive)
        visit = self.host.want(wish, lambda reply: self._bridge.call(_answer, admitted, reply))
        try:
            resident = await admitted
            assert resident.info is not None  # requests are admitted to loaded models only
            yield Visit(resident.seat, resident.info, time.perf_counter_ns() - began)
        finally:
            self._waiting.discard(admitted)
            self.host.leave(visit)

    async def answer(
        self, visit: Visit, request: GenerateRequest
    ) -> AsyncGenerator[PrefillProgress | TextChunk | Finished, None]:
        """Yield the events of an answer, the last of which is `Finished`; closing the generator cancels the answer.

        Raises:
            ApiError: The answer failed.
        """
        async with self._slot(visit):
            if self._closed:
                raise stopped_error()
            async with aclosing(self._events_of(Generate(request, visit.seat))) as events:
                async for event in events:
                    if not isinstance(event, Embedded | Counted):
                        yield event

    async def embed(self, visit: Visit, request: EmbedRequest) -> Embedded:
        """Return the vectors of texts; cancelling the call cancels the request.

        Raises:
            ApiError: The request failed.
        """
        async with self._slot(visit):
            if self._closed:
                raise stopped_error()
            return await self._single_event(Embedded, Embed(request, visit.seat))

    async def count(self, visit: Visit, request: CountRequest) -> Counted:
        """Return how many tokens a conversation has, without waiting for answers in progress.

        Raises:
            ApiError: The request failed.
        """
        if self._closed:
            raise stopped_error()
        return await self._single_event(Counted, Count(request, visit.seat))

    def _slot(self, visit: Visit) -> asyncio.Semaphore:
        """Return the semaphore that bounds how many requests a model answers at a time."""
        return self._slots.setdefault(visit.seat, asyncio.Semaphore(self.host.slots))

    async def _single_event(self, kind: type[_Event], command: Ask) -> _Event:
        """Return the only event of a command that yields exactly one."""
        async with aclosing(self._events_of(command)) as events:
            async for event in events:
                if isinstance(event, kind):
                    return event
        raise AssertionError(f"{kind.__name__} comes, or an error does")

    async def _events_of(
        self, command: Ask
    ) -> AsyncGenerator[PrefillProgress | TextChunk | Finished | Embedded | Counted, None]:
        stream = Stream(self._bridge)
        self._streams.add(stream)
        self.host.ask(command, stream.put)
        ended = False
        try:
            while not ended:
                for event in await stream.take():
                    ended = isinstance(event, RequestEnd)
                    if isinstance(event, Failed):
                        raise answer_error(event)
                    if isinstance(event, Finished) and event.done_reason is DoneReason.CANCELLED:
                        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "The model was unloaded during the answer.")
                    yield event
        except Unread as error:
            raise ApiError(HTTPStatus.REQUEST_TIMEOUT, "The client read the answer too slowly.") from error
        finally:
            self._streams.discard(stream)
            if not ended:
                self.host.cancel(command.request.id)

    async def unload(self, record: ModelRecord) -> None:
        """Unload a model, if it is loaded, once no request uses it; wait for that unless it is in use."""
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._leaving.add(gone)
        self.host.dismiss(record, lambda: self._bridge.call(_settle, gone))
        try:
            await gone
        finally:
            self._leaving.discard(gone)

    def close(self) -> None:
        """Fail all waiting and running requests and serve no more."""
        self._closed = True
        self.closing.set()
        for stream in self._streams:
            stream.fail(stopped_error())
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._bridge.close()
        for admitted in self._waiting:
            if not admitted.done():
                admitted.set_exception(stopped_error())
        for gone in self._leaving:
            _settle(gone)


def _answer(admitted: "asyncio.Future[Resident]", reply: Admit | Refuse) -> None:
    """Resolve a request's wait for its model, unless it was cancelled meanwhile."""
    if admitted.done():
        return
    if isinstance(reply, Admit):
        admitted.set_result(reply.resident)
    elif reply.busy:
        admitted.set_exception(busy_error())
    elif reply.failed is None:
        admitted.set_exception(ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "Loading the model was cancelled."))
    else:
        admitted.set_exception(ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, reply.failed.message))


def _settle(gone: "asyncio.Future[None]") -> None:
    if not gone.done():
        gone.set_result(None)
