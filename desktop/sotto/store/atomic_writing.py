"""Writing small files of our own."""

import contextlib
import os
import tempfile
from pathlib import Path

from sotto.paths import make_folder


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file as `write_there` does, in a folder that is made if it is missing.

    Raises:
        OSError: It cannot be written; nothing half-written stays.
    """
    make_folder(path.parent)
    write_there(path, content)


def write_there(path: Path, content: str | bytes) -> None:
    """Write a file that others find as it was before or whole, never in between, for its owner alone.

    Raises:
        OSError: It cannot be written; nothing half-written stays.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def sync(path: Path) -> None:
    """Wait until a file, or what a folder lists, is on the disk; OSError where that fails."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
