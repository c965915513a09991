"""Who may ask the engine when: requests for the loaded model at once, others when nobody is at it any more."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from sotto.api.durations import FOREVER
from sotto.api.errors import ApiError, NotFoundError, busy, of_answer
from sotto.api.stream import Bridge, Stream, Unread
from sotto.engine.types import (
    DoneReason,
    Embedded,
    EmbedRequest,
    Failed,
    Finished,
    GenerateRequest,
    Loaded,
    ModelInfo,
    PrefillProgress,
    TextChunk,
)
from sotto.errors import UnsupportedModelError
from sotto.runner.host import HeardAnswer, Host, LoadEnd, same
from sotto.store.opening import named
from sotto.store.records import ModelRecord

MOST_AT_ONCE = 512
# Looking for models takes a while: who asks what there is, or for a new one, waits for it, others seldom do.
_LISTING_SECONDS, _KNOWN_SECONDS = 1.0, 10.0


@dataclass(eq=False, slots=True)
class _Ticket:
    """Somebody who waits for a model."""

    record: ModelRecord
    num_ctx: int | None
    keep_alive: float
    admitted: "asyncio.Future[ModelInfo]"


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who may ask.

    Attributes:
        record: The model that is loaded.
        info: What is known of it.
        waited: Nanoseconds until it was there.
    """

    record: ModelRecord
    info: ModelInfo
    waited: int


