"""One open folder of the disk tier: its known entries, and how entries are read, written and removed."""

import logging
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from sotto.engine.caches import disk_budget
from sotto.engine.caches.disk_budget import Budget
from sotto.engine.caches.disk_file import DamagedEntryError, Memory, damage_error, file_size, new_memory
from sotto.engine.caches.disk_folder import INDEX, Lock, StoredEntry, discard, entry_path, pack_index, remove, survey
from sotto.engine.caches.disk_format import EntryHead, LoadedArray, read_entry
from sotto.engine.caches.disk_writer import Job, WriteResult, write_file
from sotto.errors import CancelledError
from sotto.store.printable import format_size, printable_path

_log = logging.getLogger(__name__)


class Shelf:
    """The entries of one folder. Safe to use from several threads.

    Attributes:
        folder: Where the entries are; its name is the key that they must have.
    """

    def __init__(self, folder: Path, budget: int, reserve: int, pause: float) -> None:
        """Open the folder and find its entries.

        Args:
            folder: Created if it is missing.
            budget: Bytes for this folder and its siblings together.
            reserve: Bytes that must stay free on the disk.
            pause: Seconds without writing after a failed write.

        Raises:
            OSError: The folder cannot be used.
        """
        self.folder = folder
        self._pause = pause
        self._resume = 0.0
        self._tidied = False
        # Always taken in this order: making room holds the first, and briefly takes the second within it.
        self._room_lock = threading.Lock()
        self._lock = threading.Lock()
        self._folder_lock = Lock(folder)
        self._budget = Budget(folder, budget, reserve, self._evict)
        try:
            self._entries, fresh = survey(folder, alone=self._folder_lock.alone)
            self._folder_lock.share()
        except OSError:
            self._folder_lock.release()
            raise
        self._index_is_stale = not fresh

    @property
    def budget(self) -> int:
        """Bytes for this folder and its siblings together."""
        return self._budget.limit

    @property
    def writable(self) -> bool:
        """Whether entries may be written; not for a while after a failed write."""
        return time.monotonic() >= self._resume

    def entries(self) -> list[StoredEntry]:
        """Return the known entries, parents before children."""
        with self._lock:
            return sorted(self._entries.values(), key=lambda stored: stored.head.start)

    def get(self, id: str) -> StoredEntry | None:  # noqa: A002
        """Return an entry without looking at the disk; None if it is not known."""
        with self._lock:
            return self._entries.get(id)

    def read(self, id: str, memory: Memory = new_memory) -> tuple[EntryHead, dict[str, LoadedArray]] | None:  # noqa: A002
        """Read and verify an entry; if that fails, forget it and return None.

        Args:
            id: The entry.
            memory: Returns the buffer to read it into.
        """
        stored = self.get(id)
        if stored is None:
            return None
        path = entry_path(self.folder, id)
        try:
            head, arrays = read_entry(path, self.folder.name, self.budget, memory)
            if head.start != stored.head.start:
                raise damage_error(path, "does not start where its parent ends")
            _touch(path)
        except DamagedEntryError as error:
            discard(error, path)
            self.discard([id])
        except FileNotFoundError:
            self.discard([id])
        except OSError as error:
            _log.warning("%s is computed again, as it cannot be read: %s", printable_path(path), error.strerror)
            self._forget([id])
        else:
            return head, arrays
        return None

    def discard(self, ids: Iterable[str]) -> None:
        """Remove entries with all their descendants."""
        for forgotten in self._forget(ids):
            remove(entry_path(self.folder, forgotten))

    def set_budget(self, budget: int) -> None:
        """Change the bytes for all folders together, and remove entries until they fit.

        Raises:
            OSError: The folders cannot be read.
        """
        with self._room_lock:
            self._budget.limit = budget
            self._budget.make_room(0, "")

    def wipe(self) -> bool:
        """Remove everything in this folder and its siblings, and return whether all of it is gone."""
        # Under the lock, so that a file being written is renamed either before, and removed, or not at all.
        with self._lock:
            self._entries.clear()
            return disk_budget.wipe(self.folder.parent)

    def close(self) -> None:
        """Release the folder, and remove it if it is empty."""
        with self._lock:
            self._entries.clear()
        self._folder_lock.release()
        try:
            disk_budget.remove_empty(self.folder)
        except OSError as error:
            _log.warning("%s cannot be removed: %s", printable_path(self.folder), error.strerror)

    def write(self, job: Job) -> WriteResult:
        """Write an entry and return how that ended."""
        head, path = job.head, entry_path(self.folder, job.head.id)

        def commit(partial: Path) -> None:
            with self._lock:
                _touch(partial)
                partial.replace(path)
                self._entries[head.id] = StoredEntry(head, job.nbytes, time.time_ns())
                self._index_is_stale = True

        try:
            self._ensure_folder()
            if not job.replace and self._is_there(head, path):
                return WriteResult(head.id, True)
            if not self.writable:
                return WriteResult(head.id, False, "Nothing is written to disk for a while, as a write failed.")
            with self._room_lock:
                room = self._budget.make_room(job.nbytes, head.parent)
            if not room:
                return WriteResult(head.id, False, f"There is no room on disk for {format_size(job.nbytes)}.")
            write_file(path, job.parts, job.abandoned, commit)
        except CancelledError as error:
            return WriteResult(head.id, False, error.message)
        except FileNotFoundError:
            return WriteResult(head.id, False, f"{printable_path(path)} was removed by somebody while it was written.")
        except OSError as error:
            self._resume = time.monotonic() + self._pause
            message = f"{printable_path(path)} cannot be written: {error.strerror}."
            _log.warning("%s Nothing is written for %.0f s.", message, self._pause)
            return WriteResult(head.id, False, message)
        return WriteResult(head.id, True)

    def tidy(self) -> None:
        """Bring this folder's index up to date; the first time, clean up the other folders as well."""
        try:
            if not self._tidied:
                self._tidied = True
                disk_budget.tidy(self.folder.parent, self.folder)
                with self._room_lock:
                    self._budget.make_room(0, "")
            if self._index_is_stale:
                self._write_index()
        except OSError as error:
            _log.warning("%s cannot be brought in order: %s", printable_path(self.folder), error.strerror)

    def _write_index(self) -> None:
        with self._lock:
            self._index_is_stale = False
            entries = dict(self._entries)
        parts = pack_index(self.folder, entries)
        with self._room_lock:
            room = self._budget.make_room(file_size(parts), "")
        if room:
            path = self.folder / INDEX
            write_file(path, parts, threading.Event(), lambda partial: _rename(partial, path))

    def _ensure_folder(self) -> None:
        """Recreate the folder if it was removed, as anyone may do with a cache."""
        if not self._folder_lock.is_current():
            with self._lock:
                self._entries.clear()
            self._folder_lock.release()
            self._folder_lock = Lock(self.folder)
            self._folder_lock.share()

    def _is_there(self, head: EntryHead, path: Path) -> bool:
        """Return whether an entry is on disk, even if another process wrote it, and mark it as used."""
        try:
            _touch(path)
            nbytes = path.stat().st_size
        except FileNotFoundError:
            return False
        with self._lock:
            self._entries[head.id] = StoredEntry(head, nbytes, time.time_ns())
        return True

    def _evict(self, id: str) -> None:  # noqa: A002
        with self._lock:
            self._entries.pop(id, None)
            self._index_is_stale = True

    def _forget(self, ids: Iterable[str]) -> list[str]:
        """Forget entries with all their descendants, and return the ids of all of them, parents first."""
        with self._lock:
            children: dict[str, list[str]] = {}
            for stored in self._entries.values():
                children.setdefault(stored.head.parent, []).append(stored.head.id)
            forgotten = [entry for entry in ids if entry in self._entries]
            for entry in forgotten:
                forgotten.extend(children.get(entry, ()))  # The loop goes on over what is added here.
            for entry in forgotten:
                self._entries.pop(entry, None)
            self._index_is_stale = True
        return forgotten


def _touch(path: Path) -> None:
    """Mark a file as used now."""
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def _rename(partial: Path, path: Path) -> None:
    partial.replace(path)
