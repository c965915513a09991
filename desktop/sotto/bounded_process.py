"""Processes with bounds on time, memory and output, for work on untrusted input.

Some libraries take any amount of time and memory for certain inputs, and nothing in the process that called them can
stop them. So `sotto` is started once more, with a command that says what to do (`sotto.cli.main`) and the input as
stdin. Both sides enforce the bounds: the child asks the system for them, and the parent watches.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO

from sotto.errors import CancelledError

_POLL_SECONDS = 0.02


class Exceeded(Enum):
    """Why a process did not finish."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    ENDED = "ended"
    NOT_STARTED = "not started"


class BoundedProcessError(Exception):
    """The process did not finish; callers turn this into a message of their own.

    Attributes:
        exceeded: The reason.
    """

    def __init__(self, exceeded: Exceeded) -> None:
        """Store the reason."""
        super().__init__(exceeded.value)
        self.exceeded = exceeded


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that a process may use.

    Attributes:
        seconds: Elapsed time.
        cpu_seconds: Processor time after its call of `limit`.
        memory: Bytes of resident memory.
        output: Bytes written to stdout.
    """

    seconds: float
    cpu_seconds: float
    memory: int
    output: int


def command(*words: str) -> list[str]:
    """Return the command line that starts `sotto` with `words`; a packaged app starts its own executable."""
    program = sys.executable
    if Path(program).name.lower().startswith("python"):
        # -P: do not import a folder `sotto` in the working directory.
        return [program, "-P", "-m", "sotto", *words]
    return [program, *words]


def run(*words: str, bounds: Bounds, given: bytes = b"", stopped: Callable[[], bool] = lambda: False) -> bytes:
    """Run `sotto` with `words` and return its output; the process has ended afterwards. May be called on any thread.

    Args:
        words: The command and its arguments.
        bounds: The most that it may use.
        given: Its stdin.
        stopped: Polled; returns whether to give up.

    Raises:
        BoundedProcessError: It exceeded a bound or failed.
        CancelledError: `stopped` returned True.
    """
    with tempfile.TemporaryFile() as output:
        run_into(output, *words, bounds=bounds, given=given, stopped=stopped)
        output.seek(0)
        return output.read(bounds.output)


def run_into(
    output: IO[bytes], *words: str, bounds: Bounds, given: bytes = b"", stopped: Callable[[], bool] = lambda: False
) -> None:
    """Run `sotto` as `run` does, with a file as its stdout, which may be read while the process writes it.

    Raises:
        BoundedProcessError: It exceeded a bound or failed.
        CancelledError: `stopped` returned True.
    """
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        try:
            process = subprocess.Popen(command(*words), stdin=source, stdout=output, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise BoundedProcessError(Exceeded.NOT_STARTED) from error
        try:
            _wait(process, output, bounds, stopped)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        if process.returncode == -signal.SIGPROF:
            raise BoundedProcessError(Exceeded.TIME)
        if process.returncode:
            raise BoundedProcessError(Exceeded.ENDED)


def limit(bounds: Bounds) -> None:
    """In the child, have the system enforce the bounds where it can, and write no core dumps."""
    signal.setitimer(signal.ITIMER_PROF, bounds.cpu_seconds)
    import resource

    # More address space is reserved than memory is resident.
    for what, most in ((resource.RLIMIT_AS, 2 * bounds.memory), (resource.RLIMIT_CORE, 0)):
        # Not every system has both limits; the parent watches as well.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _wait(process: "subprocess.Popen[bytes]", output: IO[bytes], bounds: Bounds, stopped: Callable[[], bool]) -> None:
    """Wait for the child's end, within its bounds."""
    import psutil

    end = time.monotonic() + bounds.seconds
    while process.poll() is None:
        time.sleep(_POLL_SECONDS)
        if stopped():
            raise CancelledError("The work of a process was stopped.")
        if time.monotonic() > end:
            raise BoundedProcessError(Exceeded.TIME)
        if os.fstat(output.fileno()).st_size > bounds.output:
            raise BoundedProcessError(Exceeded.OUTPUT)
        # The process may have just ended, or the system does not tell; then only the limit inside of it counts.
        with contextlib.suppress(psutil.Error):
            if psutil.Process(process.pid).memory_info().rss > bounds.memory:
                raise BoundedProcessError(Exceeded.MEMORY)
