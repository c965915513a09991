"""Work on what others wrote, in a process of its own that has little time and memory and can be ended.

Some libraries can be made to take any time and any memory by what they are given, and nothing in the process that
called them can stop them. So `sotto` is started once more, with a word that says what to do (`sotto.cli.main`), what
it works on as stdin, and bounds that both sides keep: the child asks the system for them, and the parent watches.
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

_LOOK_EVERY = 0.02


class Exceeded(Enum):
    """Why a process did not get to its end."""

    TIME = "time"
    MEMORY = "memory"
    OUTPUT = "output"
    ENDED = "ended"
    NOT_STARTED = "not started"


class BoundedProcessError(Exception):
    """The process did not get to its end; whoever asked says so in their own words.

    Attributes:
        exceeded: Why.
    """

    def __init__(self, exceeded: Exceeded) -> None:
        """Say why."""
        super().__init__(exceeded.value)
        self.exceeded = exceeded


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a process may take.

    Attributes:
        seconds: On the clock.
        cpu_seconds: Of computing, from when it calls `limit` on.
        memory: Bytes that it holds in memory.
        output: Bytes that it writes.
    """

    seconds: float
    cpu_seconds: float
    memory: int
    output: int


def command(*words: str) -> list[str]:
    """Return the command line that starts `sotto` with some words; a packaged app is started by itself."""
    program = sys.executable
    if Path(program).name.lower().startswith("python"):
        # -P: a folder `sotto` where the app was started is not the app.
        return [program, "-P", "-m", "sotto", *words]
    return [program, *words]


def run(*words: str, bounds: Bounds, given: bytes = b"", stopped: Callable[[], bool] = lambda: False) -> bytes:
    """Run `sotto` with some words and return what it wrote; nothing of it runs on afterwards. May run on any thread.

    Args:
        words: What it is to do.
        bounds: What it may take.
        given: Its stdin.
        stopped: Asked now and then whether to give up.

    Raises:
        BoundedProcessError: It exceeded a bound or failed.
        CancelledError: `stopped` said so.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output:
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
        output.seek(0)
        return output.read(bounds.output)


def limit(bounds: Bounds) -> None:
    """In the child: have the system end what takes too much, where it can, and leave no dump behind."""
    signal.setitimer(signal.ITIMER_PROF, bounds.cpu_seconds)
    import resource

    # What is reserved is more than what is held.
    for what, most in ((resource.RLIMIT_AS, 2 * bounds.memory), (resource.RLIMIT_CORE, 0)):
        # Not every system has each of them; the parent watches as well.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _wait(process: "subprocess.Popen[bytes]", output: IO[bytes], bounds: Bounds, stopped: Callable[[], bool]) -> None:
    """Wait for the child's end, within its bounds."""
    import psutil

    end = time.monotonic() + bounds.seconds
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        time.sleep(_LOOK_EVERY)
        if stopped():
            raise CancelledError("The work of a process was stopped.")
        if time.monotonic() > end:
            raise BoundedProcessError(Exceeded.TIME)
        if os.fstat(output.fileno()).st_size > bounds.output:
            raise BoundedProcessError(Exceeded.OUTPUT)
        # An error says that it has just ended.
        with contextlib.suppress(psutil.Error):
            if watched.memory_info().rss > bounds.memory:
                raise BoundedProcessError(Exceeded.MEMORY)
