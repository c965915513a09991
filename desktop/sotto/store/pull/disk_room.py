"""Whether the disk has room for what is to come."""

import errno
import shutil
from pathlib import Path

from sotto.errors import DownloadError
from sotto.store.printable import format_size, printable_path

# Is left for chats, settings and other programs: a disk that is full to the last byte keeps nothing from starting.
KEPT_FREE = 256 << 20
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def require_room(root: Path, count: int) -> None:
    """Make sure that `count` bytes more have room on the disk of a folder, and something is left.

    Raises:
        DownloadError: They have not.
        OSError: The disk does not tell.
    """
    free = free_bytes(root)
    if count + KEPT_FREE > free:
        needs = f"; the download needs {format_size(count)} more" if count else ""
        raise DownloadError(
            f"The disk of {printable_path(root)} has {format_size(free)} free{needs}, and {format_size(KEPT_FREE)} "
            "should be left: make room, and go on."
        )


def free_bytes(root: Path) -> int:
    """Return how many bytes there is room for on the disk of a folder."""
    return shutil.disk_usage(root).free


def not_written(root: Path, error: OSError) -> DownloadError:
    """Return what it means that a file of a store could not be written."""
    if error.errno in _FULL:
        return DownloadError(f"The disk of {printable_path(root)} is full: make room, and go on with what is here.")
    return DownloadError(f"{printable_path(root)} cannot be written: {error.strerror or error}.")
