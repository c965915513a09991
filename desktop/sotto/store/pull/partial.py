"""A partly downloaded blob on the disk, with its running digest."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.store.atomic_writing import sync_to_disk
from sotto.store.pull.pull_errors import WrongBytesError
from sotto.store.pull.staging import Staging
from sotto.store.pull.threads import run_in_thread
from sotto.store.sources.manifest import Layer

_CHUNK = 1 << 20


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
        self._digest = hashlib.sha256()
        self._file = -1

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
            while piece := os.read(self._file, _CHUNK):
                self._digest.update(piece)
                self.have += len(piece)
                await asyncio.sleep(0)

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
            os.close(self._file)
            self._file = -1

    def restart(self) -> None:
        """Discard all bytes."""
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._digest = hashlib.sha256()
        self.have = 0

    def write(self, piece: bytes) -> None:
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
        self._digest.update(piece)
        self.have += len(piece)

    async def finish(self) -> None:
        """Verify the digest, flush the file to the disk and give it its final name.

        Raises:
            WrongBytesError: The digest differs.
            OSError: It cannot be written.
        """
        if self._digest.hexdigest() != self.layer.digest:
            raise WrongBytesError(
                f"The data received for sha256:{self.layer.digest} has another digest and was discarded."
            )
        await run_in_thread(lambda: sync_to_disk(self._path))
        self._path.replace(self._final_path)


async def has_digest(path: Path, digest: str, on_read: Callable[[int], None]) -> bool:
    """Return whether a file has a digest, calling `on_read` with the size of each piece read."""
    actual = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_CHUNK):
            actual.update(piece)
            on_read(len(piece))
            await asyncio.sleep(0)
    return actual.hexdigest() == digest
