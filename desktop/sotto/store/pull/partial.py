"""A partly downloaded blob on the disk, with its running digest.

The digest is computed on another thread, of what has been written: hashing and receiving take about as long, and
neither needs Python's lock for most of its time.
"""

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.store.atomic_writing import sync_to_disk
from sotto.store.pull.pull_errors import WrongBytesError
from sotto.store.pull.staging import Staging
from sotto.store.pull.threads import run_in_thread
from sotto.store.sources.manifest import Layer

_CHUNK = 1 << 20
# In bytes: how much is hashed at once, and how much may wait for that before no more is received.
_STEP, _MAX_BEHIND = 4 << 20, 64 << 20


class Partial:
    """A blob that is being downloaded.

    Attributes:
        layer: The blob's digest and final size.
        have: Bytes that are on the disk; those of an earlier run count after `load`.
    """

    def __init__(self, staging: Staging, layer: Layer) -> None:
        self.layer = layer
        self.have = 0
        self._path = staging.partial_file(layer.digest)
        self._final_path = staging.blob_file(layer.digest)
        # Guards the handle and the digest against the thread that hashes.
        self._lock = threading.Lock()
        self._file = -1
        self._digest = hashlib.sha256()
        self._hashed = 0
        self._hashing: asyncio.Task[None] | None = None

    def exists(self) -> bool:
        """Return whether an earlier run left a file."""
        return self._path.exists()

    async def load(self) -> None:
        """Add the bytes that an earlier run left to the digest; a file that is too long is emptied.

        Raises:
            OSError: It cannot be read.
        """
        with self.open():
            if os.fstat(self._file).st_size > self.layer.size:
                self.restart()
            self.have = os.fstat(self._file).st_size
            await self._hash(self.have)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep the file open, creating it if it is missing; OSError if that fails."""
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            # Bytes after the first `have` are not part of the digest.
            if self.have:
                os.ftruncate(self._file, self.have)
                os.lseek(self._file, self.have, os.SEEK_SET)
            yield
        finally:
            with self._lock:
                os.close(self._file)
                self._file = -1

    def restart(self) -> None:
        """Discard all bytes."""
        with self._lock:
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            self._digest = hashlib.sha256()
            self._hashed = self.have = 0

    async def write(self, piece: bytes) -> None:
        """Append bytes.

        Raises:
            WrongBytesError: The blob would exceed its size.
            OSError: They cannot be written; then none of them is kept.
        """
        if self.have + len(piece) > self.layer.size:
            raise WrongBytesError(f"More than the {self.layer.size} bytes of sha256:{self.layer.digest} came.")
        rest = memoryview(piece)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            os.ftruncate(self._file, self.have)
            os.lseek(self._file, self.have, os.SEEK_SET)
            raise
        self.have += len(piece)
        if self.have - self._hashed >= _STEP and (self._hashing is None or self._hashing.done()):
            self._hashing = asyncio.create_task(self._hash(self.have))
            # What goes wrong goes wrong again in `finish`.
            self._hashing.add_done_callback(lambda task: task.cancelled() or task.exception())
        if self.have - self._hashed >= _MAX_BEHIND and self._hashing is not None:
            await self._hashing

    async def finish(self) -> None:
        """Verify the digest, flush the file to the disk and give it its final name.

        Raises:
            WrongBytesError: The digest differs.
            OSError: It cannot be read or written.
        """
        await self._hash(self.have)
        if self._digest.hexdigest() != self.layer.digest:
            raise WrongBytesError(
                f"The data received for sha256:{self.layer.digest} has another digest and was discarded."
            )
        await run_in_thread(lambda: sync_to_disk(self._path))
        self._path.replace(self._final_path)

    async def _hash(self, end: int) -> None:
        """Add what is on the disk up to byte `end` to the digest, on another thread."""
        await run_in_thread(lambda: self._hash_up_to(end))

    def _hash_up_to(self, end: int) -> None:
        """Add bytes to the digest until `end` is reached or the file is closed or emptied."""
        buffer = memoryview(bytearray(_CHUNK))
        going = True
        while going:
            with self._lock:
                count = min(_CHUNK, end - self._hashed)
                going = self._file >= 0 and count > 0 and self._add(buffer[:count])

    def _add(self, buffer: memoryview) -> bool:
        """Add the next bytes of the file to the digest, as many as fit into a buffer; return whether there were any."""
        count = os.preadv(self._file, [buffer], self._hashed)
        self._digest.update(buffer[:count])
        self._hashed += count
        return count > 0


async def has_digest(path: Path, digest: str, on_read: Callable[[int], None]) -> bool:
    """Return whether a file has a digest, calling `on_read` with the size of each piece read."""
    actual = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_CHUNK):
            actual.update(piece)
            on_read(len(piece))
            await asyncio.sleep(0)
    return actual.hexdigest() == digest
