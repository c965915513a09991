"""A thread that writes entries to disk, so that the computing thread never waits for it.

Buffers may only be released on the thread that created them. So when a file has been written or given up, its job waits
until that thread drains it.
"""

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sotto.engine.caches.disk_file import checksum, file_size
from sotto.engine.caches.disk_folder import PARTIAL, remove
from sotto.engine.caches.disk_format import EntryHead
from sotto.errors import CancelledError

# Bytes written between two checks of whether the entry is still wanted.
_WRITE_BYTES = 8 << 20
# Seconds that the thread may take to end once its jobs are abandoned.
_ABANDON_TIMEOUT_S = 5.0
_file_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The outcome of writing an entry.

    Attributes:
        id: The entry's id.
        ok: Whether it is on disk.
        message: One sentence saying why it is not; empty otherwise.
    """

    id: str
    ok: bool
    message: str = ""


@dataclass(slots=True, eq=False)
class Job:
    """An entry to be written.

    Attributes:
        head: Which tokens the entry holds.
        parts: The bytes of its file without the checksum; emptied when the job is drained.
        replace: Whether to write it even if it is on disk already.
        abandoned: Set when it no longer needs to be written.
        result: How it ended; meaningless before that.
        nbytes: Size of its file in bytes.
    """

    head: EntryHead
    parts: list[memoryview]
    replace: bool
    abandoned: threading.Event = field(default_factory=threading.Event)
    result: WriteResult = field(init=False)
    nbytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.nbytes = file_size(self.parts)
        self.result = WriteResult(self.head.id, False)


class Writer:
    """A thread that writes jobs in order, and tidies up when it has had none for a while."""

    def __init__(
        self,
        write: Callable[[Job], WriteResult],
        idle: Callable[[], None],
        notify: Callable[[], None],
        *,
        delay: float,
        max_bytes: int,
    ) -> None:
        """Start the thread.

        Args:
            write: Writes one job and returns how that ended.
            idle: Called on the thread when it starts, after `delay` seconds without a job, and before it ends.
            notify: Called on the thread when there is something to drain.
            delay: Seconds without a job until `idle` is called.
            max_bytes: Most bytes that may wait at once to be written or drained.
        """
        self._write = write
        self._idle = idle
        self._notify = notify
        self._delay = delay
        self._max_bytes = max_bytes
        self._held = 0
        self._waiting: deque[Job] = deque()
        self._finished: deque[Job] = deque()
        self._busy: Job | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="disk tier", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> bool:
        """Queue a job and return whether it was accepted: not if too many bytes would wait, nor after `close`."""
        with self._changed:
            if self._closed or self._held + job.nbytes > self._max_bytes:
                return False
            self._held += job.nbytes
            self._waiting.append(job)
            self._changed.notify_all()
        return True

    def is_queued(self, id: str) -> bool:  # noqa: A002
        """Return whether an entry is queued or being written."""
        with self._changed:
            return any(job.head.id == id for job in self._unfinished())

    def drain(self) -> list[WriteResult]:
        """Release the buffers of all finished jobs, and return how they ended."""
        with self._changed:
            finished = list(self._finished)
            self._finished.clear()
            self._held -= sum(job.nbytes for job in finished)
        for job in finished:
            job.parts.clear()
        return [job.result for job in finished]

    def flush(self, timeout: float | None) -> bool:
        """Wait until everything queued is written; False if that takes longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and self._busy is None, timeout)

    def close(self, timeout: float) -> bool:
        """Accept no more jobs, write those queued for at most `timeout` seconds, and abandon the rest.

        Returns:
            Whether the thread has ended; it has not if the disk does not respond at all.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)
        self.abandon()
        self._thread.join(_ABANDON_TIMEOUT_S)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """Abandon everything queued now, including the job that is being written."""
        with self._changed:
            for job in self._unfinished():
                job.abandoned.set()

    def _unfinished(self) -> list[Job]:
        return [*([self._busy] if self._busy else []), *self._waiting]

    def _run(self) -> None:
        try:
            self._idle()
            while self._next():
                pass
            self._idle()
        finally:
            # Jobs are left here only after a bug in this thread. Nobody must wait for them forever.
            with self._changed:
                self._closed = True
                for job in self._unfinished():
                    job.result = WriteResult(job.head.id, False, "The disk cache stopped because of an error in it.")
                    self._finished.append(job)
                self._waiting.clear()
                self._busy = None
                self._changed.notify_all()

    def _next(self) -> bool:
        """Write the next job, or call `idle` after a while without one; return False once closed and empty."""
        with self._changed:
            woken = self._changed.wait_for(lambda: self._waiting or self._closed, self._delay)
            if not woken:
                job = None
            elif self._waiting:
                job = self._busy = self._waiting.popleft()
            else:
                return False
        if job is None:
            self._idle()
            return True
        result = self._write(job)
        with self._changed:
            job.result = result
            self._finished.append(job)
            self._busy = None
            self._changed.notify_all()
        self._notify()
        return True


def write_file(
    path: Path, parts: Sequence[memoryview], abandoned: threading.Event, commit: Callable[[Path], None]
) -> None:
    """Write a file so that all of it is there or nothing, even if the program or the machine stops meanwhile.

    Args:
        path: The file.
        parts: Its bytes without the checksum.
        abandoned: Set when it no longer needs to be written.
        commit: Renames the path it is given to `path`; called when all bytes are on disk.

    Raises:
        CancelledError: `abandoned` was set.
        OSError: It cannot be written.
    """
    partial = path.with_name(f"{path.stem}.{os.getpid()}.{next(_file_numbers)}{PARTIAL}")
    file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            for part in parts:
                _write_all(file, part, abandoned)
            _write_all(file, memoryview(checksum(parts)), abandoned)
            os.fsync(file)
        finally:
            os.close(file)
        commit(partial)
    except BaseException:
        remove(partial)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Write the names of a folder's files to disk, so that a rename survives a crash of the machine."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write_all(file: int, part: memoryview, abandoned: threading.Event) -> None:
    at = 0
    while at < len(part):
        if abandoned.is_set():
            raise CancelledError("The entry is not wanted any more.")
        at += os.write(file, part[at : at + _WRITE_BYTES])
