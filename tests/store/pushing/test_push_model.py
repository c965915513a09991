"""Uploading models: to a small registry that can fail, and to Debian's `docker-registry`."""

import hashlib
import itertools
import shutil
from dataclasses import replace

import pytest

from docker_registry import DISTRIBUTION, serving_distribution
from pulling import HASTY, assert_complete, pull
from push_server import receiving
from registry_server import large_model
from sotto.errors import CancelledError, DownloadError, InvalidRequestError, StoreError
from sotto.paths import data_dir
from sotto.store.pull.progress import PullState
from sotto.store.pushing.push_model import push
from sotto.store.pushing.registry_key import RegistryKey, key_file
from sotto.store.pushing.registry_writer import part_size
from sotto.store.records import Place, Source
from stores import folder

PATIENT = replace(HASTY, tries=4)


@pytest.fixture
def registry():
    with receiving() as registry:
        yield registry


@pytest.fixture
def store(tmp_path):
    return large_model(tmp_path / "origin")


def place(store, host, name="me/m"):
    source = store.path("library/m")
    path = store.path(f"{host}/{name}")
    path.parent.mkdir(parents=True)
    path.write_bytes(source.read_bytes())
    return Place(f"{host}/{name}:latest", Source.SOTTO, path)


def uploaded(store, registry, **options):
    """Upload the model `m`, and return the steps."""
    steps = []
    options = {"insecure": True, "patience": PATIENT, "parts": lambda size: 100_000, **options}
    push(place(store, registry.host), steps.append, **options)
    return steps


def assert_arrived(store, registry):
    names = {path.name.removeprefix("sha256-"): path.read_bytes() for path in (store.root / "blobs").iterdir()}
    assert registry.blobs == names
    assert registry.manifests == {"me/m:latest": store.path("library/m").read_bytes()}
    # Nobody sees a model whose files are not there yet.
    assert registry.requests[-1] == ("PUT", "/v2/me/m/manifests/latest")


def test_a_model_arrives_and_what_is_sent_is_said_before(store, registry):
    steps = uploaded(store, registry)
    assert_arrived(store, registry)
    statuses = list(dict.fromkeys(step.status for step in steps))
    assert statuses[0] == "retrieving manifest"
    assert statuses[1] == f"uploading 787 kB in 6 of 6 files to {registry.host}"
    assert statuses[-1] == "pushing manifest"
    last = {step.digest: (step.done, step.total) for step in steps if step.total}
    assert all(done == total for done, total in last.values())
    assert sum(total for _, total in last.values()) == sum(map(len, registry.blobs.values()))


def test_what_is_there_is_not_sent_again(store, registry):
    blob = next((store.root / "blobs").iterdir())
    registry.blobs[blob.name.removeprefix("sha256-")] = blob.read_bytes()
    steps = uploaded(store, registry)
    assert any(step.status.endswith(f"in 5 of 6 files to {registry.host}") for step in steps)
    assert_arrived(store, registry)


@pytest.mark.parametrize("forgets", [False, True])
def test_an_upload_whose_connection_breaks_off_goes_on(store, registry, forgets):
    registry.cuts, registry.forgets = [None, 30_000, None, 5_000, 70_000], forgets
    registry.statuses = [503, 429]
    steps = uploaded(store, registry)
    assert_arrived(store, registry)
    assert any(method == "GET" for method, _ in registry.requests)
    assert {step.done for step in steps if step.done == step.total}


def test_the_tag_of_an_upload_in_parts_is_that_of_its_digests(store, registry):
    registry.cuts = [50_000]
    uploaded(store, registry)
    largest = max(registry.blobs.values(), key=len)
    md5 = lambda data: hashlib.md5(data).digest()  # noqa: E731
    bounds = [0, *range(100_000, len(largest), 100_000), len(largest)]
    whole = md5(b"".join(md5(largest[a:b]) for a, b in itertools.pairwise(bounds))).hex()
    assert f"{whole}-{len(bounds) - 1}" in registry.tags
    assert (part_size(1), part_size(1 << 40), part_size(3_200_000_000)) == (10**8, 10**9, 2 * 10**8)


def test_a_token_is_requested_with_a_key_of_its_own(store, registry):
    registry.token = "secret"
    uploaded(store, registry)
    assert_arrived(store, registry)
    own = RegistryKey.own()
    assert len(registry.keys) == 1
    assert own.public.startswith("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI")
    assert key_file().parent == data_dir()
    assert key_file().stat().st_mode & 0o777 == 0o600
    assert sum(path.startswith("/token") for _, path in registry.requests) == 1


def test_a_registry_that_refuses_is_told_of_with_the_key_to_give_it(store, registry):
    registry.statuses = [403] * 6
    with pytest.raises(DownloadError, match=r"does not let this machine upload .* add its key .*: ssh-ed25519 "):
        uploaded(store, registry)
    assert registry.manifests == {}


def test_uploads_stay_at_the_host_that_is_named(store, registry):
    registry.elsewhere = "http://127.0.0.1:9/elsewhere"
    with pytest.raises(DownloadError, match="they should stay at its own address"):
        uploaded(store, registry)
    assert registry.manifests == {}


def test_a_failing_registry_is_given_up(store, registry):
    registry.statuses = [500] * 100
    with pytest.raises(DownloadError, match="is busy or failing"):
        uploaded(store, registry)


def test_http_is_for_this_machine_alone(store):
    with pytest.raises(InvalidRequestError, match="insecure is for a registry on this machine"):
        push(place(store, "example.com:5000"), print, insecure=True)


def test_a_folder_has_no_manifest(tmp_path):
    path = folder(tmp_path / "weights")
    with pytest.raises(StoreError, match="not in a store with manifests"):
        push(Place("weights", Source.FOLDER, path), print)


def test_a_wait_is_told_of_and_can_be_stopped(store, registry):
    registry.statuses = [503] * 100

    def stop(step):
        if step.status.startswith("trying again: ") and "busy or failing" in step.status:
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        push(
            place(store, registry.host), stop, insecure=True, patience=replace(PATIENT, first_wait=60, longest_wait=60)
        )


def test_it_can_be_stopped(store, registry):
    def stop(step):
        if step.done > 100_000:
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        push(place(store, registry.host), stop, insecure=True, patience=PATIENT, parts=lambda size: 100_000)
    assert registry.manifests == {}


@pytest.mark.skipif(DISTRIBUTION is None, reason="docker-registry is not installed; Debian packages it under that name")
def test_a_model_comes_back_from_the_reference_implementation(store, tmp_path):
    with serving_distribution(tmp_path) as host:
        name = place(store, host, "library/m")
        for parts in (lambda size: 100_000, part_size):
            push(name, lambda step: None, insecure=True, patience=PATIENT, parts=parts)
        shutil.rmtree(tmp_path / "pulled", ignore_errors=True)
        log = pull(tmp_path / "pulled", f"{host}/library/m:latest")
        assert log.reports[-1].state is PullState.DONE
        assert_complete(tmp_path / "pulled", type("Origin", (), {"host": host, "store": store}))
