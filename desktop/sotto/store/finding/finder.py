"""Searches on Hugging Face on a thread of its own: the newest search replaces the one before.

Importing this module is cheap: only the thread imports the HTTP client, at the first search.
"""

import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sotto.errors import DownloadError, SottoError

if TYPE_CHECKING:
    import asyncio

    from sotto.store.finding.hub import Hub
    from sotto.store.finding.hub_records import FoundModel

# How long `close` waits for the thread.
_CLOSE_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of a search.

    Attributes:
        words: What was searched for.
        models: What was found.
        problem: Why the search failed, in one sentence; empty if it did not.
    """

    words: str
    models: "tuple[FoundModel, ...]" = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LookedAt:
    """The outcome of looking at a model: what is known now, or why that is not more."""

    model: "FoundModel"
    problem: str = ""


class Finder:
    """Searches, and looks at what was found. Its methods return at once."""

    def __init__(self, report: Callable[[Found | LookedAt], None]) -> None:
        """Begin with nothing to do; `report` is called on the thread with each outcome."""
        self._report = report
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._searching: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    def search(self, words: str) -> None:
        """Search for models that are called like `words`; empty to stop searching."""

        def begin(hub: "Hub | str") -> None:
            self._searching = self._replace(self._searching, self._search(hub, words) if words else None)

        self._send(begin)

    def look_at(self, found: "FoundModel") -> None:
        """Find out what the model's own page tells."""

        def begin(hub: "Hub | str") -> None:
            self._looking = self._replace(self._looking, self._look_at(hub, found))

        self._send(begin)

    def close(self) -> None:
        """Stop within a second, and ignore all further calls."""
        with self._lock:
            if self._closed or self._thread is None:
                self._closed = True
                return
            self._closed = True
            self._loop.call_soon_threadsafe(self._commands.put_nowait, None)
        self._thread.join(_CLOSE_TIMEOUT_S)

    # On the thread

    @staticmethod
    def _replace(
        running: "asyncio.Task[None] | None", work: "Coroutine[Any, Any, None] | None"
    ) -> "asyncio.Task[None] | None":
        import asyncio

        if running is not None:
            running.cancel()
        return None if work is None else asyncio.get_running_loop().create_task(work)

    async def _search(self, hub: "Hub | str", words: str) -> None:
        try:
            self._report(Found(words, tuple(await _usable(hub).search(words))))
        except SottoError as error:
            self._report(Found(words, problem=error.message))

    async def _look_at(self, hub: "Hub | str", found: "FoundModel") -> None:
        try:
            self._report(LookedAt(await _usable(hub).complete(found)))
        except SottoError as error:
            self._report(LookedAt(found, error.message))

    def _send(self, begin: "Callable[[Hub | str], None]") -> None:
        with self._lock:
            if self._closed:
                return
            if self._thread is None:
                self._start()
            self._loop.call_soon_threadsafe(self._commands.put_nowait, begin)

    def _start(self) -> None:
        import asyncio

        from sotto.store.pull.threads import Loop

        self._loop = Loop()
        self._commands: asyncio.Queue[Callable[[Hub | str], None] | None] = asyncio.Queue()
        self._thread = threading.Thread(target=self._serve, name="finding", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        import asyncio

        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._follow())

    async def _follow(self) -> None:
        from sotto.store.finding.hub import Hub
        from sotto.store.finding.hub_address import endpoint

        try:
            hub = Hub(endpoint())
        except DownloadError as error:
            while (begin := await self._commands.get()) is not None:
                begin(error.message)
            return
        async with hub:
            while (begin := await self._commands.get()) is not None:
                begin(hub)
        self._loop.hang_up()


def _usable(hub: "Hub | str") -> "Hub":
    """Return the client, or raise what prevents that there is one."""
    if isinstance(hub, str):
        raise DownloadError(hub)
    return hub
