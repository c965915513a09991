"""Client of a process that follows grammars.

WORKAROUND: llguidance bounds neither its time nor its memory; check at upgrades. The time that it takes to combine
several patterns for one text is not covered by the limits that it accepts, and nothing can interrupt it. So it runs in
a separate process. The system kills it when a request exceeds its processor time, and this module kills it when it
takes too much memory.
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
# A request is abandoned after this many times its limit of processor time by the clock: early if it used more than half
# of the limit, late if the machine was busy with something else.
_EARLY, _BUSY_SHARE, _LATE = 1.6, 0.5, 20.0
_WATCH_INTERVAL_SECONDS = 0.02
_READ_BYTES = 1 << 20
_TOO_LONG, _TOO_LARGE = "it takes too long", "it takes too much memory"
# Short requests after which its memory is checked all the same.
_CHECK_EVERY = 16


class TooMuchError(EngineError):
    """A request took too much, so the process was killed; the message is part of a sentence."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request.

    Attributes:
        error: What is wrong; empty if nothing is.
        stopped: Whether nothing may follow.
        value: The result.
        data: The result, if it is bytes.
        seconds: The processor time that it took.
    """

    error: str
    stopped: bool
    value: Any
    data: bytes
    seconds: float


class GrammarProcess:
    """A process that follows grammars. To be used by one thread at a time."""

    def __init__(self) -> None:
        """Start the process without waiting for it.

        Raises:
            FaultError: The system cannot start it.
        """
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        try:
            # In its own process group: Ctrl-C in a terminal is for the app.
            process = subprocess.Popen(
                command(WORD), bufsize=0, stdin=pipe, stdout=pipe, stderr=nothing, process_group=0
            )
        except OSError as error:
            raise FaultError(f"The process that follows grammars could not be started ({error.strerror}).") from error
        assert process.stdin is not None  # both pipes were requested
        assert process.stdout is not None
        self._process, self._stdin, self._stdout = process, process.stdin, process.stdout
        # Not `select`, which is limited to the first thousand descriptors.
        self._ready = select.poll()
        self._ready.register(self._stdout, select.POLLIN)
        self._end = weakref.finalize(self, _end, process)
        self._most = 0
        self._unchecked = 0
        self.worn = False

    @property
    def alive(self) -> bool:
        """Whether it is running and can be used."""
        return not self.worn and self._process.poll() is None

    def end(self) -> None:
        """Kill it."""
        self._end()

    def settle(self) -> None:
        """Measure its limit of memory from what it takes now, with the vocabulary loaded."""
        self._most = self._memory() + MOST_MEMORY

    def ask(self, do: str, seconds: float, data: bytes = b"", gone: Sequence[int] = (), **more: Any) -> Reply:
        """Send a request and return its answer.

        Args:
            do: The command; see `grammar_child`.
            seconds: The processor time that it may take.
            data: The bytes of its argument.
            gone: The numbers of matchers to free.
            more: Further arguments.

        Raises:
            TooMuchError: It took too much time or memory. The process has ended.
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
            # An answer that nobody read would be taken for the answer to the next request.
            self.end()
            raise
        self._unchecked += 1
        took = time.monotonic() - began
        if took > _WATCH_INTERVAL_SECONDS or self._unchecked >= _CHECK_EVERY:
            self._unchecked = 0
            self.worn = 0 < self._most < self._memory()
        return Reply(told.get("error", ""), told.get("stopped", False), told.get("value"), found, told["seconds"])

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._stdin.write(view) :]

    def _answer(self, watch: "_Watch") -> tuple[dict[str, Any], bytes]:
        """Wait for an answer, watching what it costs."""
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
        while not self._ready.poll(_WATCH_INTERVAL_SECONDS * 1000):
            watch.look()
        data = self._stdout.read(_READ_BYTES)
        if not data:
            raise EOFError
        return data

    def _memory(self) -> int:
        import psutil

        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0  # it has just exited, or the system does not tell

    def _reason(self) -> str:
        status = self._process.returncode
        if status == -signal.SIGABRT:
            return _TOO_LARGE
        return _TOO_LONG if status == -signal.SIGPROF else "the library that follows grammars failed on it"


class _Watch:
    """Watches from outside what one request costs."""

    def __init__(self, pid: int, began: float, seconds: float, most: int) -> None:
        self._pid, self._began, self._seconds, self._most = pid, began, seconds, most
        self._before: float | None = None

    def look(self) -> None:
        """Check the costs so far.

        Raises:
            TooMuchError: They are too high.
        """
        import psutil

        try:
            process = psutil.Process(self._pid)
            memory, times = process.memory_info().rss, process.cpu_times()
            computed = float(times.user + times.system)
        except psutil.Error:
            # It has just exited, or the system does not tell, and then only the time that passes is bounded.
            memory, computed = 0, self._before or 0.0
        if self._before is None:
            self._before = computed
        if self._most and memory > self._most:
            raise TooMuchError(_TOO_LARGE)
        waited, share = time.monotonic() - self._began, (computed - self._before) / self._seconds
        if waited > self._seconds * (_EARLY if share > _BUSY_SHARE else _LATE):
            raise TooMuchError(_TOO_LONG)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process, close its pipes and wait for its end."""
    for pipe in (process.stdin, process.stdout):
        _close(pipe)
    if process.poll() is None:
        process.kill()
    process.wait()


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        pipe.close()
