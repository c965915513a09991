"""Writing blobs: their pieces one after another, hashed on the way, several blobs at once."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from sotto.errors import BrokenModelError, CancelledError
from sotto.store.atomic_writing import sync_to_disk
from sotto.store.files import open_regular, read_exactly
from sotto.store.importing.import_plan import Computed, PlannedBlob, Segment
from sotto.store.printable import printable_path

_CHUNK = 1 << 20
# More would not be faster, as a disk and two cores are enough for copying.
_MOST_THREADS = 4
_SYNCING_THREADS = 2

Buffer = bytes | memoryview
# Yields, row by row, the bytes of each output of a computed tensor, with the bytes of the source that were read.
Compute = Callable[[Computed], Iterator[tuple[tuple[Buffer, ...], int]]]


@dataclass(frozen=True, slots=True)
class Task:
    """A blob to write.

    Attributes:
        number: Its place in the plan.
        blob: What it consists of.
        path: The file to create.
    """

    number: int
    blob: PlannedBlob
    path: Path


class Watcher(Protocol):
    """Follows the writing of blobs; its methods are called by several threads, one at a time."""

    def begun(self, number: int) -> None:
        """Note that a blob was begun."""

    def read(self, count: int) -> None:
        """Count more bytes of the source that were read; may raise CancelledError."""

    def written(self, number: int, digest: str) -> None:
        """Note that a blob is complete, and on the disk."""


Write = Callable[[Sequence[Task], Watcher], None]


def copy_blobs(tasks: Sequence[Task], watcher: Watcher) -> None:
    """Write blobs of which nothing has to be computed, as `write_blobs` does."""
    write_blobs(tasks, watcher, _compute_nothing, min(os.cpu_count() or 1, _MOST_THREADS))


def write_blobs(tasks: Sequence[Task], watcher: Watcher, compute: Compute, threads: int) -> None:
    """Write blobs.

    Args:
        tasks: The blobs.
        watcher: Follows the progress.
        compute: Computes tensors; called on several threads at once.
        threads: How many blobs to write at once.

    Raises:
        CancelledError: The watcher raised it.
        BrokenModelError: A file of the source cannot be read, or was changed.
        OSError: A blob cannot be written.
    """
    lock, failed = threading.Lock(), threading.Event()
    pending = iter(tasks)

    def read(count: int) -> None:
        if failed.is_set():
            raise CancelledError("Another blob could not be written.")
        with lock:
            watcher.read(count)

    def work() -> None:
        while not failed.is_set():
            with lock:
                task = next(pending, None)
                if task is None:
                    return
                watcher.begun(task.number)
            digest = write_blob(task.blob, task.path, compute, read)
            # Elsewhere, as a disk takes about as long to write a blob as it takes to compute the next one.
            syncing.append(disk.submit(noting_failure, partial(sync, task, digest)))

    def sync(task: Task, digest: str) -> None:
        sync_to_disk(task.path)
        with lock:
            watcher.written(task.number, digest)

    def noting_failure(run: Callable[[], None]) -> None:
        try:
            run()
        except BaseException:
            failed.set()
            raise

    syncing: list[Future[None]] = []
    with ThreadPoolExecutor(_SYNCING_THREADS, "sync") as disk, ThreadPoolExecutor(threads, "blobs") as pool:
        working = [pool.submit(noting_failure, work) for _ in range(threads)]
    errors = [error for future in (*working, *syncing) if (error := future.exception())]
    # Threads that only stopped because another one failed say nothing about why.
    errors.sort(key=lambda error: isinstance(error, CancelledError))
    if errors:
        raise errors[0]


def write_blob(blob: PlannedBlob, path: Path, compute: Compute, read: Callable[[int], None]) -> str:
    """Write a blob to a new file, and return its digest.

    Args:
        blob: What it consists of.
        path: The file, which must not exist.
        compute: Computes tensors.
        read: Called with the number of bytes of the source that were read.
    """
    digest = hashlib.sha256()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(handle, "wb", buffering=0) as file:  # noqa: PTH123

        def write(content: Buffer) -> None:
            digest.update(content)
            rest = memoryview(content).cast("B")
            while rest:
                rest = rest[file.write(rest) :]

        for piece in blob.pieces:
            if isinstance(piece, bytes):
                write(piece)
            elif isinstance(piece, Segment):
                _copy(piece, write, read)
            else:
                _write_computed(piece, write, compute, read)
        if file.tell() != blob.size:
            raise BrokenModelError(
                f"{printable_path(path)} has {file.tell()} bytes where {blob.size} were planned; import it again."
            )
    return digest.hexdigest()


def _copy(segment: Segment, write: Callable[[Buffer], None], read: Callable[[int], None]) -> None:
    with open_regular(segment.path) as (file, _):
        file.seek(segment.start)
        for start in range(segment.start, segment.end, _CHUNK):
            content = read_exactly(file, min(_CHUNK, segment.end - start), segment.path)
            write(content)
            read(len(content))


def _write_computed(
    tensor: Computed, write: Callable[[Buffer], None], compute: Compute, read: Callable[[int], None]
) -> None:
    """Write the first output while it is computed; the others, which are small, follow it."""
    later: list[list[Buffer]] = [[] for _ in tensor.outputs()[1:]]
    for (first, *others), count in compute(tensor):
        write(first)
        for pieces, content in zip(later, others, strict=True):
            pieces.append(bytes(content))
        read(count)
    for pieces in later:
        for content in pieces:
            write(content)


def _compute_nothing(tensor: Computed) -> Iterator[tuple[tuple[Buffer, ...], int]]:
    raise AssertionError(f"A tensor of shape {tensor.shape} should be computed by the engine.")
