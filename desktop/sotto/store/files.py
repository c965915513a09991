"""Safe reading of untrusted files: regular files only, never outside their store, never more than a given size."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.printable import format_size, printable_path

# Without O_NONBLOCK, opening a pipe blocks until it has a writer.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def open_regular(path: str | Path) -> Iterator[tuple[FileIO, int]]:
    """Open a regular file for reading, and yield it with its size in bytes.

    Raises:
        BrokenModelError: It is missing, is not a regular file, or may not be read.
    """
    try:
        # Checked before it is opened, because merely opening a device can have effects.
        require_regular(path, os.stat(path))  # noqa: PTH116
        file = FileIO(os.open(path, _FLAGS))
    except (OSError, ValueError) as error:
        raise read_error(path, error) from error
    with file:
        try:
            status = os.fstat(file.fileno())
            require_regular(path, status)
            yield file, status.st_size
        except OSError as error:
            raise read_error(path, error) from error


def read_all(path: Path, limit: int, what: str) -> bytes:
    """Return a file's bytes.

    Args:
        path: The file.
        limit: The largest size in bytes that such a file may have.
        what: The kind of file, for error messages, for example `a manifest`.

    Raises:
        BrokenModelError: It cannot be read, is not a regular file, or has more than `limit` bytes.
    """
    with open_regular(path) as (file, size):
        if size > limit:
            raise BrokenModelError(
                f"{printable_path(path)} is {format_size(size)}, which is too much for {what}; "
                f"{format_size(limit)} is the most."
            )
        return read_exactly(file, size, path)


def read_exactly(file: FileIO, count: int, path: str | Path) -> bytes:
    """Return the next `count` bytes of an open file.

    Raises:
        BrokenModelError: The file ends before that.
    """
    content = file.read(count)
    while len(content) < count:
        more = file.read(count - len(content))
        if not more:
            raise BrokenModelError(f"{printable_path(path)} became shorter while it was read; try again.")
        content += more
    return content


def is_folder(path: str | Path) -> bool:
    """Return whether a path is a folder or a link to one; unlike `Path.is_dir` this never raises."""
    return os.path.isdir(path)  # noqa: PTH112


def list_names(folder: str | Path) -> list[str]:
    """Return the names of a folder's entries, sorted.

    Raises:
        BrokenModelError: It cannot be read.
    """
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError as error:
        raise read_error(folder, error) from error


def absolute(path: str | Path) -> Path:
    """Return an absolute path without `..`; unlike `Path.resolve` this follows no symbolic links."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def resolve_inside(path: str | Path, base: str) -> str:
    """Return a path with all symbolic links resolved, which must lie inside `base`.

    Args:
        path: The path to resolve.
        base: A folder, without symbolic links in its path.

    Raises:
        BrokenModelError: It is missing, its links form a cycle, or it lies outside `base`.
    """
    try:
        real = os.path.realpath(path, strict=True)
    except (OSError, ValueError) as error:
        raise read_error(path, error) from error
    if real != base and not Path(real).is_relative_to(base):
        raise BrokenModelError(
            f"{printable_path(path)} leads out of {printable_path(base)} to {printable_path(real)}; "
            "a model's files must lie in its own store."
        )
    return real


def require_regular(path: str | Path, status: os.stat_result) -> None:
    """Raise BrokenModelError unless `status` is that of a regular file."""
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, socket or device"
        raise BrokenModelError(f"{printable_path(path)} is {kind}; it should be a regular file.")


def read_error(path: str | Path, error: Exception) -> BrokenModelError:
    """Return an error with one sentence that says why a file or folder cannot be read."""
    code = error.errno if isinstance(error, OSError) else None
    why = {
        errno.ENOENT: "is missing",
        errno.ENOTDIR: "is missing: one of the folders above it is a file",
        errno.ELOOP: "is a symbolic link that leads back to itself",
        errno.EACCES: "may not be read by you; its permissions should allow it",
        errno.EPERM: "may not be read by you; its permissions should allow it",
        errno.ENAMETOOLONG: "is missing: its name is longer than a name can be",
    }.get(code or 0)
    if why is None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        why = f"cannot be read ({reason}); is its disk still there?"
    return BrokenModelError(f"{printable_path(path)} {why.rstrip('.')}{'' if why.endswith('?') else '.'}")
