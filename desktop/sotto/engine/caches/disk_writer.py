"""Writing entries on a thread of its own, so that the one that computes never waits for a disk.

The buffers to write may only be released on the thread that made them. So each one comes back: after
its file is written, or will not be, it waits until it is drained.
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

_PIECE = 8 << 20
# Seconds until an idle writer ends.
_GRACE = 5.0
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of an entry that was put.

    Attributes:
        id: The entry's.
        ok: Whether it is on disk.
        message: One sentence why it is not; empty otherwise.
    """

    id: str
    ok: bool
    message: str = ""


@dataclass(slots=True, eq=False)
class Job:
    """An entry to be written.

    Attributes:
        head: What the entry holds.
        parts: The bytes of its file without the checksum; emptied when the job is drained.
        replace: Whether it is written also where it is on disk already.
        abandoned: Set when it need not be written any more.
        done: How it ended; meaningless before.
        nbytes: Bytes of its file.
    """

    head: EntryHead
    parts: list[memoryview]
    replace: bool
    abandoned: threading.Event = field(default_factory=threading.Event)
    done: WriteResult = field(init=False)
    nbytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.nbytes = file_size(self.parts)
        self.done = WriteResult(self.head.id, False)


class Writer:
    """A thread that writes jobs in their order.

    Between jobs, and where there has been none for a while, it runs what else belongs off the computing thread.
    """

    def __init__(
        self,
        write: Callable[[Job], WriteResult],
        idle: Callable[[], None],
        notify: Callable[[], None],
        *,
        delay: float,
        most: int,
    ) -> None:
        """Start the thread.

        Args:
            write: Writes one job and says how that ended.
            idle: Called first of all, after `delay` seconds without a job, and when all is done at the end.
            notify: Called when there is something to drain.
            delay: Seconds.
            most: Bytes that may wait at once, to be written or to be drained.
        """
        self._write = write
        self._idle = idle
        self._notify = notify
        self._delay = delay
        self._most = most
        self._held = 0
        self._waiting: deque[Job] = deque()
        self._finished: deque[Job] = deque()
        self._busy: Job | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="disk tier", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> bool:
        """Queue a job; False where it would have too much wait, or after the end."""
        with self._changed:
            if self._closed or self._held + job.nbytes > self._most:
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
        """Let go of the buffers of all jobs that ended, and return how they did."""
        with self._changed:
            finished = list(self._finished)
            self._finished.clear()
            self._held -= sum(job.nbytes for job in finished)
        for job in finished:
            job.parts.clear()
        return [job.done for job in finished]

    def flush(self, timeout: float | None) -> bool:
        """Wait until nothing waits to be written; False where that took longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and self._busy is None, timeout)

    def close(self, timeout: float) -> bool:
        """Take no more jobs, write what waits, for at most `timeout` seconds, and abandon the rest.

        Returns:
            Whether the thread has ended; not where the disk does not answer at all.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)
        self.abandon()
        self._thread.join(_GRACE)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """Write nothing of what waits now, and stop in the middle of what is being written."""
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
            # Reached with jobs left only by an error in here: those who wait for them must not wait for ever.
            with self._changed:
                self._closed = True
                for job in self._unfinished():
                    job.done = WriteResult(job.head.id, False, "The disk cache stopped because of an error in it.")
                    self._finished.append(job)
                self._waiting.clear()
                self._busy = None
                self._changed.notify_all()

    def _next(self) -> bool:
        """Write the next job, or tidy up when there is none; return False at the end."""
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
        done = self._write(job)
        with self._changed:
            job.done = done
            self._finished.append(job)
            self._busy = None
            self._changed.notify_all()
        self._notify()
        return True


def write_file(
    path: Path, parts: Sequence[memoryview], abandoned: threading.Event, commit: Callable[[Path], None]
) -> None:
    """Write a file so that there is the whole of it or nothing, whenever the program or the machine stops.

    Args:
        path: Where it goes.
        parts: Its bytes without the checksum.
        abandoned: Set when it need not be written any more.
        commit: Renames what it is given to `path`; by then all of it is on disk.

    Raises:
        CancelledError: `abandoned` was set.
        OSError: It cannot be written.
    """
    partial = path.with_name(f"{path.stem}.{os.getpid()}.{next(_numbers)}{PARTIAL}")
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
    _flush_names(path.parent)


def _flush_names(folder: Path) -> None:
    """Make the names in a folder last."""
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
        at += os.write(file, part[at : at + _PIECE])
