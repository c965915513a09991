"""What runs on the thread of a queue of downloads: one after the other, and what is asked about them meanwhile."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sotto.errors import SottoError
from sotto.store.pull.disk_room import not_written
from sotto.store.pull.job import Job
from sotto.store.pull.meter import Meter
from sotto.store.pull.pace import Pace
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.staging import Staging, unfinished
from sotto.store.pull.terms import Terms
from sotto.store.sources.model_names import ModelName


@dataclass(frozen=True, slots=True)
class _Running:
    """The download that is going on."""

    name: ModelName
    meter: Meter
    task: asyncio.Task[None]


class Worker:
    """Serves one queue: its methods are called one after the other, by `serve`."""

    def __init__(self, terms: Terms, rate: int | None, hang_up: Callable[[], None]) -> None:
        """Begin with nothing to do.

        Args:
            terms: How to download.
            rate: A limit in bytes per second.
            hang_up: Closes every connection that is still open; called when a download has ended.
        """
        self._terms = terms
        self._hang_up = hang_up
        self._pace = Pace(rate)
        self._running: _Running | None = None
        self._waiting: dict[ModelName, PullProgress] = {}
        # What was last told of those that neither run nor wait.
        self._resting: dict[ModelName, PullProgress] = {}

    async def serve(self, commands: "asyncio.Queue[Command | None]") -> None:
        """Do what is asked for until None comes; then stop what runs."""

        async def nothing(worker: "Worker") -> None:
            """Be a command that has whatever has ended be noticed."""

        try:
            while (command := await commands.get()) is not None:
                self._reap()
                await command(self)
                if self._running is None and self._waiting:
                    task = self._begin()
                    task.add_done_callback(lambda _: commands.put_nowait(nothing))
        finally:
            if self._running:
                await self._stop(self._running)

    async def add(self, name: ModelName) -> None:
        """Download a model after those that wait, or go on with it."""
        if name in self._waiting or (self._running and self._running.name == name):
            return
        before = self._resting.pop(name, None) or unfinished(self._terms.root, name)
        before = before or PullProgress(name.short, PullState.WAITING)
        self._waiting[name] = replace(before, state=PullState.WAITING, note="")
        self._terms.tell(self._waiting[name])

    async def pause(self, name: ModelName) -> None:
        """Stop a download that runs or waits, and keep what is here of it."""
        last = await self._take(name)
        if last is not None:
            self._resting[name] = replace(last, state=PullState.PAUSED, speed=None, seconds_left=None, note="")
            self._terms.tell(self._resting[name])

    async def cancel(self, name: ModelName) -> None:
        """Stop a download, whatever it does, and remove what is here of it."""
        last = await self._take(name) or self._resting.pop(name, None)
        staging = Staging(self._terms.root, name)
        if not staging.is_begun():
            return
        try:
            with staging.lock():
                staging.discard()
        except (SottoError, OSError) as error:
            last = last or PullProgress(name.short, PullState.FAILED)
            self._terms.tell(replace(last, state=PullState.FAILED, note=self._sentence(error)))

    async def limit(self, rate: int | None) -> None:
        """Change the limit, in bytes per second."""
        self._pace.rate = rate

    def _begin(self) -> asyncio.Task[None]:
        """Begin with the download that has waited longest."""
        name = next(iter(self._waiting))
        meter = Meter(self._waiting.pop(name), self._terms.tell)
        task = asyncio.create_task(self._download(name, meter))
        self._running = _Running(name, meter, task)
        return task

    async def _download(self, name: ModelName, meter: Meter) -> None:
        try:
            await Job(self._terms, name, meter, self._pace).run()
        except (SottoError, OSError) as error:
            meter.enter(PullState.FAILED, self._sentence(error))
        except Exception:
            meter.enter(PullState.FAILED, "The download ended by a fault in Sotto itself.")
            raise
        finally:
            self._hang_up()

    async def _take(self, name: ModelName) -> PullProgress | None:
        """Stop a download and return what was last told of it; None if it neither runs nor waits any more."""
        if self._running and self._running.name == name:
            last = await self._stop(self._running)
            return last if last.state not in (PullState.DONE, PullState.FAILED) else None
        return self._waiting.pop(name, None)

    async def _stop(self, running: _Running) -> PullProgress:
        """Stop what runs, and return what was last told of it."""
        running.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running.task
        self._reap()
        return running.meter.last

    def _reap(self) -> None:
        """Let go of a download that has ended."""
        running = self._running
        if running is None or not running.task.done():
            return
        self._running = None
        if running.meter.last.state is PullState.FAILED:
            self._resting[running.name] = running.meter.last
        if not running.task.cancelled():
            # What is no failure of a download, but a bug, is not kept back.
            running.task.result()

    def _sentence(self, error: SottoError | OSError) -> str:
        return error.message if isinstance(error, SottoError) else not_written(self._terms.root, error).message


Command = Callable[[Worker], Awaitable[None]]
