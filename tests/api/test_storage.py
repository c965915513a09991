"""Downloading, copying and deleting models through the API, with Ollama's client and a registry on loopback."""

import json
import shutil
import threading
import time

import httpx
import ollama
import pytest

from registry_server import serving, status
from sotto.paths import resources_dir
from sotto.store.removal import own_store
from stores import Store, fingerprint, folder

QUESTION = [{"role": "user", "content": "Who are you?"}]


@pytest.fixture
def registry(tmp_path):
    """Yield a registry with two versions of the built-in model."""
    shutil.copytree(resources_dir() / "store", tmp_path / "origin")
    origin = Store(tmp_path / "origin")
    builtin = json.loads(origin.path("sotto").read_bytes())
    for name in ("m", "newer"):
        layers = [*builtin["layers"], origin.layer("license", name.encode())]
        origin.manifest(name, layers, builtin["config"])
    with serving(origin) as registry:
        yield registry


@pytest.fixture
def store_folder():
    yield own_store()
    shutil.rmtree(own_store(), ignore_errors=True)


@pytest.fixture
def name(registry, store_folder, ollama_client):
    return f"{registry.host}/library/m:latest"


def names(client):
    return [row.model for row in client.list().models]


def files(root):
    """Return the files below a folder, without the lock of a store."""
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path.name != "lock")


def test_a_download_reports_progress_and_the_model_answers(name, registry, store_folder, ollama_client):
    assert name not in names(ollama_client)
    rows = list(ollama_client.pull(name, insecure=True, stream=True))
    statuses = list(dict.fromkeys(row.status for row in rows))
    digest = next(row.digest for row in rows if row.digest)
    assert statuses == [
        "pulling manifest",
        f"pulling {digest[7:19]}",
        "verifying sha256 digest",
        "writing manifest",
        "success",
    ]
    progress = [row for row in rows if row.digest]
    assert [row.completed for row in progress] == sorted(row.completed for row in progress)
    assert (
        progress[-1].completed
        == progress[-1].total
        == sum(path.stat().st_size for path in (store_folder / "blobs").iterdir())
    )
    assert "Sotto" in ollama_client.chat(name, QUESTION, options={"num_predict": 20}).message.content
    assert name in names(ollama_client)
    assert ollama_client.pull(name, insecure=True).status == "success"


def test_a_copy_is_another_name_for_the_same_model(name, store_folder, ollama_client):
    ollama_client.pull(name, insecure=True)
    ollama_client.copy(name, "other")
    ollama_client.copy(name, name)
    assert ollama_client.show("other").modelinfo == ollama_client.show(name).modelinfo
    before = files(store_folder / "blobs")
    ollama_client.delete(name)
    assert files(store_folder / "blobs") == before
    assert "other:latest" in names(ollama_client)
    assert name not in names(ollama_client)
    assert ollama_client.show("other").capabilities == ["completion"]
    ollama_client.delete("other:latest")
    assert files(store_folder) == []
    with pytest.raises(ollama.ResponseError, match="model 'other' not found") as raised:
        ollama_client.delete("other")
    assert raised.value.status_code == 404


def test_a_deleted_model_finishes_its_answer_and_is_unloaded(name, store_folder, served, ollama_client):
    ollama_client.pull(name, insecure=True)
    fields = {"options": {"num_predict": 200, "temperature": 0}, "raw": True}
    whole = ollama_client.generate(name, "Once", **fields).response
    stream = ollama_client.generate(name, "Once", stream=True, **fields)
    begun = next(stream).response
    with ollama.Client(served.url) as another:
        another.delete(name)
    assert files(store_folder) == []
    assert begun + "".join(piece.response for piece in stream) == whole
    deadline = time.monotonic() + 5
    while name in [row.model for row in ollama_client.ps().models]:
        assert time.monotonic() < deadline


def test_a_name_reused_for_another_model_takes_effect_at_once(name, registry, store_folder, ollama_client):
    newer = name.replace("/m:", "/newer:")
    for model_name in (name, newer):
        ollama_client.pull(model_name, insecure=True)
    ollama_client.generate(name, "")
    digest = {row.model: row.digest for row in ollama_client.list().models}
    assert digest[name] != digest[newer]
    ollama_client.copy(newer, name)
    assert digest[name] not in [model.digest for model in ollama_client.ps().models]
    # The older model has no name any more, so the one file that only it used is gone.
    assert (
        len(files(store_folder / "blobs")) == len(json.loads(registry.store.path("newer").read_bytes())["layers"]) + 1
    )


def test_models_of_other_stores_are_never_changed(serve, tmp_path, monkeypatch):
    theirs = Store(tmp_path / "theirs")
    theirs.model("theirs")
    monkeypatch.setenv("SOTTO_FOLDERS", str(theirs.root))
    before = fingerprint(theirs.root)
    with ollama.Client(serve().url) as client:
        with pytest.raises(ollama.ResponseError) as raised:
            client.delete("theirs")
        assert (raised.value.status_code, "other stores are read-only" in raised.value.error) == (403, True)
        assert not own_store().exists()
        client.copy("theirs", "mine")
        assert {"theirs:latest", "mine:latest"} & set(names(client))
        client.delete("mine")
    assert fingerprint(theirs.root) == before
    assert files(own_store() / "blobs") == []


