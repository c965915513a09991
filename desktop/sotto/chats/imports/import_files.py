"""Finds the files that may hold chats: chosen ones, those in chosen folders, and those in archives.

What a file holds is told by its beginning, never by its name. Links are not followed, and sizes are bounded: an archive
is read as a stream, and its contents count as they are unpacked.
"""

import io
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from sotto.chats.imports.ollama_app import MAGIC
from sotto.errors import SottoError

LARGEST_TOTAL = 4 * 1000**3
"""Bytes of all files of an import, unpacked."""
MOST_FILES = 100_000
_DEEPEST = 8
_DEEPEST_ARCHIVE = 2
_BEGINNING = 256
_ZIP = b"PK\x03\x04"
_SPACE = b" \t\r\n"
_MARK = b"\xef\xbb\xbf"
# The two files that a chat of Jan consists of: whoever chooses one means both.
_PAIR = frozenset(("thread.json", "messages.jsonl"))
_LOCKED = 1
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError, OSError)


class TooMuchError(SottoError):
    """An import has too many files or bytes; the message is a clause about it."""


class DamagedError(SottoError):
    """The contents of a file cannot be read; the message is a clause about it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that may hold chats.

    Attributes:
        name: What to call it: the name of the chosen file or folder, if need be with the place in it.
        folder: Identifies the folder that it is in.
        stream: Its contents, from the beginning; reading it may raise `DamagedError` and `TooMuchError`.
        path: The file itself, if it is a database; None for JSON.
    """

    name: str
    folder: str
    stream: BinaryIO
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that cannot be read.

    Attributes:
        name: What to call it.
        why: A clause: what is wrong with it.
    """

    name: str
    why: str


class Sources:
    """Opens the files one after the other, and counts what is read of them."""

    def __init__(self) -> None:
        """Begin to count."""
        self._left = LARGEST_TOTAL
        self._files = MOST_FILES

    def of(self, path: Path) -> Iterator[Source | Fault]:
        """Yield the files of one chosen file or folder; each is closed when the next one is asked for.

        Raises:
            TooMuchError: There are too many files.
        """
        if path.is_dir():
            yield from self._in_folder(path)
        elif path.name in _PAIR and all((path.parent / name).is_file() for name in _PAIR):
            for name in sorted(_PAIR):
                yield from self._file(path.parent / name, name)
        else:
            yield from self._file(path, path.name)

    def _in_folder(self, folder: Path) -> Iterator[Source | Fault]:
        for inside, folders, files in os.walk(folder):
            if len(Path(inside).relative_to(folder).parts) >= _DEEPEST:
                folders.clear()
            folders.sort()
            for file in sorted(files):
                path = Path(inside, file)
                if path.is_file() and not path.is_symlink():
                    yield from self._file(path, f"{folder.name}/{path.relative_to(folder)}")

    def _file(self, path: Path, name: str) -> Iterator[Source | Fault]:
        try:
            # Opening a pipe must not wait for a writer.
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        except OSError as error:
            yield Fault(name, f"it could not be read ({error.strerror})")
            return
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                yield from self._opened(file, name, str(path.parent), path, 0)
            else:
                yield Fault(name, "it is not a file with contents")

    def _opened(
        self, file: IO[bytes], name: str, folder: str, path: Path | None, depth: int
    ) -> Iterator[Source | Fault]:
        """Yield an open file, or what is in an archive; nothing for a file that cannot hold chats."""
        self._files -= 1
        if self._files < 0:
            raise TooMuchError(f"more than {MOST_FILES:,} files")
        beginning = file.read(_BEGINNING)
        if beginning.startswith(MAGIC) and path is not None:
            self._count(path.stat().st_size)
            yield Source(name, folder, io.BytesIO(), path)
        elif beginning.startswith(_ZIP) and depth < _DEEPEST_ARCHIVE:
            with self._seekable(beginning, file, path) as whole:
                yield from self._in_archive(whole, name, folder, depth)
        elif beginning.removeprefix(_MARK).lstrip(_SPACE)[:1] in (b"{", b"["):
            yield Source(name, folder, io.BufferedReader(_Counted(beginning, file, self._count)))

    def _seekable(self, beginning: bytes, file: IO[bytes], path: Path | None) -> IO[bytes]:
        """Return an archive as a file that can be read from its end; one inside another is unpacked for that."""
        if path is not None:
            return path.open("rb")
        whole = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        try:
            shutil.copyfileobj(io.BufferedReader(_Counted(beginning, file, self._count)), whole)
        except BaseException:
            whole.close()
            raise
        return whole

    def _in_archive(self, file: IO[bytes], name: str, folder: str, depth: int) -> Iterator[Source | Fault]:
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    if entry.flag_bits & _LOCKED:
                        yield Fault(name, "it is locked with a password; unpack it first")
                        return
                    inside = f"{folder}/{name}/{entry.filename.rpartition('/')[0]}"
                    with archive.open(entry) as member:
                        yield from self._opened(member, f"{name}/{entry.filename}", inside, None, depth + 1)
        except _FAULTS:
            yield Fault(name, "it is a damaged archive")

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise TooMuchError(f"more than {LARGEST_TOTAL / 1e9:.0f} GB")


class _Counted(io.RawIOBase):
    """A file whose beginning has been read, and whose bytes are counted."""

    def __init__(self, beginning: bytes, rest: IO[bytes], count: Callable[[int], None]) -> None:
        """Read `beginning` and then `rest`."""
        super().__init__()
        self._beginning, self._rest, self._count = beginning, rest, count

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer.

        Raises:
            DamagedError: The file is damaged.
            TooMuchError: Too much has been read.
        """
        size = len(buffer)
        data, self._beginning = self._beginning[:size], self._beginning[size:]
        if not data:
            try:
                data = self._rest.read(size)
            except _FAULTS as error:
                raise DamagedError("it is damaged") from error
        self._count(len(data))
        buffer[: len(data)] = data
        return len(data)
