"""Checking for free disk space, and errors of writing to the disk."""

import errno
import shutil
from pathlib import Path

from sotto.errors import DownloadError
from sotto.store.printable import format_size, printable_path

# In bytes, left free for chats, settings and other programs, which may not even start on a full disk.
RESERVE = 256 << 20
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def require_room(root: Path, count: int) -> None:
    """Check that the disk of a folder has room for `count` more bytes and the reserve.

    Raises:
        DownloadError: It does not.
        OSError: The free space cannot be determined.
    """
    free = free_bytes(root)
    if count + RESERVE > free:
        needs = f"; the download needs {format_size(count)} more" if count else ""
        raise DownloadError(
            f"The disk of {printable_path(root)} has {format_size(free)} free{needs}, and {format_size(RESERVE)} "
            "should be left: free some space, then resume."
        )


def free_bytes(root: Path) -> int:
    """Return the number of free bytes on the disk of a folder."""
    return shutil.disk_usage(root).free


def write_error(root: Path, error: OSError) -> DownloadError:
    """Return an error that says why a file of a store could not be written."""
    if error.errno in _FULL:
        return DownloadError(f"The disk of {printable_path(root)} is full: free some space, then resume.")
    return DownloadError(f"{printable_path(root)} cannot be written: {error.strerror or error}.")
