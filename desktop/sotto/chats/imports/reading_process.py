"""Reads the chats of chosen files in a bounded process, as hostile files can take any amount of time and memory.

The process writes the chats in Sotto's own form, each as a line, and the text of a line is small enough to be read
without holding up other threads.
"""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from sotto.bounded_process import BoundedProcessError, Bounds, Exceeded, run_into
from sotto.chats.documents import shown_name
from sotto.chats.own_form import chat_of_own_form
from sotto.chats.whole_chat import Lost, WholeChat
from sotto.errors import SottoError

BOUNDS = Bounds(seconds=1800.0, cpu_seconds=1200.0, memory=3 * 1000**3, output=2 * 1000**3)
_LONGEST_END = 64_000
_PIECE = 1 << 20


class ImportFailedError(SottoError):
    """Nothing can be imported, and why."""


class _Images(Mapping[str, bytes]):
    """Images that have been read, as files in a folder under their digests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, digest: str) -> bytes:
        try:
            return (self._folder / digest).read_bytes()
        except OSError as error:
            raise KeyError(digest) from error

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in self._folder.iterdir())

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ReadChats:
    """The chats that have been read, in a temporary file and a temporary folder for their images.

    Attributes:
        count: How many there are.
        lost: What could not be read besides: chats and files.
    """

    def __init__(
        self, file: IO[bytes], folder: "tempfile.TemporaryDirectory[str]", count: int, lost: Counter[Lost]
    ) -> None:
        """Take over `file` and `folder`."""
        self._file, self._folder = file, folder
        self.count, self.lost = count, lost

    def __iter__(self) -> Iterator[WholeChat]:
        """Yield the chats."""
        self._file.seek(0)
        for number in range(self.count):
            line = json.loads(self._file.readline())
            lost = Counter({Lost[name]: times for name, times in line["lost"].items()})
            chat = chat_of_own_form(line["chat"], f"chats[{number}]", lost)
            yield replace(chat, images=_Images(Path(self._folder.name)))

    def close(self) -> None:
        """Delete the file and the folder."""
        self._file.close()
        self._folder.cleanup()


def read_chats(paths: Sequence[Path], stopped: Callable[[], bool], progress: Callable[[int], None]) -> ReadChats:
    """Read the chats of files and folders; may take minutes, on any thread.

    Args:
        paths: What was chosen.
        stopped: Polled; returns whether to give up.
        progress: Called with the number of chats that have been read so far.

    Raises:
        ImportFailedError: There are none, or they take too long or too much memory.
        CancelledError: `stopped` returned True.
    """
    output = tempfile.TemporaryFile()  # noqa: SIM115 - the result takes it over
    folder = tempfile.TemporaryDirectory()
    try:
        chosen = [os.fspath(path.absolute()) for path in paths]
        given = json.dumps({"paths": chosen, "folder": folder.name}).encode()
        count = 0

        def watch() -> bool:
            nonlocal count
            if lines := _new_lines(output, watched):
                count += lines
                progress(count)
            return stopped()

        watched = [0]
        try:
            run_into(output, "read-chats", bounds=BOUNDS, given=given, stopped=watch)
        except BoundedProcessError as error:
            raise ImportFailedError(_why(shown_name(paths[0]), error.exceeded)) from error
        end = json.loads(_last_line(output))
        if end["why"]:
            raise ImportFailedError(end["why"])
        count += _new_lines(output, watched)
        return ReadChats(output, folder, count - 1, Counter({Lost.CHAT: end["broken"], Lost.FILE: end["files"]}))
    except BaseException:
        output.close()
        folder.cleanup()
        raise


def _new_lines(file: IO[bytes], watched: list[int]) -> int:
    """Return how many lines were written since the place in `watched`, which moves on."""
    lines = 0
    # Not `seek`: the process writes at the same position.
    while piece := os.pread(file.fileno(), _PIECE, watched[0]):
        lines += piece.count(b"\n")
        watched[0] += len(piece)
    return lines


def _last_line(file: IO[bytes]) -> bytes:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LONGEST_END))
    return file.read().rstrip(b"\n").rpartition(b"\n")[2]


def _why(name: str, exceeded: Exceeded) -> str:
    if exceeded is Exceeded.TIME:
        return f"{name} takes longer than {BOUNDS.seconds / 60:.0f} minutes to read: import a part of it."
    if exceeded is Exceeded.OUTPUT:
        return f"{name} has more than {BOUNDS.output / 1e9:.0f} GB of text: import a part of it."
    if exceeded is Exceeded.NOT_STARTED:
        return f"{name} could not be read: the system does not start the process that reads it."
    return f"{name} takes more than {BOUNDS.memory / 1e9:.0f} GB of memory to read: import a part of it."
