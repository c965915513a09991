"""One app for each data folder: the first start holds a lock there, and later ones hand over to it what they were for.

Nothing of Qt is imported here: a start that hands over is done before a window could be thought of.

The lock goes with the process that holds it, however that ends, so it is never stale. What a killed process leaves is
its socket, which whoever holds the lock may remove. The socket takes connections before Qt is imported; they wait until
the app can answer.
"""

import contextlib
import json
import os
import socket
import sys
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
# How long a start waits for one that holds the lock: that one may have just begun, or still write what it computed.
_PATIENCE = 30.0
_PAUSE = 0.05
_LONGEST_ANSWER = 1000
LONGEST = 1 << 20
TAKEN = b"taken\n"


class Show(StrEnum):
    """What a start wants to be seen."""

    WINDOW = "window"
    NEW_CHAT = "new"
    QUICK = "quick"
    TOGGLE = "toggle"
    NOTHING = "background"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a start of the app is for.

    Attributes:
        show: What is to be seen.
        paths: Models to load.
        token: Lets the app come to the front where the desktop asks for a proof that a person wanted it.
    """

    show: Show = Show.WINDOW
    paths: tuple[Path, ...] = ()
    token: str = ""

    def line(self) -> bytes:
        """Return it as one line for the socket."""
        paths = [os.fspath(path.absolute()) for path in self.paths]
        said = {"version": _VERSION, "show": self.show, "paths": paths, "token": self.token}
        return json.dumps(said).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> "Wish":
        """Return what `line` made of it.

        Raises:
            ValueError: That is no line of this program's.
        """
        try:
            said = json.loads(line)
        except RecursionError as error:
            raise ValueError("A wish is not nested.") from error
        if not isinstance(said, dict) or said.get("version") != _VERSION:
            raise ValueError("Another version of Sotto runs already: end it, then start this one again.")
        paths, token = said.get("paths"), said.get("token")
        if (
            not isinstance(paths, list)
            or not all(isinstance(path, str) for path in paths)
            or not isinstance(token, str)
        ):
            raise ValueError("paths must be a list of texts, and token a text.")
        if any("\0" in text for text in (*paths, token)):
            raise ValueError("A path must not hold a zero byte.")
        return cls(Show(str(said.get("show"))), tuple(Path(path) for path in paths), token)


class Instance:
    """The right to be the app of a data folder, and the socket on which later starts come.

    Attributes:
        listener: The socket; it listens.
    """

    def __init__(self, lock: int, listener: socket.socket) -> None:
        """Own a lock and a socket."""
        self._lock = lock
        self.listener = listener

    def close(self) -> None:
        """Let the next start be the app."""
        self.listener.close()
        os.close(self._lock)


def enter(folder: Path, wish: Wish, patience: float = _PATIENCE) -> Instance | None:
    """Become the app of the data folder `folder`, or hand `wish` over to the one that is; return None then.

    Raises:
        SottoError: There is one that does not answer.
        OSError: The folder takes no lock and no socket.
    """
    private_folder(folder)
    end = time.monotonic() + patience
    while True:
        if (held := _claim(folder)) is not None:
            return held
        if _hand_over(folder, wish, end):
            return None
        if time.monotonic() > end:
            raise SottoError(f"Sotto runs already for {folder} and does not answer: end that one, then start it again.")
        time.sleep(_PAUSE)


def _claim(folder: Path) -> Instance | None:
    """Take the lock and listen; return None where somebody else has it."""
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


def _hand_over(folder: Path, wish: Wish, end: float) -> bool:
    """Tell `wish` to the app that runs; return whether it took it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(max(_PAUSE, end - time.monotonic()))
        try:
            with _address(folder) as address:
                connection.connect(address)
            connection.sendall(wish.line())
            with connection.makefile("rb") as answers:
                answer = answers.readline(_LONGEST_ANSWER)
        except OSError:
            # It has not begun to listen, or is about to end.
            return False
    if answer not in (TAKEN, b""):
        raise SottoError(answer.decode(errors="replace").strip())
    return answer == TAKEN


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    """Give a short name of the socket, as long as it is needed: what a socket may be called is limited."""
    if not sys.platform.startswith("linux"):
        yield os.fspath(folder / _SOCKET)
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{opened}/{_SOCKET}"
    finally:
        os.close(opened)
