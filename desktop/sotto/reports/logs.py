"""The log of the app and of `sotto serve`: one file of bounded size, which several processes may write.

It has no prompts, answers, keys, names of users or home folders: errors are written without the values in their
messages (`traces`), what other packages log without what it quotes, and everything is scrubbed (`scrubbing`).
"""

import fcntl
import logging
import os
import platform
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import TextIO

from sotto import __version__, paths
from sotto.reports.scrubbing import scrub
from sotto.reports.traces import describe, safe_message, without_values

OWN = "sotto"
_MOST_BYTES = 1 << 20
# The current file and the ones before it.
_FILES = 3
_READ_BYTES = 64 << 10
_LONGEST = 2000

_log = logging.getLogger(__name__)


def file(age: int = 0) -> Path:
    """Return the path of the log, or of the one before it, and so on; the file may not exist."""
    return paths.log_dir() / (f"sotto.{age}.log" if age else "sotto.log")


def begin(kind: str, *, in_file: bool = True) -> None:
    """Log what this process does from now on: to the file, and warnings to stderr.

    Args:
        kind: Which process this is, such as `window`.
        in_file: Whether there is a file; otherwise only warnings are kept, on stderr.
    """
    root = logging.getLogger()
    if sys.stderr is not None:  # None in an app without a terminal
        stream: logging.Handler = logging.StreamHandler()
        stream.setFormatter(Formatter(""))
        stream.setLevel(logging.WARNING)
        root.addHandler(stream)
    logging.getLogger(OWN).setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    # Otherwise logging prints the arguments of records that it cannot write.
    logging.raiseExceptions = False
    sys.excepthook = log_uncaught
    threading.excepthook = _log_of_thread
    sys.unraisablehook = _log_unraisable
    if in_file:
        handler = FileHandler()
        handler.setFormatter(Formatter(f"{kind} {os.getpid()}"))
        root.addHandler(handler)
        _log.info("Sotto %s begins, %s, Python %s", __version__, platform.platform(), platform.python_version())


def last_lines(count: int) -> list[str]:
    """Return the last lines of the log."""
    lines: list[str] = []
    for age in range(_FILES):
        if len(lines) < count:
            lines = [*_end_of(file(age)), *lines]
    return lines[-count:]


def log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Log an error that nothing caught, as `sys.excepthook`."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        _log.critical("Nothing caught an error.", exc_info=(kind, error, trace))


def complain(sentence: str) -> None:
    """Say on stderr what cannot be logged."""
    stream: TextIO | None = sys.stderr
    if stream is not None:
        print(sentence, file=stream, flush=True)


class Formatter(logging.Formatter):
    """Writes records without values that may be what somebody has written."""

    def __init__(self, process: str) -> None:
        """Name the process in each line; without a name, lines have no time either."""
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, and an error as further ones."""
        arguments = record.args
        if isinstance(arguments, tuple):
            record.args = tuple(safe_message(each) if isinstance(each, Exception) else each for each in arguments)
        message = record.getMessage()
        record.args = arguments
        if record.name.partition(".")[0] != OWN:
            message = without_values(message.partition("\n")[0])
        # Not even a name from a file may look like another line.
        message = "".join(char if char.isprintable() else "�" for char in message[:_LONGEST])
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))
        head = f"{when} {self._process} {record.levelname} {record.name}: " if self._process else ""
        error = record.exc_info[1] if record.exc_info else None
        trace: str = describe(error) if error is not None else getattr(record, "trace", "")
        return scrub("\n".join(filter(None, (head + message, trace.rstrip()))))


class FileHandler(logging.Handler):
    """Appends to the log.

    Each record is one write to the end of the file, so that the lines of several processes stay whole. The file is
    opened for each, as another process may just have given it another name.
    """

    def __init__(self) -> None:
        """Write to the current log folder."""
        super().__init__()
        self._failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; say once on stderr if that is not possible."""
        try:
            line = f"{self.format(record)}\n".encode("utf-8", "replace")
            paths.make_folder(paths.log_dir())
            handle = os.open(file(), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                if os.fstat(handle).st_size + len(line) > _MOST_BYTES and _rotate(handle):
                    os.close(handle)
                    handle = os.open(file(), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                os.write(handle, line)
            finally:
                os.close(handle)
        except OSError as error:
            if not self._failed:
                self._failed = True
                complain(f"The log in {scrub(str(paths.log_dir()))} cannot be written: {error.strerror}.")


def _rotate(handle: int) -> bool:
    """Give the files their next names unless another process does so or has done so; return whether any did."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False  # the other process does it; this line may still go to the end of the old file
    if _is_current(handle):
        for age in range(_FILES - 1, 0, -1):
            if file(age - 1).exists():
                file(age - 1).replace(file(age))
    return True


def _is_current(handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file().stat())
    except FileNotFoundError:
        return False


def _end_of(path: Path) -> list[str]:
    try:
        with path.open("rb") as opened:
            opened.seek(max(0, path.stat().st_size - _READ_BYTES))
            return opened.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []


def _log_of_thread(raised: threading.ExceptHookArgs) -> None:
    if raised.exc_value is not None and raised.exc_type is not SystemExit:
        sys.excepthook(raised.exc_type, raised.exc_value, raised.exc_traceback)


def _log_unraisable(raised: "sys.UnraisableHookArgs") -> None:
    # Not with the object, whose text may be anything.
    if raised.exc_value is not None:
        _log.error("An error could not be raised.", exc_info=raised.exc_value)
