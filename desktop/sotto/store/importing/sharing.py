"""Taking over a whole file without writing its bytes a second time, where the file system can."""

import contextlib
import fcntl
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import open_regular, read_exactly
from sotto.store.printable import printable_path

_CHUNK = 1 << 20
# The ioctl that shares the bytes of a file on Btrfs, XFS and others.
_FICLONE = 0x40049409


def take_over(source: Path, target: Path, read: Callable[[int], None]) -> str:
    """Create a file with the bytes of another one, and return its digest.

    It is a clone, which shares the bytes until either is changed; where there are no clones a second link to the same
    file; and on another file system a copy.

    Args:
        source: The file.
        target: The new file, which must not exist.
        read: Called with the number of bytes that were read.

    Raises:
        BrokenModelError: The source cannot be read, or was changed meanwhile.
        OSError: The new file cannot be written.
    """
    real = Path(os.path.realpath(source))
    with open_regular(real) as (file, size):
        before = os.fstat(file.fileno())
        if not _clone(file.fileno(), target):
            with contextlib.suppress(OSError):
                target.hardlink_to(real)
        digest = hashlib.sha256()
        copy = None if target.exists() else target.open("xb", buffering=0)
        with copy or contextlib.nullcontext():
            # Not to the end, as the file may grow as fast as it is read.
            for start in range(0, size, _CHUNK):
                content = read_exactly(file, min(_CHUNK, size - start), source)
                digest.update(content)
                if copy is not None:
                    copy.write(content)
                read(len(content))
            if copy is not None:
                os.fsync(copy.fileno())
        after = os.fstat(file.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        target.unlink()
        raise BrokenModelError(f"{printable_path(source)} was changed while it was imported; import it again.")
    return digest.hexdigest()


def _clone(handle: int, target: Path) -> bool:
    """Share a file's bytes with a new file; return whether the file system can do that."""
    if sys.platform != "linux":
        return False
    with target.open("xb") as file:
        try:
            fcntl.ioctl(file.fileno(), _FICLONE, handle)
        except OSError:
            cloned = False
        else:
            cloned = True
    if not cloned:
        target.unlink()
    return cloned
