"""Debian's `docker-registry`, the reference implementation of the protocol, on loopback."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

DISTRIBUTION = shutil.which("docker-registry")


@contextmanager
def serving_distribution(folder: Path) -> Iterator[str]:
    """Run an empty registry with its files in a folder, and yield its host and port."""
    assert DISTRIBUTION is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    config = {
        "version": "0.1",
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
        "http": {"addr": host},
    }
    file = folder / "config.yml"
    file.write_text(json.dumps(config))
    process = subprocess.Popen([DISTRIBUTION, "serve", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_up(f"http://{host}/v2/", process)
        yield host
    finally:
        process.kill()
        process.wait()


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(url).raise_for_status()
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("docker-registry does not start")
