"""Atomic writes of Sotto's own small files."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sotto.paths import make_folder


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file as `replace_atomically` does, and create its folder if it is missing.

    Raises:
        OSError: It cannot be written; no partial file remains.
    """
    make_folder(path.parent)
    replace_atomically(path, content)


def replace_atomically(path: Path, content: str | bytes | Iterator[bytes]) -> None:
    """Replace or create a file in one step, readable by its owner alone; its folder must exist.

    What an iterator yields is written as it comes.

    Readers find either the old or the new content, never a part of it.

    Raises:
        OSError: It cannot be written; no partial file remains.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, Iterator):
                file.writelines(content)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def sync_to_disk(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk.

    Raises:
        OSError: It cannot be flushed.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