def test_a_folder_is_copied_into_the_own_store(serve, tmp_path, monkeypatch):
    folder(tmp_path / "theirs" / "model", fill=5)
    monkeypatch.setenv("SOTTO_FOLDERS", str(tmp_path / "theirs"))
    before = fingerprint(tmp_path / "theirs")
    with ollama.Client(serve().url) as client:
        client.copy("model", "mine")
        assert fingerprint(tmp_path / "theirs") == before
        shutil.rmtree(tmp_path / "theirs" / "model")
        assert "mine:latest" in names(client)
        client.delete("mine")
    assert files(own_store() / "blobs") == []


def test_a_model_missing_from_the_registry_is_reported(registry, store_folder, served, ollama_client):
    name = f"{registry.host}/library/nope:latest"
    for stream in (True, False):
        with pytest.raises(ollama.ResponseError, match="nope:latest; check its name"):
            list(ollama_client.pull(name, insecure=True, stream=stream))
    assert files(store_folder) == []


def test_disconnecting_stops_a_download_that_can_be_resumed(name, registry, store_folder, served, ollama_client):
    registry.pause = 0.02
    whole = {"model": name, "insecure": True, "stream": False}
    with served.http.stream("POST", "/api/pull", json={"model": name, "insecure": True}) as answer:
        rows = answer.iter_lines()
        assert json.loads(next(rows)) == {"status": "pulling manifest"}
        while "total" not in json.loads(next(rows)):
            pass
    registry.pause = 0.0
    # The second download begins once the first has ended.
    assert served.http.post("/api/pull", json=whole).json() == {"status": "success"}
    assert name in names(ollama_client)


def test_a_second_client_joins_a_running_download(name, registry, store_folder, served, ollama_client):
    registry.pause = 0.02
    body = {"model": name, "insecure": True}
    with (
        served.http.stream("POST", "/api/pull", json=body) as first,
        httpx.stream("POST", served.url + "/api/pull", json=body, timeout=60) as second,
    ):
        for answer in (first, second):
            rows = answer.iter_lines()
            while "total" not in (row := json.loads(next(rows))):
                pass
        # A client that did not allow insecure connections does not join an insecure download.
        refused = httpx.post(served.url + "/api/pull", json={"model": name, "stream": False})
        assert refused.status_code == 409
        assert refused.json()["error"].endswith("set it too, or try again later.")
        first.close()
        registry.pause = 0.0
        *_, last = rows
    assert json.loads(last) == {"status": "success"}
    assert row["completed"] <= row["total"]
    assert name in names(ollama_client)
    blobs = registry.paths("/blobs/")
    assert len(blobs) == len(set(blobs))


def test_stopping_the_server_stops_downloads(name, registry, store_folder, serve):
    registry.pause = 0.02
    served = serve()
    with served.http.stream("POST", "/api/pull", json={"model": name, "insecure": True}) as answer:
        rows = answer.iter_lines()
        next(rows)
        assert served.server.stop()
        assert json.loads(list(rows)[-1]) == {"error": "The server is stopping."}
    assert "downloads" not in [thread.name for thread in threading.enumerate()]


def test_blobs_can_be_looked_up(name, store_folder, served, ollama_client):
    ollama_client.pull(name, insecure=True)
    (blob, *_) = (store_folder / "blobs").iterdir()
    assert served.http.head(f"/api/blobs/{blob.name.replace('-', ':')}").status_code == 200
    assert served.http.head("/api/blobs/sha256:" + 64 * "0").status_code == 404
    assert served.http.head("/api/blobs/sha256:zz").status_code == 400


def test_a_failing_registry_is_reported(name, registry, served):
    registry.fail("/manifests/", status(403), status(403))
    answer = served.http.post("/api/pull", json={"name": name, "insecure": True, "stream": False})
    assert answer.status_code == 500
    assert "does not give" in answer.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/copy", {"source": "a\u2028b", "destination": "c"}),
        ("POST", "/api/copy", {"source": "a", "destination": "\u202ec"}),
        ("DELETE", "/api/delete", {"model": "a\u2028b"}),
        ("POST", "/api/show", {"model": "a\u2028b"}),
        ("POST", "/api/embed", {"model": "a\u2028b", "input": "x"}),
        ("POST", "/api/generate", {"model": "sotto", "prompt": "x", "keep_alive": "1\nm"}),
        ("POST", "/api/generate", {"model": "sotto", "prompt": "x", "think": "\u202e"}),
    ],
)
def test_quoted_values_stay_printable_on_one_line(served, method, path, body):
    answer = served.http.request(method, path, json=body)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"].isprintable()
