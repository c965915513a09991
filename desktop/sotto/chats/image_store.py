"""The images of conversations as files: each once, under the digest of its contents, in a folder beside the database.

A file is whole and on the disk before any row of the database refers to it, and is deleted only after no row does. So a
process that is killed at any moment leaves at worst a file that nothing refers to; `sweep` deletes those.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from sotto.chats.chat_records import is_digest
from sotto.errors import SottoError
from sotto.paths import private_file, private_folder

LARGEST_IMAGE = 64 * 1000**2
"""Bytes of an image's file."""
GRACE_SECONDS = 3600.0
"""How old a file must be before it counts as left over: another process may be about to refer to a newer one."""
_PARTIAL = ".partial"


class MissingImageError(SottoError):
    """The file of an image is no longer there, or cannot be read."""


class ImageStore:
    """The folder of images beside a database. Images can be read on any thread.

    Attributes:
        folder: The folder, which need not exist yet.
    """

    def __init__(self, database: Path) -> None:
        """Use the folder beside the file `database`."""
        self.folder = database.parent / "images"

    def path(self, digest: str) -> Path:
        """Return where the image of a digest is, or would be."""
        return self.folder / digest[:2] / digest

    def keep(self, data: bytes) -> str:
        """Store an image, unless it is stored already, and return its digest; it is on the disk then.

        Raises:
            OSError: It cannot be written.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if path.exists() and path.stat().st_size == len(data):
            # It counts as new again, so that no other process sweeps it away before a row refers to it.
            os.utime(path)
            return digest
        private_folder(self.folder)
        private_folder(path.parent)
        partial = path.with_name(f"{path.name}{_PARTIAL}")
        private_file(partial)
        partial.write_bytes(data)
        _sync(partial)
        partial.replace(path)
        for folder in (path.parent, self.folder, self.folder.parent):
            _sync(folder)
        return digest

    def read(self, digest: str) -> bytes:
        """Return the contents of an image's file.

        Raises:
            MissingImageError: It is not there, or cannot be read.
        """
        try:
            return self.path(digest).read_bytes()
        except OSError as error:
            raise MissingImageError(
                f"The file of an image is missing ({self.path(digest)}): attach it again."
            ) from error

    def remove(self, digests: Collection[str]) -> None:
        """Delete the files of images to which no row refers any more."""
        for digest in digests:
            self._delete(self.path(digest))

    def sweep(self, used: Collection[str], grace: float = GRACE_SECONDS) -> None:
        """Delete all files but those of the digests `used`, and those that are newer than `grace` seconds."""
        before = time.time() - grace
        for path in self._files():
            if path.name not in used:
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_mtime <= before:
                        self._delete(path)

    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(path.stat().st_size for path in self._files())

    def _files(self) -> Iterator[Path]:
        """Yield the files that are Sotto's own by their names; anything else in the folder stays."""
        if self.folder.is_dir():
            for folder in self.folder.iterdir():
                for path in folder.iterdir() if folder.is_dir() else ():
                    if is_digest(path.name.removesuffix(_PARTIAL)):
                        yield path

    def _delete(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            # Only an empty folder goes.
            path.parent.rmdir()


def _sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
