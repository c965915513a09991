"""Fetching blobs: several at once, each resumed from where it stopped, with retries after errors."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

from sotto.errors import DownloadError
from sotto.store.pull.disk_room import require_room
from sotto.store.pull.meter import Meter
from sotto.store.pull.model_source import ModelSource
from sotto.store.pull.pace import Pace
from sotto.store.pull.partial import Partial
from sotto.store.pull.progress import PullState
from sotto.store.pull.pull_errors import TryAgainError, WrongBytesError
from sotto.store.pull.slowness import Speeds, Watch
from sotto.store.pull.terms import Patience

_CONNECTIONS = 4
# Other programs fill disks too, so the free space is checked again after this many bytes.
_SPACE_CHECK_BYTES = 16 << 20

# How often a blob is requested anew because it is slow; after that a slow connection is accepted.
_MAX_SLOW = 2

_T = TypeVar("_T")


class _TooSlowError(Exception):
    """The connection is so slow that a new one may be faster."""


class Fetcher:
    """Fetches what a source has of one model."""

    def __init__(self, source: ModelSource, root: Path, meter: Meter, pace: Pace, patience: Patience) -> None:
        """Fetch from a source into a store.

        Args:
            source: Where the model comes from.
            root: The store.
            meter: Where progress is recorded.
            pace: The speed limit.
            patience: The timeouts and numbers of tries.
        """
        self._source = source
        self._root = root
        self._meter = meter
        self._pace = pace
        self._patience = patience
        self._speeds = Speeds()
        self._unchecked = 0

    async def fetch_small(self, request: Callable[[], Awaitable[_T]]) -> _T:
        """Return a small response, with retries after temporary errors.

        Raises:
            DownloadError: The error is permanent, or persists after all retries.
        """
        self._meter.open_stream("")
        try:
            failures = 0
            while True:
                try:
                    return await request()
                except TryAgainError as error:
                    failures += 1
                    await self._wait("", error, failures, self._patience.tries)
        finally:
            self._meter.close_stream("")

    async def fetch_blobs(self, partials: Iterable[Partial]) -> None:
        """Fetch blobs until they are complete.

        Raises:
            DownloadError: One cannot be fetched; the parts of all of them are kept.
            OSError: One cannot be written.
        """
        remaining = iter(partials)

        async def fetch() -> None:
            for partial in remaining:
                await self._fetch_blob(partial)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_CONNECTIONS):
                    group.create_task(fetch())
        except BaseExceptionGroup as errors:
            # The first error cancelled the other tasks.
            raise errors.exceptions[0] from None

    async def _fetch_blob(self, partial: Partial) -> None:
        stream = partial.layer.digest
        failures = damaged = slow = 0
        self._meter.open_stream(stream)
        try:
            with partial.open():
                while True:
                    before = partial.have
                    try:
                        return await self._attempt(partial, accept_slow=slow >= _MAX_SLOW)
                    except _TooSlowError:
                        slow += 1
                    except TryAgainError as error:
                        failures = 1 if partial.have > before else failures + 1
                        await self._wait(stream, error, failures, self._patience.blob_tries)
                    except WrongBytesError as error:
                        damaged += 1
                        self._meter.add_present(-partial.have)
                        partial.restart()
                        await self._wait(stream, error, damaged, self._patience.digest_tries)
        finally:
            self._meter.close_stream(stream)

    async def _attempt(self, partial: Partial, *, accept_slow: bool) -> None:
        size, stream = partial.layer.size, partial.layer.digest
        if partial.have < size:
            async with self._source.open_blob(partial.layer, partial.have) as response:
                if response.start != partial.have:
                    self._meter.add_present(-partial.have)
                    partial.restart()
                watch = Watch(self._speeds, self._patience.slow_after)
                async for piece in response.pieces:
                    self._check_space(len(piece))
                    await partial.write(piece)
                    self._meter.add_received(stream, len(piece))
                    if watch.add(len(piece)) and not accept_slow and not self._pace.rate:
                        raise _TooSlowError
                    await self._pace.spend(len(piece))
                watch.finish()
        if partial.have < size:
            raise TryAgainError(f"{self._source.host} ended a file after {partial.have:,} of its {size:,} bytes.")
        await partial.finish()

    async def _wait(self, stream: str, error: DownloadError, failures: int, max_failures: int) -> None:
        """Wait before another try, or raise the error after `max_failures` of them."""
        if failures >= max_failures:
            raise DownloadError(error.message)
        silent = isinstance(error, TryAgainError) and error.silent
        self._meter.set_trouble(stream, PullState.STALLED if silent else PullState.RETRYING, error.message)
        if not silent:
            # A silent connection has already been waited for.
            after = error.after if isinstance(error, TryAgainError) else None
            await asyncio.sleep(max(self._patience.wait(failures), after or 0.0))

    def _check_space(self, count: int) -> None:
        self._unchecked += count
        if self._unchecked >= _SPACE_CHECK_BYTES:
            self._unchecked = 0
            require_room(self._root, 0)
