"""A process that follows grammars, as the one that started it sees it.

llguidance bounds neither its time nor its memory: how long it thinks about several patterns that a text is to match at
once has nothing to do with the limits it takes, and nothing stops it. So it runs in a process of its own, which the
system ends once a request has had its seconds of computing, and which is ended here when it takes too much memory.
"""

import json
import select
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from sotto.bounded_process import command
from sotto.engine.grammar.grammar_child import MOST_MEMORY
from sotto.errors import EngineError, FaultError

WORD = "follow-grammars"
# Of waiting, for each second of computing: where the machine is busy with something else, half of the computing has to
# be enough, and at last none.
_HASTE, _HASTY_SHARE, _PATIENCE = 1.6, 0.5, 20.0
_LOOK_EVERY = 0.02
_PIECE = 1 << 20
_TOO_LONG, _TOO_LARGE = "it takes too long", "it takes too much memory"
# Requests until its memory is looked at although none of them took long.
_UNLOOKED = 16


class TooMuchError(EngineError):
    """A request took too much, so that the process had to be ended; the message is a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer.

    Attributes:
        error: What is wrong; empty for nothing.
        stopped: Whether nothing may follow any more.
        value: What was asked for.
        data: What was asked for, where that is bytes.
        seconds: How long it computed.
    """

    error: str
    stopped: bool
    value: Any
    data: bytes
    seconds: float


class GrammarProcess:
    """One such process. To be used by one thread at a time."""

    def __init__(self) -> None:
        """Start it, without waiting for anything.

        Raises:
            FaultError: The system does not start it.
        """
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        try:
            # In a process group of its own: Ctrl-C in a terminal is for the app.
            process = subprocess.Popen(
                command(WORD), bufsize=0, stdin=pipe, stdout=pipe, stderr=nothing, process_group=0
            )
        except OSError as error:
            raise FaultError(f"The process that follows grammars could not be started ({error.strerror}).") from error
        assert process.stdin is not None  # it was asked for, as the other one
        assert process.stdout is not None
        self._process, self._stdin, self._stdout = process, process.stdin, process.stdout
        # Not select: it knows the first thousand descriptors only.
        self._ready = select.poll()
        self._ready.register(self._stdout, select.POLLIN)
        self._end = weakref.finalize(self, _end, process)
        self._most = 0
        self._unlooked = 0
        self.worn = False

    @property
    def alive(self) -> bool:
        """Whether it is there and of use."""
        return not self.worn and self._process.poll() is None

    def end(self) -> None:
        """End it at once."""
        self._end()

    def settle(self) -> None:
        """Take the memory that it has now for what it needs in any case."""
        self._most = self._memory() + MOST_MEMORY

    def ask(self, do: str, seconds: float, data: bytes = b"", gone: Sequence[int] = (), **more: Any) -> Told:
        """Have something done.

        Args:
            do: What; see `grammar_child`.
            seconds: How long it may compute.
            data: What belongs to it.
            gone: Matchers that are of no use any more.
            more: What else belongs to it.

        Raises:
            TooMuchError: It took too much. The process has ended.
        """
        head = {"do": do, "seconds": seconds, "gone": list(gone), "size": len(data), **more}
        began = time.monotonic()
        try:
            self._write(json.dumps(head).encode() + b"\n" + data)
            told, found = self._answer(_Watch(self._process.pid, began, seconds, self._most))
        except (OSError, EOFError) as error:
            self.end()
            raise TooMuchError(self._reason()) from error
        except BaseException:
            # An answer that nobody waited for would be taken for the next one.
            self.end()
            raise
        self._unlooked += 1
        took = time.monotonic() - began
        if took > _LOOK_EVERY or self._unlooked >= _UNLOOKED:
            self._unlooked = 0
            self.worn = 0 < self._most < self._memory()
        return Told(told.get("error", ""), told.get("stopped", False), told.get("value"), found, told["seconds"])

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._stdin.write(view) :]

    def _answer(self, watch: "_Watch") -> tuple[dict[str, Any], bytes]:
        """Wait for an answer, and see to it that it does not cost too much."""
        found = b""
        while (end := found.find(b"\n")) < 0:
            found += self._read(watch)
        told: dict[str, Any] = json.loads(found[:end])
        parts = [found[end + 1 :]]
        missing = told["size"] - len(parts[0])
        while missing > 0:
            parts.append(self._read(watch))
            missing -= len(parts[-1])
        return told, b"".join(parts)

    def _read(self, watch: "_Watch") -> bytes:
        while not self._ready.poll(_LOOK_EVERY * 1000):
            watch.look()
        data = self._stdout.read(_PIECE)
        if not data:
            raise EOFError
        return data

    def _memory(self) -> int:
        import psutil

        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0  # it has just ended

    def _reason(self) -> str:
        status = self._process.returncode
        if status == -signal.SIGABRT:
            return _TOO_LARGE
        return _TOO_LONG if status == -signal.SIGPROF else "the library that follows grammars failed on it"


class _Watch:
    """Looks at what one request costs, from outside."""

    def __init__(self, pid: int, began: float, seconds: float, most: int) -> None:
        self._pid, self._began, self._seconds, self._most = pid, began, seconds, most
        self._before: float | None = None

    def look(self) -> None:
        """Find out whether it is too much.

        Raises:
            TooMuchError: It is.
        """
        import psutil

        try:
            process = psutil.Process(self._pid)
            memory, times = process.memory_info().rss, process.cpu_times()
        except psutil.Error:
            return  # it has just ended
        computed = times.user + times.system
        if self._before is None:
            self._before = computed
        if self._most and memory > self._most:
            raise TooMuchError(_TOO_LARGE)
        waited, share = time.monotonic() - self._began, (computed - self._before) / self._seconds
        if waited > self._seconds * (_HASTE if share > _HASTY_SHARE else _PATIENCE):
            raise TooMuchError(_TOO_LONG)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process at once; nothing of it is left."""
    for pipe in (process.stdin, process.stdout):
        _close(pipe)
    if process.poll() is None:
        process.kill()
    process.wait()


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        pipe.close()
