"""The thread's side of a download queue: runs one download at a time, and executes commands meanwhile."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sotto.errors import SottoError
from sotto.store.pull.disk_room import write_error
from sotto.store.pull.job import Job
from sotto.store.pull.meter import Meter
from sotto.store.pull.pace import Pace
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.staging import Staging, unfinished_download
from sotto.store.pull.terms import Terms
from sotto.store.sources.hugging_face_names import wanted_name
from sotto.store.sources.model_names import ModelName


@dataclass(frozen=True, slots=True)
class _Running:
    """The running download."""

    name: ModelName
    meter: Meter
    task: asyncio.Task[None]


class Worker:
    """Serves one queue; `serve` executes the commands, which call the other methods, one after the other."""

    def __init__(self, terms: Terms, rate: int | None, hang_up: Callable[[], None]) -> None:
        """Begin with nothing to do.

        Args:
            terms: The settings of the queue.
            rate: The speed limit in bytes per second; None or 0 for no limit.
            hang_up: Closes every connection that is still open; called at the end of each download.
        """
        self._terms = terms
        self._hang_up = hang_up
        self._pace = Pace(rate)
        self._running: _Running | None = None
        self._waiting: dict[ModelName, PullProgress] = {}
        # The last reported progress of paused and failed downloads.
        self._resting: dict[ModelName, PullProgress] = {}

    async def serve(self, commands: "asyncio.Queue[Command | None]") -> None:
        """Execute commands until None arrives; then stop the running download."""

        async def wake_up(worker: "Worker") -> None:
            """Do nothing: any command makes the loop notice a download that has ended."""

        try:
            while (command := await commands.get()) is not None:
                self._reap()
                await command(self)
                if self._running is None and self._waiting:
                    task = self._begin()
                    task.add_done_callback(lambda _: commands.put_nowait(wake_up))
        finally:
            if self._running:
                await self._stop(self._running)

    async def add(self, name: ModelName) -> None:
        """Download a model, or resume its download, after those waiting."""
        if name in self._waiting or (self._running and self._running.name == name):
            return
        before = self._resting.pop(name, None) or unfinished_download(self._terms.root, name)
        before = before or PullProgress(wanted_name(name), PullState.WAITING)
        self._waiting[name] = replace(before, state=PullState.WAITING, note="")
        self._terms.report(self._waiting[name])

    async def pause(self, name: ModelName) -> None:
        """Stop a running or waiting download, and keep the downloaded parts."""
        last = await self._take(name)
        if last is not None:
            self._resting[name] = replace(last, state=PullState.PAUSED, speed=None, seconds_left=None, note="")
            self._terms.report(self._resting[name])

    async def cancel(self, name: ModelName) -> None:
        """Stop a download in any state, and delete the downloaded parts."""
        last = await self._take(name) or self._resting.pop(name, None)
        staging = Staging(self._terms.root, name)
        if not staging.is_staged():
            return
        try:
            with staging.lock():
                staging.discard()
        except (SottoError, OSError) as error:
            last = last or PullProgress(wanted_name(name), PullState.FAILED)
            self._terms.report(replace(last, state=PullState.FAILED, note=self._sentence(error)))

    async def limit(self, rate: int | None) -> None:
        """Change the speed limit, in bytes per second; None or 0 for no limit."""
        self._pace.rate = rate

    def _begin(self) -> asyncio.Task[None]:
        """Start the download that has waited longest."""
        name = next(iter(self._waiting))
        meter = Meter(self._waiting.pop(name), self._terms.report)
        task = asyncio.create_task(self._download(name, meter))
        self._running = _Running(name, meter, task)
        return task

    async def _download(self, name: ModelName, meter: Meter) -> None:
        try:
            await Job(self._terms, name, meter, self._pace).run()
        except (SottoError, OSError) as error:
            meter.enter(PullState.FAILED, self._sentence(error))
        except Exception:
            meter.enter(PullState.FAILED, "The download failed because of an error in Sotto.")
            raise
        finally:
            self._hang_up()

    async def _take(self, name: ModelName) -> PullProgress | None:
        """Stop a download and return its last progress; None if it is neither running nor waiting."""
        if self._running and self._running.name == name:
            last = await self._stop(self._running)
            return last if last.state not in (PullState.DONE, PullState.FAILED) else None
        return self._waiting.pop(name, None)

    async def _stop(self, running: _Running) -> PullProgress:
        """Stop the running download, and return its last progress."""
        running.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running.task
        self._reap()
        return running.meter.last

    def _reap(self) -> None:
        """Clear the running download if it has ended, and raise the exception of one that ended by a bug."""
        running = self._running
        if running is None or not running.task.done():
            return
        self._running = None
        if running.meter.last.state is PullState.FAILED:
            self._resting[running.name] = running.meter.last
        if not running.task.cancelled():
            running.task.result()

    def _sentence(self, error: SottoError | OSError) -> str:
        return error.message if isinstance(error, SottoError) else write_error(self._terms.root, error).message


Command = Callable[[Worker], Awaitable[None]]
