"""Who may ask which model when: the host of the engines decides, and requests wait here for it."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar
from weakref import WeakValueDictionary

from sotto.api.error_bodies import ApiError, NotFoundError, busy, of_answer, stopped_error
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

# Looking for models takes a while: who asks what there is, or for a new one, waits for it, others seldom do.
_LISTING_SECONDS, _KNOWN_SECONDS = 1.0, 10.0
_Only = TypeVar("_Only", Embedded, Counted)


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who may ask.

    Attributes:
        seat: Where the model is.
        info: What is known of it.
        waited: Nanoseconds until it was there.
    """

    seat: str
    info: ModelInfo
    waited: int


class Desk:
    """Has models loaded for requests, and lets these in.

    Lives on the server's event loop.

    Attributes:
        closing: Set once nothing is served any more.
    """

    def __init__(self, host: Host) -> None:
        """Serve what `host` has."""
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

    # Models

    async def models(self) -> Sequence[ModelRecord]:
        """Return the models there are."""
        return await self._list(_LISTING_SECONDS)

    def forget_models(self) -> None:
        """Look for models anew when they are asked for next: something has changed."""
        self._listed_at = -math.inf

    async def _list(self, seconds: float) -> Sequence[ModelRecord]:
        """Return the models as they were so many seconds ago at most."""
        async with self._listing_lock:
            if time.monotonic() - self._listed_at > seconds:
                self._listing = await asyncio.to_thread(self.host.models)
                self._listed_at = time.monotonic()
        return self._listing

    async def model(self, name: str) -> ModelRecord:
        """Return the model of this name.

        Raises:
            NotFoundError: There is none.
        """
        record = find_by_name(name, await self._list(_KNOWN_SECONDS)) or find_by_name(name, await self.models())
        if record is None:
            raise NotFoundError(name)
        return record

    async def profiles(self, records: Sequence[ModelRecord]) -> Sequence[Profile]:
        """Return what each of these models can be asked for."""
        async with self._profiles_lock:
            return await asyncio.to_thread(self._profiles.of, records)

    @property
    def is_loading_first(self) -> bool:
        """Whether somebody waits for a model, and none is there yet."""
        return bool(self._waiting) and not self.host.resident_models

    # Turns

    @asynccontextmanager
    async def visit(
        self, record: ModelRecord, num_ctx: int | None = None, keep_alive: float | None = None
    ) -> AsyncIterator[Visit]:
        """Wait until a model is loaded, and keep it loaded meanwhile.

        Args:
            record: Which one.
            num_ctx: The context length to load it with; None for what suits it.
            keep_alive: Seconds that it is to stay afterwards; None as usual.

        Raises:
            SottoError: It cannot run or be loaded, or too many are waiting.
        """
        if self._closed:
            raise stopped_error()
        if not record.runnable:
            raise UnsupportedModelError(record.reason)
        began = time.perf_counter_ns()
        admitted: asyncio.Future[Resident] = asyncio.get_running_loop().create_future()
        self._waiting.add(admitted)
        request = ModelRequest(record, num_ctx, keep_alive)
        visit = self.host.want(request, lambda told: self._bridge.call(_answer, admitted, told))
        try:
            resident = await admitted
            assert resident.info is not None  # only what is loaded is entered
            yield Visit(resident.seat, resident.info, time.perf_counter_ns() - began)
        finally:
            self._waiting.discard(admitted)
            self.host.leave(visit)

    async def answer(
        self, visit: Visit, request: GenerateRequest
    ) -> AsyncGenerator[PrefillProgress | TextChunk | Finished, None]:
        """Yield the events of an answer, the last of which is `Finished`; a caller that stops listening ends it.

        Raises:
            ApiError: It failed.
        """
        async with self._slot(visit):
            if self._closed:
                raise stopped_error()
            async with aclosing(self._answered(Generate(request, visit.seat))) as events:
                async for event in events:
                    if not isinstance(event, Embedded | Counted):
                        yield event

    async def embed(self, visit: Visit, request: EmbedRequest) -> Embedded:
        """Return the vectors of texts; a caller that stops waiting ends it.

        Raises:
            ApiError: It failed.
        """
        async with self._slot(visit):
            if self._closed:
                raise stopped_error()
            return await self._only(Embedded, Embed(request, visit.seat))

    async def count(self, visit: Visit, request: CountRequest) -> Counted:
        """Return how many tokens a conversation has; this waits for no answer.

        Raises:
            ApiError: It failed.
        """
        if self._closed:
            raise stopped_error()
        return await self._only(Counted, Count(request, visit.seat))

    def _slot(self, visit: Visit) -> asyncio.Semaphore:
        """Return what lets in as many as one model answers at a time."""
        return self._slots.setdefault(visit.seat, asyncio.Semaphore(self.host.slots))

    async def _only(self, kind: type[_Only], command: Ask) -> _Only:
        """Return the one event of an answer that has no other."""
        async with aclosing(self._answered(command)) as events:
            async for event in events:
                if isinstance(event, kind):
                    return event
        raise AssertionError(f"{kind.__name__} comes, or an error does")

    async def _answered(
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
                        raise of_answer(event)
                    if isinstance(event, Finished) and event.done_reason is DoneReason.CANCELLED:
                        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "The model was unloaded while it answered.")
                    yield event
        except Unread as error:
            raise ApiError(HTTPStatus.REQUEST_TIMEOUT, "The answer was not read as it came.") from error
        finally:
            self._streams.discard(stream)
            if not ended:
                self.host.cancel(command.request.id)

    async def unload(self, record: ModelRecord) -> None:
        """Unload a model, if it is loaded, as soon as nobody asks it anything; wait for that unless somebody does."""
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._leaving.add(gone)
        self.host.dismiss(record, lambda: self._bridge.call(_settle, gone))
        try:
            await gone
        finally:
            self._leaving.discard(gone)

    def close(self) -> None:
        """Send everybody away; nothing is served any more."""
        self._closed = True
        self.closing.set()
        for stream in self._streams:
            stream.fail(stopped_error())
        self._bridge.close()
        for admitted in self._waiting:
            if not admitted.done():
                admitted.set_exception(stopped_error())
        for gone in self._leaving:
            _settle(gone)


def _answer(admitted: "asyncio.Future[Resident]", told: Admit | Refuse) -> None:
    """Pass on whether somebody may enter, who may have gone meanwhile."""
    if admitted.done():
        return
    if isinstance(told, Admit):
        admitted.set_result(told.resident)
    elif told.busy:
        admitted.set_exception(busy())
    elif told.failed is None:
        admitted.set_exception(ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "Loading the model was stopped."))
    else:
        admitted.set_exception(ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, told.failed.message))


def _settle(gone: "asyncio.Future[None]") -> None:
    if not gone.done():
        gone.set_result(None)
