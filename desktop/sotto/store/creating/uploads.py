"""Files that clients send to make models of: verified while they come, and blobs of the store once they are complete.

A blob that no model has named an hour later is deleted with the next upload, or by pruning.
"""

import hashlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from sotto.errors import InvalidRequestError, StoreError
from sotto.paths import make_folder
from sotto.store.atomic_writing import sync_to_disk
from sotto.store.printable import format_size, printable_path
from sotto.store.pull.disk_room import RESERVE, free_bytes
from sotto.store.removal import delete_unused_blobs, require_own_store
from sotto.store.upkeep.workspaces import workspace

GRACE_SECONDS = 3600
_PREFIX = "sha256-"
# Other programs fill disks too, so the free space is checked again after this many bytes.
_SPACE_CHECK_BYTES = 16 << 20


def uploaded(root: Path, digest: str) -> Path | None:
    """Return the blob of a digest in a store, or None."""
    path = root / "blobs" / f"{_PREFIX}{digest}"
    return path if path.is_file() else None


def delete_expired(root: Path) -> int:
    """Delete the blobs that no model names and that are older than an hour; return the number of bytes freed.

    Raises:
        OSError: A blob cannot be deleted.
    """
    folder = root / "blobs"
    limit = time.time() - GRACE_SECONDS
    paths = list(folder.glob(f"{_PREFIX}*")) if folder.is_dir() else []
    old = [path.name.removeprefix(_PREFIX) for path in paths if path.lstat().st_mtime < limit]
    return delete_unused_blobs(root, old) if old else 0


class Upload:
    """A blob that is being received. Use it in a `with` statement; without `finish` nothing remains of it."""

    def __init__(self, root: Path, digest: str) -> None:
        """Receive the blob with this digest, 64 hex digits, for the store in `root`."""
        require_own_store(root)
        self._root, self._digest = root, digest
        self._workspace = workspace(root)
        self._hashed = hashlib.sha256()
        self._unchecked = _SPACE_CHECK_BYTES

    def __enter__(self) -> Self:
        self._path = self._workspace.__enter__() / f"{_PREFIX}{self._digest}"
        self._file = self._path.open("xb", buffering=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._workspace.__exit__(kind, error, trace)

    def write(self, piece: bytes) -> None:
        """Append bytes.

        Raises:
            StoreError: The disk has no room for them.
            OSError: They cannot be written.
        """
        self._unchecked += len(piece)
        if self._unchecked >= _SPACE_CHECK_BYTES:
            self._unchecked = 0
            if (free := free_bytes(self._root)) < RESERVE + len(piece):
                raise StoreError(
                    f"The disk of {printable_path(self._root)} has {format_size(free)} free, and "
                    f"{format_size(RESERVE)} should be left: free some space, then upload the file again."
                )
        rest = memoryview(piece)
        while rest:
            rest = rest[self._file.write(rest) :]
        self._hashed.update(piece)

    def finish(self) -> None:
        """Put the blob into the store.

        Raises:
            InvalidRequestError: It has another digest.
            OSError: It cannot be written.
        """
        if (found := self._hashed.hexdigest()) != self._digest:
            raise InvalidRequestError(f'digest mismatch, expected "sha256:{self._digest}", got "sha256:{found}"')
        os.fsync(self._file.fileno())
        self._path.chmod(0o644)
        blobs = self._root / "blobs"
        make_folder(blobs)
        self._path.replace(blobs / self._path.name)
        sync_to_disk(blobs)
