"""The disk tier of the prefix cache: cache contents that outlive memory pressure and restarts.

An entry is a range of tokens of one conversation with the cache contents for it. Each combination of a model and a
cache layout has its own folder; all folders share one budget. A disk fault or a damaged file is logged, and its entry
counts as missing, so it costs no more than recomputing.

Put parents before their children: when a folder is opened, entries whose parent is missing are removed.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sotto.engine.caches import disk_budget
from sotto.engine.caches.disk_budget import Usage
from sotto.engine.caches.disk_file import Array, Memory, new_memory
from sotto.engine.caches.disk_folder import StoredEntry
from sotto.engine.caches.disk_format import EntryHead, LoadedArray, pack_entry
from sotto.engine.caches.disk_shelf import Shelf
from sotto.engine.caches.disk_writer import Job, Writer, WriteResult
from sotto.store.printable import printable_path

__all__ = ["Array", "Bounds", "DiskTier", "Entry", "EntryHead", "LoadedArray", "StoredEntry", "Usage", "WriteResult"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that was read and verified.

    Attributes:
        head: Which tokens it holds.
        arrays: By name. All are views of one buffer, valid until something else is read into the same memory.
    """

    head: EntryHead
    arrays: Mapping[str, LoadedArray]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a disk tier besides its budget.

    Attributes:
        reserve: Bytes that must stay free on the disk.
        queue: Most bytes that may wait to be written or drained.
        pause: Seconds without writing after a failed write.
        index_delay: Seconds without a write until the index is brought up to date.
    """

    reserve: int = 2 << 30
    queue: int = 1 << 30
    pause: float = 60.0
    index_delay: float = 20.0


class DiskTier:
    """The entries of one model in one cache layout.

    `put` and `drain` must be called on the thread that owns the buffers. Writing happens on another thread.
    """

    def __init__(
        self,
        root: Path,
        key: str,
        budget: int,
        bounds: Bounds | None = None,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Find the entries on disk without reading their data.

        Args:
            root: The folder of the whole tier; created if it is missing.
            key: Everything that entries depend on: weights, configuration, cache layout, type of the data.
            budget: Bytes for all entries of all models together; 0 keeps nothing and removes what is there.
            bounds: Other limits; None for the defaults.
            notify: Called on another thread when there is something to drain.
        """
        self._root = root
        self._folder = root / hashlib.sha256(key.encode()).hexdigest()[:32]
        self._bounds = bounds or Bounds()
        self._notify = notify
        self._shelf: Shelf | None = None
        self._writer: Writer | None = None
        self.set_budget(budget)

    @property
    def active(self) -> bool:
        """Whether anything is kept: not with a budget of 0, with an unusable folder, or after `close`."""
        return self._shelf is not None and self._shelf.budget > 0

    def entries(self) -> list[StoredEntry]:
        """Return the entries on disk, parents before children."""
        return self._shelf.entries() if self._shelf else []

    def has(self, id: str) -> bool:  # noqa: A002
        """Return whether an entry is known to be on disk or queued, without looking at the disk."""
        if self._shelf is None or self._writer is None:
            return False
        return self._shelf.get(id) is not None or self._writer.is_queued(id)

    def put(self, head: EntryHead, arrays: Mapping[str, Array], *, replace: bool = False) -> bool:
        """Queue an entry to be written.

        Args:
            head: Which tokens it holds.
            arrays: Its data by name. The buffers are held, and must not change, until `drain` returns the entry.
            replace: Write it even if it is on disk already; otherwise it is only marked as used.

        Returns:
            Whether it was accepted, in which case `drain` returns it once. It is refused if the tier is not active, the
            queue is full, it is larger than the budget, or a write failed recently.

        Raises:
            ValueError: An array's data does not match its type and shape.
        """
        if self._shelf is None or self._writer is None or not self._shelf.writable:
            return False
        job = Job(head, pack_entry(head, self._folder.name, arrays), replace)
        return job.nbytes <= self._shelf.budget and self._writer.put(job)

    def drain(self) -> list[WriteResult]:
        """Release the buffers of all entries that were written or given up, and return how each ended."""
        return self._writer.drain() if self._writer else []

    def load(self, id: str, memory: Memory = new_memory) -> Entry | None:  # noqa: A002
        """Read and verify an entry; None if it is missing or damaged.

        A damaged entry is removed with all its descendants.

        Args:
            id: The entry.
            memory: Returns the buffer to read it into.
        """
        found = self._shelf.read(id, memory) if self._shelf else None
        return Entry(*found) if found else None

    def discard(self, ids: Iterable[str]) -> None:
        """Remove entries with all their descendants."""
        if self._shelf:
            self._shelf.discard(ids)

    def usage(self) -> Usage:
        """Return how much of the disk the entries of all models use.

        Raises:
            OSError: Their folder cannot be read.
        """
        return disk_budget.usage(self._root)

    def set_budget(self, budget: int) -> None:
        """Change the bytes for all models together, and remove entries until they fit, least recently used first."""
        try:
            if self._shelf:
                self._shelf.set_budget(budget)
            elif budget:
                self._shelf = Shelf(self._folder, budget, self._bounds.reserve, self._bounds.pause)
                self._writer = Writer(
                    self._shelf.write,
                    self._shelf.tidy,
                    self._notify,
                    delay=self._bounds.index_delay,
                    max_bytes=self._bounds.queue,
                )
        except OSError as error:
            _log.warning("%s cannot be used to keep anything: %s", printable_path(self._root), error.strerror)
        if not budget:
            self.wipe()

    def wipe(self) -> bool:
        """Remove the entries of all models, abandon those still queued, and return whether all files are gone."""
        if self._shelf is None or self._writer is None:
            return disk_budget.wipe(self._root)
        self._writer.abandon()
        return self._shelf.wipe()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything queued is written; False if that takes longer than `timeout` seconds."""
        return self._writer is None or self._writer.flush(timeout)

    def close(self, timeout: float = 30.0) -> None:
        """Write what is queued for at most `timeout` seconds, then accept nothing more; `drain` continues to work."""
        shelf, self._shelf = self._shelf, None
        if shelf and self._writer and self._writer.close(timeout):
            shelf.close()
