"""Making models through the API with Ollama's client: from models, and from files that are sent."""

import os
import shutil
import time

import ollama
import pytest

import gguf_writing
from push_server import receiving
from sotto.store.creating.uploads import GRACE_SECONDS
from sotto.store.removal import own_store
from tiny_random import write_model

PRESET = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]


@pytest.fixture(autouse=True)
def store_folder(ollama_client):
    yield own_store()
    for row in ollama_client.list().models:
        if row.model.startswith("made"):
            ollama_client.delete(row.model)
    shutil.rmtree(own_store(), ignore_errors=True)


@pytest.fixture
def model_file(tmp_path):
    return gguf_writing.write_folder(tmp_path / "m.gguf", write_model(tmp_path / "plain", "plain"))


def test_a_model_is_made_from_another_and_answers(ollama_client):
    rows = list(
        ollama_client.create(
            "made",
            from_="sotto",
            system="You are Bob.",
            parameters={"temperature": 0, "stop": ["END"], "num_predict": 8},
            template="{{ range .Messages }}{{ .Role }}: {{ .Content }}\n{{ end }}",
            license=["MIT", "Mine"],
            messages=PRESET,
            stream=True,
        )
    )
    statuses = [row.status for row in rows]
    assert statuses[0] == "reading model metadata"
    assert statuses[-2:] == ["writing manifest", "success"]
    assert any(status.startswith("creating new layer sha256:") for status in statuses)
    shown = ollama_client.show("made")
    assert shown.template.startswith("{{ range")
    assert shown.license.endswith("MIT\nMine")
    assert shown.parameters.splitlines()[0].split() == ["num_predict", "8"]
    assert 'SYSTEM You are Bob.\nTEMPLATE """{{ range' in shown.modelfile
    assert "MESSAGE user Hi\nMESSAGE assistant Hello.\n" in shown.modelfile
    raw = ollama_client.generate("made", "system: You are Bob.\nuser: Hi\nassistant: Hello.\nuser: Who?\n", raw=True)
    answer = ollama_client.chat("made", [{"role": "user", "content": "Who?"}])
    assert (answer.prompt_eval_count, answer.message.content) == (raw.prompt_eval_count, raw.response)
    assert answer.eval_count <= 8


def test_making_it_again_replaces_what_is_loaded(ollama_client):
    for system in ("One.", "Two."):
        assert ollama_client.create("made", from_="sotto", system=system).status == "success"
        assert ollama_client.show("made").modelfile.splitlines()[1] == f"SYSTEM {system}"
        ollama_client.generate("made", "")
    assert [row.model for row in ollama_client.ps().models].count("made:latest") == 1
    statuses = [row.status for row in ollama_client.create("made", from_="made", stream=True)]
    assert not any(status.startswith("creating") for status in statuses)


def test_a_file_is_sent_and_becomes_a_model(ollama_client, served, model_file):
    digest = ollama_client.create_blob(model_file)
    assert served.http.head(f"/api/blobs/{digest}").status_code == 200
    assert served.http.post(f"/api/blobs/{digest}", content=b"anything").status_code == 200
    assert ollama_client.create("made", files={"m.gguf": digest}, system="Be brief.").status == "success"
    assert ollama_client.show("made").modelfile.startswith("FROM made:latest\nSYSTEM Be brief.")
    assert [row.model for row in ollama_client.list().models if row.model.startswith("made")] == ["made:latest"]


def test_a_folder_is_sent_file_by_file_and_quantized(ollama_client, tmp_path):
    folder = write_model(tmp_path / "plain", "plain")
    files = {path.name: ollama_client.create_blob(path) for path in folder.iterdir()}
    rows = list(ollama_client.create("made", files=files, quantize="q8", system="Hi", stream=True))
    assert "importing model" in [row.status for row in rows]
    assert rows[-1].status == "success"
    shown = ollama_client.show("made")
    assert shown.details.quantization_level == "int8"
    assert "SYSTEM Hi" in shown.modelfile
    with pytest.raises(ollama.ResponseError, match="is no file of a model"):
        ollama_client.create("made", files={"a.py": files["config.json"], "b.py": files["config.json"]})


def test_a_file_with_another_digest_or_cut_off_is_not_kept(served, store_folder):
    wrong = served.http.post(f"/api/blobs/sha256:{64 * 'a'}", content=b"anything")
    assert wrong.status_code == 400
    assert wrong.json()["error"].startswith(f'digest mismatch, expected "sha256:{64 * "a"}", got "sha256:')
    assert served.http.post("/api/blobs/sha256:123", content=b"x").json() == {"error": "invalid digest format"}

    def broken():
        yield b"x" * (2 << 20)
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        served.http.post(f"/api/blobs/sha256:{64 * 'b'}", content=broken())
    deadline = time.monotonic() + 10
    while any(set(names) - {"lock"} for _, _, names in os.walk(store_folder)):
        assert time.monotonic() < deadline


