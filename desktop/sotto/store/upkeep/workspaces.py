"""Folders in which models are put together before they are installed; each belongs to one running process.

A workspace is a folder below `working` in the store, locked by the process that uses it. What a process that was killed
leaves there is no longer locked, so that `sotto.store.upkeep.pruning` can delete it.
"""

import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.paths import make_folder
from sotto.store.upkeep.lock import LOCK, adding

WORKING = "working"


@contextmanager
def workspace(root: Path) -> Iterator[Path]:
    """Yield a new folder on the disk of the store in `root`, which is deleted afterwards.

    Raises:
        OSError: The store cannot be written.
    """
    folder = root / WORKING / uuid.uuid4().hex
    # Nobody prunes the folder before it is locked.
    with adding(root):
        make_folder(folder)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        with adding(root):
            shutil.rmtree(folder)
        os.close(handle)


def abandoned_workspaces(root: Path) -> list[Path]:
    """Return the workspaces of processes that have ended; the caller has the lock of the store for deleting.

    Raises:
        OSError: They cannot be read.
    """
    parent = root / WORKING
    if not parent.is_dir():
        return []
    return [folder for folder in parent.iterdir() if not _is_in_use(folder)]


def _is_in_use(folder: Path) -> bool:
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        # It was killed before it had locked the folder, or while it was deleting it.
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)
