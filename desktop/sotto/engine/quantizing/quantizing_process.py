"""The process that writes blobs whose tensors have to be computed, and the parent's side of it.

It has its own MLX, so an import neither disturbs the thread that owns MLX in the app, nor needs it where nothing is
computed; and its memory goes back to the system at the end. The parent sends the blobs to write, and reads a line for
each piece of work. The process ends when nobody reads these lines any more.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

from sotto.bounded_process import command
from sotto.errors import FaultError, SottoError, StoreError
from sotto.store.importing.writing import Task, Watcher
from sotto.store.importing.writing import write_blobs as write_here

# The command of the process, which people do not use.
COMMAND = "write-blobs"
_BEGUN, _READ, _WRITTEN, _FAILED = "begun", "read", "written", "failed"
_MOST_THREADS = 4
_DETAILS = 4000


def write_blobs(tasks: Sequence[Task], watcher: Watcher) -> None:
    """Write blobs in a process of their own.

    Args:
        tasks: The blobs.
        watcher: Follows the progress, on this thread; CancelledError that it raises ends the process.

    Raises:
        CancelledError: The watcher raised it.
        StoreError: A file cannot be read or written.
        FaultError: The process failed.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command(COMMAND), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(list(tasks), process.stdin)
            process.stdin.close()
            missing = {task.number for task in tasks}
            for line in process.stdout:
                what, _, rest = line.decode().rstrip("\n").partition(" ")
                if what == _READ:
                    watcher.read(int(rest))
                elif what == _BEGUN:
                    watcher.begun(int(rest))
                elif what == _WRITTEN:
                    number, _, digest = rest.partition(" ")
                    watcher.written(int(number), digest)
                    missing.remove(int(number))
                else:
                    raise StoreError(rest)
        except BrokenPipeError:
            # It ended before it had read everything; its own words say why.
            missing = {task.number for task in tasks}
        finally:
            process.kill()
            process.stdout.close()
            process.wait()
        if missing:
            errors.seek(0)
            raise FaultError(
                "The process that computes the tensors ended before it was done; import the model again to go on.",
                errors.read().decode(errors="replace")[-_DETAILS:],
            )


def serve() -> int:
    """Be that process: write the blobs that stdin names; return the exit status."""
    # From the process that started this one, so it can be trusted.
    tasks: list[Task] = pickle.load(sys.stdin.buffer)
    from sotto.engine.kernels import device

    device.prepare()
    import mlx.core as mx

    from sotto.engine.quantizing.computing import compute

    mx.set_cache_limit(0)
    # A graphics processor computes one tensor at a time.
    threads = min(os.cpu_count() or 1, _MOST_THREADS) if device.device() == "cpu" else 1
    try:
        write_here(tasks, _Reporter(), compute, threads)
    except SottoError as error:
        _say(_FAILED, error.message)
    except OSError as error:
        _say(_FAILED, f"The model cannot be written: {error.strerror or error}.")
    return 0


class _Reporter:
    """Tells the parent what was done."""

    def begun(self, number: int) -> None:
        """Tell that a blob was begun."""
        _say(_BEGUN, number)

    def read(self, count: int) -> None:
        """Tell how many more bytes of the source were read."""
        _say(_READ, count)

    def written(self, number: int, digest: str) -> None:
        """Tell that a blob is complete."""
        _say(_WRITTEN, number, digest)


_SAYING = threading.Lock()


def _say(*words: object) -> None:
    try:
        with _SAYING:
            sys.stdout.buffer.write(" ".join(map(str, words)).encode() + b"\n")
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The parent is gone, and with it the reason for going on.
        os._exit(1)
