"""Downloading from `docker-registry`, the reference implementation of the protocol, as packaged by Debian."""

import json
import shutil
import socket
import subprocess
import time
from types import SimpleNamespace

import httpx
import pytest

from pulling import assert_complete, name_at, open_queue, pull
from registry_server import MANIFEST_TYPE, large_model
from sotto.store.pull.progress import PullState

DISTRIBUTION = shutil.which("docker-registry")


@pytest.fixture
def distribution(tmp_path):
    """Run the registry on loopback with a model `m`."""
    if DISTRIBUTION is None:
        pytest.skip("docker-registry is not installed; Debian packages it under that name")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    config = {
        "version": "0.1",
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(tmp_path / "registry")}},
        "http": {"addr": host},
    }
    file = tmp_path / "config.yml"
    file.write_text(json.dumps(config))
    process = subprocess.Popen([DISTRIBUTION, "serve", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        store = large_model(tmp_path / "origin")
        with httpx.Client(base_url=f"http://{host}/v2/") as client:
            wait_until_up(client, process)
            push(client, store)
        yield SimpleNamespace(host=host, store=store)
    finally:
        process.kill()
        process.wait()


def wait_until_up(client, process):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client.get("").raise_for_status()
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("docker-registry does not start")


def push(client, store):
    for path in (store.root / "blobs").iterdir():
        begun = client.post("library/m/blobs/uploads/")
        begun.raise_for_status()
        digest = path.name.replace("-", ":")
        place = httpx.URL(begun.headers["Location"]).copy_add_param("digest", digest)
        client.put(place, content=path.read_bytes()).raise_for_status()
    data = store.path("library/m").read_bytes()
    client.put("library/m/manifests/latest", content=data, headers={"Content-Type": MANIFEST_TYPE}).raise_for_status()


def test_a_model_arrives_complete(root, distribution):
    assert pull(root, name_at(distribution)).reports[-1].state is PullState.DONE
    assert_complete(root, distribution)


def test_a_download_is_resumed(root, distribution):
    with open_queue(root) as (queue, log):
        queue.limit(200_000)
        queue.add(name_at(distribution))
        log.until(lambda progress: progress.done > 300_000)
    (part, *_) = root.glob("staging/*/*/*/*/*.part")
    size = part.stat().st_size
    assert size > 0
    log = pull(root, name_at(distribution))
    assert log.reports[-1].state is PullState.DONE
    assert min(progress.done for progress in log.reports) >= 300_000
    assert_complete(root, distribution)


def test_an_unknown_model_is_refused(root, distribution):
    last = pull(root, name_at(distribution, "m:8b")).reports[-1]
    assert last.state is PullState.FAILED
    assert "no model" in last.note
