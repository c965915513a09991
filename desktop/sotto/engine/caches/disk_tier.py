"""The disk tier of the prefix cache: what was computed for conversations, kept beyond memory and restarts.

An entry is a stretch of tokens of one conversation with what these left in the caches. Each model in each layout of
caches has a folder of its own; all folders share one budget. A fault of a disk or a file costs no more than
computing again: it is logged, and the entry is not there.

Entries should be put parents first. One whose parent is not on disk when the folder is opened next is removed then.
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
        head: What it holds.
        arrays: By name; all are views of one buffer, which lives as long as one of them, and keeps what it holds until
            something else is read into the same memory.
    """

    head: EntryHead
    arrays: Mapping[str, LoadedArray]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a disk tier may take, apart from its budget.

    Attributes:
        reserve: Bytes that stay free on the disk.
        queue: Bytes that may wait to be written or drained.
        pause: Seconds without writing after a write that failed.
        index_delay: Seconds without writing after which the index is brought up to date.
    """

    reserve: int = 2 << 30
    queue: int = 1 << 30
    pause: float = 60.0
    index_delay: float = 20.0


class DiskTier:
    """The entries of one model in one layout of caches.

    `put` and `drain` are for the thread that owns the buffers; only what waits for the disk is done on another one.
    """

    def __init__(
        self,
        root: Path,
        key: str,
        budget: int,
        bounds: Bounds | None = None,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Find what is there; nothing of the entries' data is read.

        Args:
            root: The folder of the whole tier; it is made if it is missing.
            key: Everything that entries depend on: weights, configuration, layout of the caches, type of their data.
            budget: Bytes of all entries of all models together; with 0 nothing is kept, and what was is removed.
            bounds: What else it may take.
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
        """Whether anything is kept: not with a budget of 0, where the folder cannot be used, or after the end."""
        return self._shelf is not None and self._shelf.budget > 0

    def entries(self) -> list[StoredEntry]:
        """Return what is on disk, parents before what continues them."""
        return self._shelf.entries() if self._shelf else []

    def has(self, id: str) -> bool:  # noqa: A002
        """Return whether an entry is on disk or will be, as far as is known without looking."""
        if self._shelf is None or self._writer is None:
            return False
        return self._shelf.get(id) is not None or self._writer.is_queued(id)

    def put(self, head: EntryHead, arrays: Mapping[str, Array], *, replace: bool = False) -> bool:
        """Have an entry written.

        Args:
            head: What it holds.
            arrays: Its data by name. The buffers are held, and must stay as they are, until `drain` returns the entry.
            replace: Write it also where it is on disk already; otherwise it only counts as used then.

        Returns:
            Whether it was taken: then `drain` returns it once. Not where the tier is not active, too much waits
            already, it is larger than the budget, or a write failed not long ago.

        Raises:
            ValueError: An array is not what it says it is.
        """
        if self._shelf is None or self._writer is None or not self._shelf.writable:
            return False
        job = Job(head, pack_entry(head, self._folder.name, arrays), replace)
        return job.nbytes <= self._shelf.budget and self._writer.put(job)

    def drain(self) -> list[WriteResult]:
        """Let go of the buffers of all entries that were written or will not be, and return how each ended."""
        return self._writer.drain() if self._writer else []

    def load(self, id: str, memory: Memory = new_memory) -> Entry | None:  # noqa: A002
        """Read and verify an entry; None where it is not there.

        One that cannot be trusted is removed with all that continues it.

        Args:
            id: The entry.
            memory: Gives what to read it into.
        """
        found = self._shelf.read(id, memory) if self._shelf else None
        return Entry(*found) if found else None

    def discard(self, ids: Iterable[str]) -> None:
        """Remove entries with all that continues them."""
        if self._shelf:
            self._shelf.discard(ids)

    def usage(self) -> Usage:
        """Return what the entries of all models take; OSError where their folder cannot be read."""
        return disk_budget.usage(self._root)

    def set_budget(self, budget: int) -> None:
        """Change the bytes that all models may have together; what is beyond them goes, least recently used first."""
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
                    most=self._bounds.queue,
                )
        except OSError as error:
            _log.warning("%s cannot be used to keep anything: %s", printable_path(self._root), error.strerror)
        if not budget:
            self.wipe()

    def wipe(self) -> bool:
        """Remove the entries of all models, also what waits to be written, and return whether all are gone."""
        if self._shelf is None or self._writer is None:
            return disk_budget.wipe(self._root)
        self._writer.abandon()
        return self._shelf.wipe()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was put is written; False where that takes longer than `timeout` seconds."""
        return self._writer is None or self._writer.flush(timeout)

    def close(self, timeout: float = 30.0) -> None:
        """Write what waits, for at most `timeout` seconds, and then nothing more; `drain` goes on to work."""
        shelf, self._shelf = self._shelf, None
        if shelf and self._writer and self._writer.close(timeout):
            shelf.close()
