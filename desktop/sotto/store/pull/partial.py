"""A blob that is being written, and what its digest is so far."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.store.atomic_writing import sync_to_disk
from sotto.store.pull.pull_errors import WrongBytesError
from sotto.store.pull.staging import Staging
from sotto.store.pull.threads import in_thread
from sotto.store.sources.manifest import Layer

_CHUNK = 1 << 20


class Partial:
    """A blob on its way.

    Attributes:
        layer: What it is to become.
        have: Bytes that are here; those of an earlier run count once `read` has read them.
    """

    def __init__(self, staging: Staging, layer: Layer) -> None:
        self.layer = layer
        self.have = 0
        self._path = staging.part(layer.digest)
        self._whole = staging.whole(layer.digest)
        self._digest = hashlib.sha256()
        self._file = -1

    def is_begun(self) -> bool:
        """Return whether an earlier run left something."""
        return self._path.exists()

    async def read(self) -> None:
        """Take in what an earlier run left; more of it than there should be is worth nothing.

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
        """Hold the file open, which is made if it is missing; OSError where that is not possible."""
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            # Whatever lies behind what was read or written was never taken into the digest.
            if self.have:
                os.ftruncate(self._file, self.have)
                os.lseek(self._file, self.have, os.SEEK_SET)
            yield
        finally:
            os.close(self._file)
            self._file = -1

    def restart(self) -> None:
        """Forget what is here."""
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._digest = hashlib.sha256()
        self.have = 0

    def write(self, piece: bytes) -> None:
        """Append bytes.

        Raises:
            WrongBytesError: There are more than the blob has.
            OSError: They cannot be written; then none of them are here.
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
        """Give the file its name once it is on the disk.

        Raises:
            WrongBytesError: It is not what its digest says.
            OSError: It cannot be written.
        """
        if self._digest.hexdigest() != self.layer.digest:
            raise WrongBytesError(f"What came for sha256:{self.layer.digest} has another digest, so it is of no use.")
        await in_thread(lambda: sync_to_disk(self._path))
        self._path.replace(self._whole)


async def has_digest(path: Path, digest: str, found: Callable[[int], None]) -> bool:
    """Return whether a file has a digest, and tell how much was read."""
    actual = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_CHUNK):
            actual.update(piece)
            found(len(piece))
            await asyncio.sleep(0)
    return actual.hexdigest() == digest
