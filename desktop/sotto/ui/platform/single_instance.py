"""One app per data folder: the first start holds a lock, and later starts pass their request to it.

Qt is not imported here, so a start that only passes on a request is over at once.

The system releases the lock however its process ends, so it is never stale. A killed process leaves its socket, which
the next holder of the lock may remove. The socket accepts connections before Qt is imported; they wait until the
app can answer.
"""

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sotto.errors import SottoError
from sotto.paths import private_folder

_VERSION = 1
_LOCK, _SOCKET = "app.lock", "app.socket"
_WAITING = 16
# How long a start waits for the holder of the lock, which may be starting, or still writing caches to the disk.
_PATIENCE = 30.0
_PAUSE = 0.05
_LONGEST_ANSWER = 1000
LONGEST = 1 << 20
TAKEN = b"taken\n"


class Show(StrEnum):
    """What a start wants to show."""

    WINDOW = "window"
    NEW_CHAT = "new"
    QUICK = "quick"
    TOGGLE = "toggle"
    NOTHING = "background"


@dataclass(frozen=True, slots=True)
class StartRequest:
    """What a start of the app asks for.

    Attributes:
        show: What to show.
        paths: Models to load.
        token: The activation token with which a desktop lets the app come to the front; empty for none.
        address: An address of Sotto's own to open, not checked yet; empty for none.
    """

    show: Show = Show.WINDOW
    paths: tuple[Path, ...] = ()
    token: str = ""
    address: str = ""

    def line(self) -> bytes:
        """Return the request as one line of JSON."""
        paths = [os.fspath(path.absolute()) for path in self.paths]
        fields = {"version": _VERSION, "show": self.show, "paths": paths, "token": self.token, "address": self.address}
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> "StartRequest":
        """Parse a request that `line` wrote.

        Raises:
            ValueError: It is not one.
        """
        try:
            fields = json.loads(line)
        except RecursionError as error:
            raise ValueError("A start request is not nested.") from error
        if not isinstance(fields, dict) or fields.get("version") != _VERSION:
            raise ValueError("Another version of Sotto is already running: quit it, then start this one again.")
        paths, token, address = fields.get("paths"), fields.get("token"), fields.get("address")
        if (
            not isinstance(paths, list)
            or not all(isinstance(path, str) for path in paths)
            or not isinstance(token, str)
            or not isinstance(address, str)
        ):
            raise ValueError("paths must be a list of strings, and token and address strings.")
        if any("\0" in text for text in (*paths, token)):
            raise ValueError("A path must not contain a null byte.")
        return cls(Show(str(fields.get("show"))), tuple(Path(path) for path in paths), token, address)


class Instance:
    """The lock of a data folder, and the socket that later starts connect to.

    Attributes:
        lock: The descriptor of the locked folder.
        listener: The listening socket.
    """

    def __init__(self, lock: int, listener: socket.socket) -> None:
        """Take ownership of a locked descriptor and a socket."""
        self.lock = lock
        self.listener = listener

    def close(self) -> None:
        """Release the lock."""
        self.listener.close()
        os.close(self.lock)


def enter(folder: Path, request: StartRequest, patience: float = _PATIENCE) -> Instance | None:
    """Become the app of the data folder `folder`, or pass `request` to the app that is running.

    Returns:
        None where another app took the request.

    Raises:
        SottoError: Another app is running and does not answer.
        OSError: The folder cannot hold a lock or a socket.
    """
    private_folder(folder)
    end = time.monotonic() + patience
    while True:
        if (held := _claim(folder)) is not None:
            return held
        if _hand_over(folder, request, end):
            return None
        if time.monotonic() > end:
            raise SottoError(f"Sotto is already running for {folder} but does not answer: quit it, then start again.")
        time.sleep(_PAUSE)


def _claim(folder: Path) -> Instance | None:
    """Take the lock and listen; return None where another process holds it."""
    import fcntl

    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError:
        os.close(lock)
        raise
    listener = socket.socket(socket.AF_UNIX)
    try:
        with _address(folder) as address:
            with contextlib.suppress(FileNotFoundError):
                Path(address).unlink()
            listener.bind(address)
            Path(address).chmod(0o600)  # nobody can connect before it listens
        listener.listen(_WAITING)
    except OSError:
        listener.close()
        os.close(lock)
        raise
    return Instance(lock, listener)


def _hand_over(folder: Path, request: StartRequest, end: float) -> bool:
    """Send `request` to the running app; return whether it took it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(max(_PAUSE, end - time.monotonic()))
        try:
            with _address(folder) as address:
                connection.connect(address)
            connection.sendall(request.line())
            with connection.makefile("rb") as answers:
                answer = answers.readline(_LONGEST_ANSWER)
        except OSError:
            # It does not listen yet, or is ending.
            return False
    if answer not in (TAKEN, b""):
        raise SottoError(answer.decode(errors="replace").strip())
    return answer == TAKEN


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    """Yield a short path of the socket: the length of a socket's address is limited."""
    if not Path("/proc/self/fd").is_dir():
        # Not Linux, or one that hides /proc.
        yield os.fspath(folder / _SOCKET)
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{opened}/{_SOCKET}"
    finally:
        os.close(opened)
