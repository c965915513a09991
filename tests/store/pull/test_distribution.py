"""Downloading from `docker-registry`, the reference implementation of the protocol, as packaged by Debian."""

from types import SimpleNamespace

import httpx
import pytest

from docker_registry import DISTRIBUTION, serving_distribution
from pulling import assert_complete, name_at, open_queue, pull
from registry_server import MANIFEST_TYPE, large_model
from sotto.store.pull.progress import PullState


@pytest.fixture
def distribution(tmp_path):
    """Run the registry on loopback with a model `m`."""
    if DISTRIBUTION is None:
        pytest.skip("docker-registry is not installed; Debian packages it under that name")
    with serving_distribution(tmp_path) as host, httpx.Client(base_url=f"http://{host}/v2/") as client:
        store = large_model(tmp_path / "origin")
        push(client, store)
        yield SimpleNamespace(host=host, store=store)


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
