"""Downloads requested by API clients: one for each model, shared by all clients that want it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus

from sotto.api.error_bodies import ApiError
from sotto.api.stream import Bridge
from sotto.engine.config.supported_models import refusal
from sotto.engine.memory.room_for_weights import room_for_weights
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.queue import PullQueue
from sotto.store.removal import own_store
from sotto.store.sources.hugging_face_names import parse_wanted
from sotto.store.sources.model_names import ModelName

MAX_PULLS = 4

News = asyncio.Queue[PullProgress | None]
"""The progress of a download as it comes; None once the reader should stop waiting."""


class _Download:
    """A download that is running or being stopped.

    Attributes:
        insecure: Whether it may use HTTP without TLS.
        last: Its latest progress; None before the first.
        over: Set once it has ended or nobody listens to it any more.
    """

    def __init__(self, name: str, *, insecure: bool) -> None:
        """Begin to download the model `name`.

        Raises:
            InvalidNameError: The name is invalid, or asks for an insecure connection that was not allowed.
        """
        self.insecure = insecure
        self.last: PullProgress | None = None
        self.over = asyncio.Event()
        self._listeners: set[News] = set()
        self._bridge = Bridge()
        self._queue = PullQueue(
            own_store(),
            lambda progress: self._bridge.call(self._publish, progress),
            judge=refusal,
            insecure=insecure,
            room=room_for_weights,
        )
        self._queue.add(name)

    @contextmanager
    def subscribe(self) -> Iterator[News]:
        """Yield a queue of its progress from the latest on; the download is over once the last subscriber leaves."""
        news: News = asyncio.Queue()
        if self.last is not None:
            news.put_nowait(self.last)
        self._listeners.add(news)
        try:
            yield news
        finally:
            self._listeners.remove(news)
            if not self._listeners:
                self.over.set()

    async def close(self) -> None:
        """Stop the download; the parts that have been downloaded stay on disk."""
        self._bridge.close()
        await asyncio.to_thread(self._queue.close)

    def _publish(self, progress: PullProgress) -> None:
        self.last = progress
        if progress.state in (PullState.DONE, PullState.FAILED):
            self.over.set()
        for listener in self._listeners:
            listener.put_nowait(progress)


class Downloads:
    """Downloads models into Sotto's own store while clients listen. Lives on the server's event loop."""

    def __init__(self) -> None:
        """Begin without downloads."""
        self._running: dict[ModelName, tuple[_Download, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def listen(self, name: str, *, insecure: bool) -> AsyncIterator[News]:
        """Download a model, or join its running download, and yield a queue of its progress.

        Args:
            name: The model to download.
            insecure: Whether to allow HTTP without TLS.

        Raises:
            InvalidNameError: The name is invalid, or asks for an insecure connection that was not allowed.
            ApiError: Too many downloads are running, or the running one is insecure and this client did not allow that.
        """
        model = parse_wanted(name)
        while (running := self._running.get(model)) is not None and running[0].over.is_set():
            await asyncio.shield(running[1])
        download, ending = running or self._begin(model, name, insecure=insecure)
        if download.insecure and not insecure:
            raise ApiError(
                HTTPStatus.CONFLICT,
                f"{model.short} is already being downloaded with insecure: set it too, or try again later.",
            )
        try:
            with download.subscribe() as news:
                yield news
        finally:
            if download.over.is_set():
                await asyncio.shield(ending)

    def _begin(self, model: ModelName, name: str, *, insecure: bool) -> tuple[_Download, "asyncio.Task[None]"]:
        if len(self._running) >= MAX_PULLS:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{MAX_PULLS} downloads are running already; try again when one has finished.",
            )
        download = _Download(name, insecure=insecure)
        self._running[model] = download, asyncio.create_task(self._end(model, download))
        return self._running[model]

    async def _end(self, model: ModelName, download: _Download) -> None:
        """Wait until a download is over, close it, and make room for another."""
        try:
            await download.over.wait()
        finally:
            await download.close()
            del self._running[model]
