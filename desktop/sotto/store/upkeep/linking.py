"""Making a file of another program ours without writing its bytes a second time, where the file system can."""

import ctypes
import errno
import fcntl
import hashlib
import os
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from enum import StrEnum
from functools import cache
from io import BufferedWriter
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import open_regular
from sotto.store.printable import printable_path

_CHUNK = 1 << 20
# Of clones and copies; the mode of a linked file is the other program's, too.
_MODE = 0o644
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


def take(
    source: Path, target: Path, read: Callable[[int], None], before_copy: Callable[[], None] = lambda: None
) -> tuple[str, Sharing]:
    """Make a file ours, and return its sha256 and how it became ours; without success nothing remains of it.

    Args:
        source: The file; symbolic links are followed.
        target: The new file, which must not exist.
        read: Called with the number of bytes of each piece that was read; may raise an error to stop.
        before_copy: Called before it is copied, for want of a way to share it; may raise an error, too.

    Raises:
        BrokenModelError: The file cannot be read, or was changed meanwhile.
        OSError: The new file cannot be written.
    """
    how = share(source, target)
    if how is None:
        before_copy()
    try:
        return (
            (digest_of(source, read, target), Sharing.COPIED) if how is None else (_digest(target, source, read), how)
        )
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def share(source: Path, target: Path) -> Sharing | None:
    """Create a file that shares the bytes of another one: a clone, which all may read, or else a second link to it.

    Args:
        source: The file; symbolic links are followed.
        target: The new file, which must not exist.

    Returns:
        How it shares them; None if the file system can do neither.

    Raises:
        BrokenModelError: There is no such file.
        OSError: The new file cannot be created.
    """
    real = os.path.realpath(source)
    with open_regular(source):
        # Of a pipe or a device there could be a link, too.
        pass
    if _clone(real, target):
        target.chmod(_MODE)
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
        copy_to: The copy, which must not exist; all may read it.

    Raises:
        BrokenModelError: The file cannot be read, or was changed meanwhile.
        OSError: The copy cannot be written.
    """
    if copy_to is None:
        return _digest(path, path, read)
    with copy_to.open("xb") as copy:
        os.fchmod(copy.fileno(), _MODE)
        digest = _digest(path, path, read, copy)
        copy.flush()
        os.fsync(copy.fileno())
    return digest


def _digest(path: Path, named: Path, read: Callable[[int], None], copy: BufferedWriter | None = None) -> str:
    """Return the sha256 of a file that errors name as another, and write its bytes into a copy, if there is one."""
    digest = hashlib.sha256()
    with closing(_pieces(path, named)) as pieces:
        for piece in pieces:
            digest.update(piece)
            if copy is not None:
                copy.write(piece)
            read(len(piece))
    return digest.hexdigest()


def _pieces(path: Path, named: Path) -> Generator[memoryview]:
    """Yield the bytes of a file, each piece in the memory of the last one; errors of who takes them are not its own."""
    view = memoryview(bytearray(_CHUNK))
    with open_regular(path) as (file, size):
        before = os.fstat(file.fileno())
        # Not to the end, as the file may grow as fast as it is read.
        while size > 0 and (count := file.readinto(view[: min(size, _CHUNK)])):
            size -= count
            yield view[:count]
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise BrokenModelError(f"{printable_path(named)} was changed while it was read; try again.")


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