def test_a_file_that_no_model_uses_goes_after_an_hour(ollama_client, served, store_folder, tmp_path, model_file):
    used, unused, later = (tmp_path / name for name in ("used", "unused", "later"))
    shutil.copy(model_file, used)
    unused.write_bytes(b"unused")
    later.write_bytes(b"later")
    digests = [ollama_client.create_blob(path) for path in (used, unused)]
    ollama_client.create("made", files={"m.gguf": digests[0]})
    for path in (store_folder / "blobs").iterdir():
        os.utime(path, (time.time() - GRACE_SECONDS - 1,) * 2)
    digests.append(ollama_client.create_blob(later))
    states = [served.http.head(f"/api/blobs/{digest}").status_code for digest in digests]
    assert states == [200, 404, 200]


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({}, 400, "invalid model name"),
        ({"model": "made/"}, 400, "'made/' is not a model name"),
        ({"model": "made"}, 400, "neither 'from' or 'files' was specified"),
        ({"model": "made", "from": "/etc"}, 400, "from must be the name of a model"),
        (
            {"model": "made", "from": "sotto", "parameters": {"temperature": "warm"}},
            400,
            "temperature must be a number",
        ),
        ({"model": "made", "from": "sotto", "parameters": []}, 200, ""),
        ({"model": "made", "from": "sotto", "parameters": "x"}, 400, "parameters must be an object"),
        ({"model": "made", "from": "sotto", "license": 1}, 400, "license must be a string or a list of strings"),
        ({"model": "made", "from": "sotto", "messages": [{"role": "robot"}]}, 400, "messages[0].role must be one of"),
        ({"model": "made", "from": "sotto", "messages": [{"role": "user", "images": ["x"]}]}, 400, "cannot be stored"),
        ({"model": "made", "from": "sotto", "template": "{{ if .Prompt }}"}, 400, "a block has no {{ end }}"),
        ({"model": "made", "files": {"m.gguf": "x"}}, 400, "invalid digest format"),
        ({"model": "made", "files": {"m.gguf": f"sha256:{64 * '0'}"}}, 400, "not found; send it to /api/blobs/"),
        ({"model": "made", "from": "sotto", "quantize": "q4_K_M"}, 400, "int4"),
    ],
)
def test_requests_that_cannot_be_done(served, body, status, error):
    answer = served.http.post("/api/create", json={"stream": False, **body})
    assert answer.status_code == status, answer.text
    assert error in answer.json().get("error", "")


def test_a_model_is_uploaded_and_what_is_sent_is_told(ollama_client, served):
    with receiving() as registry:
        name = f"{registry.host}/me/made"
        ollama_client.create(name, from_="sotto", system="Hi")
        rows = list(ollama_client.push(name, insecure=True, stream=True))
        statuses = list(dict.fromkeys(row.status for row in rows))
        assert statuses[0] == "retrieving manifest"
        assert statuses[1].startswith("uploading 4.6 MB in ")
        assert statuses[-2:] == ["pushing manifest", "success"]
        assert any(
            row.status == f"pushing {row.digest[7:19]}" and row.completed == row.total for row in rows if row.digest
        )
        assert list(registry.manifests) == ["me/made:latest"]
        assert ollama_client.push(name, insecure=True).status == "success"
        ollama_client.delete(name)
        with pytest.raises(ollama.ResponseError, match="not found"):
            ollama_client.push(name, insecure=True)
    assert served.http.post("/api/push", json={}).json() == {"error": "invalid model name"}


def test_disconnecting_stops_it(served, store_folder):
    with served.http.stream("POST", "/api/create", json={"model": "made", "from": "sotto"}) as answer:
        next(answer.iter_lines())
    deadline = time.monotonic() + 10
    while any((store_folder / "working").glob("*")):
        assert time.monotonic() < deadline
    assert served.http.post("/api/create", json={"model": "made", "from": "sotto", "stream": False}).status_code == 200


@pytest.mark.parametrize("stream", [True, False])
def test_a_model_without_a_manifest_is_not_uploaded(served, stream):
    answer = served.http.post("/api/push", json={"model": "thinking", "stream": stream})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("thinking:latest is not in a store with manifests; `sotto create` makes")
