"""In the child process: not to outlive whoever started it."""

import ctypes
import os
import select
import signal
import sys

_POLL_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask the system, where it can do so, to end this process in the moment its parent ends, however that comes.

    It is the thread that started this process which counts: `RunnerProcess.run` lasts longer than its child.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def wait_for_end(stdin: int, parent: int) -> None:
    """Return once the parent is gone: nothing holds the other end of `stdin`, or another process is the parent now."""
    while os.getppid() == parent:
        readable, _, _ = select.select([stdin], [], [], _POLL_SECONDS)
        if readable and not os.read(stdin, 1 << 16):
            return
