"""Downloading a model of 1 GB over loopback, compared with curl, which verifies nothing."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from rows import Row, ratio, turns

from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.queue import PullQueue

HERE = Path(__file__).resolve().parent
_PIECE = 16 << 20


def pull_rows(*, quick: bool) -> Iterator[Row]:
    """Compare a download, with its verification, with one by curl; both write to the same disk and flush it."""
    curl = shutil.which("curl")
    if curl is None:
        print("curl is not installed; the group pull is skipped.")
        return
    size = (256 if quick else 1000) * 10**6
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "origin").open("wb") as file:
            for position in range(0, size, _PIECE):
                file.write(os.urandom(min(_PIECE, size - position)))
        server = subprocess.Popen(
            [sys.executable, HERE / "file_server.py", folder / "origin"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        address = f"127.0.0.1:{server.stdout.readline().strip()}"
        found = turns(
            3 if quick else 5,
            ours=lambda: size / 1e6 / _pull(folder / "store", address),
            curl=lambda: size / 1e6 / _curl(curl, folder / "copy", address),
        )
        server.communicate("")
    yield ratio(f"pull of {size / 1e9:g} GB / curl on loopback, verification included", *found.values(), 0.9, "MB/s")


def _pull(root: Path, address: str) -> float:
    """Download the model, and return the seconds that it took."""
    ended = threading.Event()
    last: list[PullProgress] = []

    def report(progress: PullProgress) -> None:
        last[:] = [progress]
        if progress.state in (PullState.DONE, PullState.FAILED):
            ended.set()

    queue = PullQueue(root, report, insecure=True)
    began = time.perf_counter()
    queue.add(f"{address}/library/m")
    ended.wait()
    seconds = time.perf_counter() - began
    queue.close()
    if last[0].state is PullState.FAILED:
        raise RuntimeError(last[0].note)
    shutil.rmtree(root)
    return seconds


def _curl(curl: str, target: Path, address: str) -> float:
    """Download the file, flush it to the disk, and return the seconds that it took."""
    began = time.perf_counter()
    subprocess.run([curl, "-sf", "-o", target, f"http://{address}/v2/library/m/blobs/sha256:file"], check=True)
    handle = os.open(target, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)
    seconds = time.perf_counter() - began
    target.unlink()
    return seconds
