"""Making a file of another program ours without writing its bytes a second time, where the file system can."""

import ctypes
import errno
import fcntl
import hashlib
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import open_regular
from sotto.store.printable import printable_path

_CHUNK = 1 << 20
# The request of Linux to share the bytes of a file with another, as Btrfs, XFS and others do.
_FICLONE = 0x40049409
# Of a file on another disk, of another owner, or where the file system has no links.
_NO_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS})


class Sharing(StrEnum):
    """How a file became ours.

    In each case it stays ours when the other program deletes its own. A clone shares the disk space until either
    program changes its file; then the other keeps what it has. A linked file is one file with two names, so that a
    program that changes it in place, instead of replacing it, changes it for both.
    """

    CLONED = "cloned"
    LINKED = "linked"
    COPIED = "copied"


def share(source: Path, target: Path) -> Sharing | None:
    """Create a file that shares the bytes of another one: a clone, or else a second link to it.

    Args:
        source: The file; symbolic links are followed.
        target: The new file, which must not exist.

    Returns:
        How it shares them; None if the file system can do neither.

    Raises:
        OSError: The new file cannot be created.
    """
    real = os.path.realpath(source)
    if _clone(real, target):
        return Sharing.CLONED
    try:
        os.link(real, target)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        return None
    return Sharing.LINKED


def digest_of(path: Path, read: Callable[[int], None], copy_to: Path | None = None) -> str:
    """Return the sha256 of a file, 64 hex digits, and copy it meanwhile if that is wanted.

    Args:
        path: The file.
        read: Called with the number of bytes of each piece.
        copy_to: The copy, which must not exist.

    Raises:
        BrokenModelError: The file cannot be read, or was changed meanwhile.
        OSError: The copy cannot be written.
    """
    digest = hashlib.sha256()
    buffer = bytearray(_CHUNK)
    view = memoryview(buffer)
    with open_regular(path) as (file, _):
        before = os.fstat(file.fileno())
        copy = copy_to.open("xb", buffering=0) if copy_to else None
        try:
            while count := file.readinto(buffer):
                digest.update(view[:count])
                if copy is not None:
                    copy.write(view[:count])
                read(count)
            if copy is not None:
                os.fsync(copy.fileno())
        finally:
            if copy is not None:
                copy.close()
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise BrokenModelError(f"{printable_path(path)} was changed while it was read; try again.")
    return digest.hexdigest()


def _clone(source: str, target: Path) -> bool:
    """Create a clone of a file; return whether the file system can do that."""
    if sys.platform == "darwin":
        return _clonefile()(os.fsencode(source), os.fsencode(target), 0) == 0
    with open(source, "rb") as file, target.open("xb") as clone:  # noqa: PTH123
        try:
            fcntl.ioctl(clone.fileno(), _FICLONE, file.fileno())
        except OSError:
            cloned = False
        else:
            cloned = True
            os.fsync(clone.fileno())
    if not cloned:
        target.unlink()
    return cloned


@cache
def _clonefile() -> Callable[[bytes, bytes, int], int]:
    """Return the function of macOS that clones a file on APFS."""
    function = ctypes.CDLL(None, use_errno=True).clonefile
    function.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int)
    function.restype = ctypes.c_int
    return function
