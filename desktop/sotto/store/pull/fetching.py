"""Bringing blobs here: several at once, each from where it stopped, with new tries where something goes wrong."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

from sotto.errors import DownloadError
from sotto.store.pull.disk_room import require_room
from sotto.store.pull.meter import Meter
from sotto.store.pull.pace import Pace
from sotto.store.pull.partial import Partial
from sotto.store.pull.progress import PullState
from sotto.store.pull.pull_errors import TryAgainError, WrongBytesError
from sotto.store.pull.registry import Registry
from sotto.store.pull.slowness import Speeds, Watch
from sotto.store.pull.terms import Patience

_AT_ONCE = 4
# Other programs fill disks, too, so the room is looked at again after so many bytes.
_LOOK_AGAIN = 16 << 20

# A blob is asked for again so often because it comes slowly; then slowly is better than not at all.
_SLOW_AT_MOST = 2

_T = TypeVar("_T")


class _TooSlowError(Exception):
    """A new connection may be faster."""


class Fetcher:
    """Brings the blobs of one model."""

    def __init__(self, registry: Registry, root: Path, meter: Meter, pace: Pace, patience: Patience) -> None:
        """Bring them from `registry` into the store in `root`."""
        self._registry = registry
        self._root = root
        self._meter = meter
        self._pace = pace
        self._patience = patience
        self._speeds = Speeds()
        self._unlooked = 0

    async def small(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        """Return a small answer, asked for again where there is hope.

        Raises:
            DownloadError: There is none, or none is left.
        """
        self._meter.opened("")
        try:
            failures = 0
            while True:
                try:
                    return await ask()
                except TryAgainError as error:
                    failures += 1
                    await self._wait("", error, failures, self._patience.tries)
        finally:
            self._meter.closed("")

    async def all(self, partials: Iterable[Partial]) -> None:
        """Bring blobs until they are whole.

        Raises:
            DownloadError: One cannot be brought; what is here of all of them stays.
            OSError: One cannot be written.
        """
        left = iter(partials)

        async def bring() -> None:
            for partial in left:
                await self._one(partial)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_AT_ONCE):
                    group.create_task(bring())
        except BaseExceptionGroup as errors:
            # The others were only cancelled because of the first.
            raise errors.exceptions[0] from None

    async def _one(self, partial: Partial) -> None:
        stream = partial.layer.digest
        failures = wrong = slow = 0
        self._meter.opened(stream)
        try:
            with partial.open():
                while True:
                    before = partial.have
                    try:
                        return await self._attempt(partial, patient=slow >= _SLOW_AT_MOST)
                    except _TooSlowError:
                        slow += 1
                    except TryAgainError as error:
                        failures = 1 if partial.have > before else failures + 1
                        await self._wait(stream, error, failures, self._patience.blob_tries)
                    except WrongBytesError as error:
                        wrong += 1
                        self._meter.found(-partial.have)
                        partial.restart()
                        await self._wait(stream, error, wrong, self._patience.wrong)
        finally:
            self._meter.closed(stream)

    async def _attempt(self, partial: Partial, *, patient: bool) -> None:
        size, stream = partial.layer.size, partial.layer.digest
        if partial.have < size:
            async with self._registry.blob(stream, partial.have, size) as answer:
                if answer.start != partial.have:
                    self._meter.found(-partial.have)
                    partial.restart()
                watch = Watch(self._speeds, self._patience.slow)
                async for piece in answer.pieces:
                    self._look(len(piece))
                    partial.write(piece)
                    self._meter.came(stream, len(piece))
                    if watch.came(len(piece)) and not patient and not self._pace.rate:
                        raise _TooSlowError
                    await self._pace.spend(len(piece))
                watch.end()
        if partial.have < size:
            raise TryAgainError(f"{self._registry.where} ended a file after {partial.have:,} of its {size:,} bytes.")
        await partial.finish()

    async def _wait(self, stream: str, error: DownloadError, failures: int, most: int) -> None:
        """Wait before another try, or raise the error if there were enough of them."""
        if failures >= most:
            raise DownloadError(error.message)
        silent = isinstance(error, TryAgainError) and error.silent
        self._meter.trouble(stream, PullState.STALLED if silent else PullState.RETRYING, error.message)
        if not silent:
            # Silence was waited through already.
            after = error.after if isinstance(error, TryAgainError) else None
            await asyncio.sleep(max(self._patience.wait(failures), after or 0.0))

    def _look(self, count: int) -> None:
        self._unlooked += count
        if self._unlooked >= _LOOK_AGAIN:
            self._unlooked = 0
            require_room(self._root, 0)