class Desk:
    """Lets requests in, one model at a time, first come first served, and unloads models that nobody asks for.

    Lives on the server's event loop.
    """

    def __init__(self, host: Host, most: int = MOST_AT_ONCE) -> None:
        """Serve what `host` has to so many at a time; those that come then are sent away."""
        self.host = host
        self._most = most
        self._slots = asyncio.Semaphore(host.slots)
        self._bridge = Bridge()
        self._waiting: deque[_Ticket] = deque()
        self._streams: set[Stream] = set()
        self._visitors = 0
        self._changing = False
        self._keep_alive = FOREVER
        self._expires_at = FOREVER
        self._expiry: asyncio.TimerHandle | None = None
        self._closed = False
        self._evict = False
        self._evicted = asyncio.Event()
        self._listing: Sequence[ModelRecord] = ()
        self._listed_at = -FOREVER
        self._listing_lock = asyncio.Lock()

    # Models

    async def models(self) -> Sequence[ModelRecord]:
        """Return the models there are."""
        return await self._listed(_LISTING_SECONDS)

    async def _listed(self, seconds: float) -> Sequence[ModelRecord]:
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
        record = named(name, await self._listed(_KNOWN_SECONDS)) or named(name, await self.models())
        if record is None:
            raise NotFoundError(name)
        return record

    @property
    def expires_in(self) -> float:
        """Seconds that the loaded model will stay, as things are."""
        if not self.host.standing.lent:
            return FOREVER
        return self._keep_alive if self._visitors else self._expires_at - time.monotonic()

    # Turns

    @asynccontextmanager
    async def visit(
        self, record: ModelRecord, num_ctx: int | None = None, keep_alive: float | None = None
    ) -> AsyncIterator[Visit]:
        """Wait until a model is loaded, and keep it loaded meanwhile.

        Args:
            record: Which one.
            num_ctx: The context that it is to be loaded with; None for what suits it.
            keep_alive: Seconds that it is to stay afterwards; None as usual.

        Raises:
            SottoError: It cannot run or be loaded, or too many are waiting.
        """
        if self._closed:
            raise _stopped()
        if not record.runnable:
            raise UnsupportedModelError(record.reason)
        if len(self._waiting) + self._visitors >= self._most:
            raise busy()
        began = time.perf_counter_ns()
        usual = FOREVER if self.host.keep_alive is None else self.host.keep_alive
        keep_alive = usual if keep_alive is None else keep_alive
        ticket = _Ticket(record, num_ctx, keep_alive, asyncio.get_running_loop().create_future())
        self._waiting.append(ticket)
        self._turn()
        try:
            info = await ticket.admitted
        except asyncio.CancelledError:
            if ticket.admitted.done() and not ticket.admitted.cancelled() and ticket.admitted.exception() is None:
                self._leave()
            else:
                ticket.admitted.cancel()
                self._turn()
            raise
        try:
            yield Visit(record, info, time.perf_counter_ns() - began)
        finally:
            self._leave()

    async def answer(
        self, visit: Visit, request: GenerateRequest
    ) -> AsyncGenerator[PrefillProgress | TextChunk | Finished, None]:
        """Yield the events of an answer, the last of which is `Finished`; whoever stops listening ends it.

        Raises:
            ApiError: It failed.
        """
        async with self._slots:
            if self._closed:
                raise _stopped()
            asked = partial(self.host.generate, visit.record, request)
            async with aclosing(self._answered(request.id, asked)) as events:
                async for event in events:
                    if not isinstance(event, Embedded):
                        yield event

    async def embed(self, visit: Visit, request: EmbedRequest) -> Embedded:
        """Return the vectors of texts; whoever stops waiting ends it.

        Raises:
            ApiError: It failed.
        """
        async with self._slots:
            if self._closed:
                raise _stopped()
            asked = partial(self.host.embed, visit.record, request)
            async with aclosing(self._answered(request.id, asked)) as events:
                async for event in events:
                    if isinstance(event, Embedded):
                        return event
        raise AssertionError("vectors come, or an error does")

    async def _answered(
        self, request_id: str, ask: Callable[[HeardAnswer], None]
    ) -> AsyncGenerator[PrefillProgress | TextChunk | Finished | Embedded, None]:
        stream = Stream(self._bridge)
        self._streams.add(stream)
        ask(stream.put)
        ended = False
        try:
            while not ended:
                for event in await stream.take():
                    ended = isinstance(event, Finished | Embedded | Failed)
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
                self.host.cancel(request_id)

    async def unload(self, record: ModelRecord) -> None:
        """Unload a model, if it is loaded, as soon as nobody asks it anything."""
        standing = self.host.standing
        if standing.record is None or not same(standing.record, record):
            return
        self._evict = True
        self._evicted.clear()
        self._turn()
        if not self._visitors:
            await self._evicted.wait()

    def close(self) -> None:
        """Send everybody away; nothing is served any more."""
        self._closed = True
        for stream in self._streams:
            stream.fail(_stopped())
        if self._expiry is not None:
            self._expiry.cancel()
        self._bridge.close()
        for ticket in self._waiting:
            if not ticket.admitted.done():
                ticket.admitted.set_exception(_stopped())
        self._waiting.clear()
        self._evicted.set()

    def _leave(self) -> None:
        self._visitors -= 1
        self._turn()

    def _turn(self) -> None:
        """Do what can be done now."""
        if self._closed:
            return
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        while self._waiting and not self._changing:
            ticket = self._waiting[0]
            info = self.host.standing.info
            if ticket.admitted.done():
                self._waiting.popleft()
            elif not self._evict and info is not None and self.host.serves(ticket.record, ticket.num_ctx):
                self._waiting.popleft()
                self._visitors += 1
                self._keep_alive = ticket.keep_alive
                ticket.admitted.set_result(info)
            elif self._visitors:
                return
            else:
                self._load(ticket)
        if not self._waiting and not self._visitors and not self._changing:
            self._idle()

    def _load(self, ticket: _Ticket) -> None:
        self._changing = True
        self._keep_alive = ticket.keep_alive
        self._end_eviction()

        def heard(end: LoadEnd) -> None:
            self._bridge.call(self._loaded, ticket, end)

        self.host.load(ticket.record, ticket.num_ctx, heard)

    def _loaded(self, ticket: _Ticket, end: LoadEnd) -> None:
        self._changing = False
        if not isinstance(end, Loaded):
            message = end.message if isinstance(end, Failed) else "Loading the model was stopped."
            status = HTTPStatus.INTERNAL_SERVER_ERROR if isinstance(end, Failed) else HTTPStatus.SERVICE_UNAVAILABLE
            for other in self._waiting:
                alike = same(other.record, ticket.record) and other.num_ctx == ticket.num_ctx
                if alike and not other.admitted.done():
                    other.admitted.set_exception(ApiError(status, message))
        self._turn()

    def _idle(self) -> None:
        """Let the loaded model go when its time has come."""
        standing = self.host.standing
        if standing.record is None:
            self._end_eviction()
        elif self._evict or (standing.lent and self._keep_alive <= 0):
            self._unload()
        elif standing.lent and self._keep_alive < FOREVER:
            self._expires_at = time.monotonic() + self._keep_alive
            self._expiry = asyncio.get_running_loop().call_later(self._keep_alive, self._expire)
        else:
            self._expires_at = FOREVER

    def _expire(self) -> None:
        self._expiry = None
        if self.host.standing.lent:
            self._unload()

    def _unload(self) -> None:
        self._changing = True
        self.host.unload(lambda end: self._bridge.call(self._unloaded))

    def _unloaded(self) -> None:
        self._changing = False
        self._end_eviction()
        self._turn()

    def _end_eviction(self) -> None:
        self._evict = False
        self._evicted.set()


def _stopped() -> ApiError:
    return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "The server is being stopped.")
