"""Downloads a model in a separate process, which can be made to fail.

`python pull_child.py ROOT NAME [rename N | size N | lookup N]` prints the last progress. With `rename` the process
kills itself before its N-th rename; with `size` no file may exceed N bytes; with `lookup` no host name lookup returns,
and the download is abandoned after N seconds.
"""

import os
import resource
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.queue import PullQueue
from sotto.store.pull.terms import Patience


def die_before_rename(number: int) -> None:
    """Kill this process instead of doing its N-th rename."""
    rename = os.replace
    left = [number]

    def dying(*arguments: Any, **more: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*arguments, **more)

    os.replace = dying


def main(root: str, name: str, how: str = "", number: str = "0") -> None:
    """Download the model, and wait until the download ends."""
    if how == "rename":
        die_before_rename(int(number))
    if how == "lookup":
        socket.getaddrinfo = lambda *_, **__: time.sleep(60)
    if how == "size":
        # Python would truncate bytecode files at the limit as well, and later processes would load them.
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(number), int(number)))
    ended = threading.Event()
    last: list[PullProgress] = []

    def report(progress: PullProgress) -> None:
        last[:] = [progress]
        if progress.state in (PullState.DONE, PullState.FAILED):
            ended.set()

    queue = PullQueue(Path(root), report, insecure=True, patience=Patience(first_wait=0.02, report_interval=0.02))
    queue.add(name)
    ended.wait(float(number) if how == "lookup" else 60)
    queue.close()
    print(last[0].state, last[0].note)


if __name__ == "__main__":
    main(*sys.argv[1:])
