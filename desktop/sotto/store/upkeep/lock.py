"""The lock of a store, without which one process could delete a blob that another has just found present.

Those who add a manifest that names blobs which are there already share the lock from looking for the blobs until the
manifest is in place; those who delete blobs or folders have it alone from reading the manifests on. Both are short, so
nobody has to wait for long: what takes time, such as downloading and copying, happens in folders of its own before.
The kernel releases the lock of a process that ends, however it ends. Nobody may take it twice at a time.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.paths import make_folder

LOCK = "lock"


@contextmanager
def adding(root: Path) -> Iterator[None]:
    """Hold the lock of the store in `root` together with others who add models.

    Raises:
        OSError: The store cannot be written.
    """
    with _holding(root, fcntl.LOCK_SH):
        yield


@contextmanager
def deleting(root: Path) -> Iterator[None]:
    """Hold the lock of the store in `root` alone.

    Raises:
        OSError: The store cannot be written.
    """
    with _holding(root, fcntl.LOCK_EX):
        yield


@contextmanager
def _holding(root: Path, how: int) -> Iterator[None]:
    make_folder(root)
    handle = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)
