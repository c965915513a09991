"""Downloads that programs ask for: one for each model, however many want it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus

from sotto.api.error_bodies import ApiError
from sotto.api.stream import Bridge
from sotto.engine.config.supported_models import refusal
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.queue import PullQueue
from sotto.store.removal import own_store
from sotto.store.sources.model_names import ModelName, parse_name

MOST_PULLS = 4

News = asyncio.Queue[PullProgress | None]
"""What becomes of a download, as it comes; None where nobody is to wait for more."""


class _Download:
    """A download that runs, or is being ended.

    Attributes:
        insecure: Whether it may be over HTTP without TLS.
        last: The last news of it.
        over: Set when no more will come.
    """

    def __init__(self, name: str, *, insecure: bool) -> None:
        """Begin.

        Raises:
            InvalidNameError: It is no name, or one that asks for a way that is not secure.
        """
        self.insecure = insecure
        self.last: PullProgress | None = None
        self.over = asyncio.Event()
        self._listeners: set[News] = set()
        self._bridge = Bridge()
        self._queue = PullQueue(
            own_store(),
            lambda progress: self._bridge.call(self._tell, progress),
            judge=refusal,
            insecure=insecure,
        )
        self._queue.add(name)

    @contextmanager
    def heard(self) -> Iterator[News]:
        """Give the news from the last one on; nothing is given once nobody wants them any more."""
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
        """End it; what is here of the model stays."""
        self._bridge.close()
        await asyncio.to_thread(self._queue.close)

    def _tell(self, progress: PullProgress) -> None:
        self.last = progress
        if progress.state in (PullState.DONE, PullState.FAILED):
            self.over.set()
        for listener in self._listeners:
            listener.put_nowait(progress)


class Downloads:
    """Downloads models into Sotto's own store as long as somebody listens. Belongs to the server's loop."""

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self._running: dict[ModelName, tuple[_Download, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def listen(self, name: str, *, insecure: bool) -> AsyncIterator[News]:
        """Have a model downloaded, or join who has already, and give the news of it.

        Args:
            name: The model to download.
            insecure: Whether that may be over HTTP without TLS.

        Raises:
            InvalidNameError: It is no name, or one that asks for a way that is not secure.
            ApiError: Too many are being downloaded, or this one is in a way that was not asked for.
        """
        model = parse_name(name)
        while (running := self._running.get(model)) is not None and running[0].over.is_set():
            await asyncio.shield(running[1])
        download, ending = running or self._begin(model, name, insecure=insecure)
        if download.insecure and not insecure:
            raise ApiError(
                HTTPStatus.CONFLICT,
                f"{model.short} is being downloaded for somebody who set insecure: set it as well, or ask again later.",
            )
        try:
            with download.heard() as news:
                yield news
        finally:
            if download.over.is_set():
                await asyncio.shield(ending)

    def _begin(self, model: ModelName, name: str, *, insecure: bool) -> tuple[_Download, "asyncio.Task[None]"]:
        if len(self._running) >= MOST_PULLS:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{MOST_PULLS} models are being downloaded already; ask again when one of them is here.",
            )
        download = _Download(name, insecure=insecure)
        self._running[model] = download, asyncio.create_task(self._end(model, download))
        return self._running[model]

    async def _end(self, model: ModelName, download: _Download) -> None:
        """End a download when it is over, and let others begin then."""
        try:
            await download.over.wait()
        finally:
            await download.close()
            del self._running[model]
