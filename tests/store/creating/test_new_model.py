"""Making models from others: shared blobs, small layers, and what a killed or stopped process leaves."""

import json
import os
from dataclasses import replace

import pytest

import gguf_writing
from registry_server import large_model, serving
from sotto.errors import BrokenModelError, CancelledError, InvalidRequestError, UnsupportedModelError
from sotto.paths import resources_dir
from sotto.runner.catalogue import catalogue, find
from sotto.runner.model_making import at_folder, create_model, find_base, modelfile_of, read_modelfile
from sotto.store.creating.modelfile import Modelfile, parse_modelfile, write_modelfile
from sotto.store.opening import open_texts
from sotto.store.removal import own_store, remove
from sotto.store.verify import verify
from stores import Store, fingerprint, folder
from tiny_random import write_model

BOB = """
FROM sotto
SYSTEM You are Bob.
PARAMETER temperature 0
PARAMETER stop END
PARAMETER stop " STOP"
TEMPLATE {{ .System }} {{ .Prompt }}
MESSAGE user Hi
MESSAGE assistant "Hello."
LICENSE MIT
"""


def created(name, text, **options):
    """Make a model by the text of a Modelfile, check its files, and return its record and the statuses."""
    steps = []
    create_model(name, parse_modelfile(text), steps.append, **options)
    record = find(name)
    assert verify(record, lambda done, total: None, lambda: False).problems == ()
    assert {path.name for path in own_store().iterdir()} == {"blobs", "lock", "manifests", "working"}
    assert not any((own_store() / "working").iterdir())
    return record, [step.status for step in steps]


def layer(record, kind):
    layers = json.loads(record.path.read_bytes())["layers"]
    found = [each for each in layers if each["mediaType"] == f"application/vnd.ollama.image.{kind}"]
    return [(own_store() / "blobs" / each["digest"].replace(":", "-")).read_bytes() for each in found]


def test_a_model_gets_what_its_modelfile_says():
    record, statuses = created("bob", BOB)
    assert (record.name, record.own, record.runnable) == ("bob:latest", True, True)
    source = open_texts(record)
    assert (source.system, source.chosen_template) == ("You are Bob.", "{{ .System }} {{ .Prompt }}")
    assert dict(source.params) == {"num_predict": 256, "stop": ["END", " STOP"], "temperature": 0}
    assert [dict(row) for row in source.messages] == [
        {"role": "user", "content": "Hi", "thinking": ""},
        {"role": "assistant", "content": "Hello.", "thinking": ""},
    ]
    # The files are those that Ollama writes.
    assert layer(record, "params") == [b'{"num_predict":256,"stop":["END"," STOP"],"temperature":0}\n']
    assert layer(record, "messages") == [b'[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]\n']
    assert layer(record, "license")[-1] == b"MIT"
    assert statuses[0] == "reading model metadata"
    assert statuses[-1] == "writing manifest"
    assert sum(status.startswith("creating new layer sha256:") for status in statuses) > 40


def test_a_modelfile_that_is_shown_makes_the_same_model():
    bob, _ = created("bob", BOB)
    again, statuses = created("again", write_modelfile(modelfile_of(bob)))
    assert again.digest == bob.digest
    assert not any(status.startswith("creating") for status in statuses)


def test_what_is_not_said_is_kept_and_what_is_empty_is_removed():
    created("bob", BOB)
    second, _ = created("second", 'FROM bob\nPARAMETER temperature 0.5\nLICENSE MIT\nMESSAGE user "Other?"')
    source = open_texts(second)
    assert source.system == "You are Bob."
    assert dict(source.params) == {"num_predict": 256, "temperature": 0.5, "stop": ["END", " STOP"]}
    assert [row["content"] for row in source.messages] == ["Other?"]
    assert layer(second, "license").count(b"MIT") == 1
    create_model("third", replace(modelfile_of(second), system="", template="", params={"stop": None}), print)
    third = open_texts(find("third"))
    assert (third.system, third.chosen_template) == ("", "")
    assert dict(third.params) == {"num_predict": 256, "temperature": 0.5}


def test_blobs_are_shared_and_other_stores_stay_as_they_are(home, monkeypatch):
    theirs = Store(home / "theirs")
    theirs.model("llama")
    monkeypatch.setenv("OLLAMA_MODELS", str(theirs.root))
    before = {path: (status[0], status[-1]) for path, status in fingerprint(theirs.root).items()}
    record, _ = created("mine", "FROM llama\nSYSTEM Hi")
    assert {path: (status[0], status[-1]) for path, status in fingerprint(theirs.root).items()} == before
    shared = [path for path in (own_store() / "blobs").iterdir() if path.stat().st_nlink == 2]
    # The weights, their two JSON files and the config blob are the files of the other store.
    assert len(shared) == 5
    other, _ = created("other", "FROM mine\nSYSTEM Ho")
    count = len(list((own_store() / "blobs").iterdir()))
    assert count == 5 + 2
    remove(record)
    assert open_texts(find("other")).system == "Ho"
    assert other.runnable


def test_a_file_that_cannot_be_linked_is_copied_and_a_damaged_copy_refused(home, monkeypatch):
    theirs = Store(home / "theirs")
    path = theirs.model("llama")
    monkeypatch.setenv("OLLAMA_MODELS", str(theirs.root))

    monkeypatch.setattr("sotto.store.creating.new_model.share", lambda source, target: None)
    created("mine", "FROM llama\nSYSTEM Hi")
    assert all(blob.stat().st_nlink == 1 for blob in (own_store() / "blobs").iterdir())
    blob = theirs.blob_path(json.loads(path.read_bytes())["layers"][0]["digest"])
    blob.write_bytes(blob.read_bytes()[:-1] + b"?")
    remove(find("mine"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "another"))
    with pytest.raises(BrokenModelError, match="has another digest"):
        create_model("mine", parse_modelfile("FROM llama"), lambda step: None)
    assert list((own_store()).rglob("sha256-*")) == []


def test_a_gguf_file_becomes_a_model(home):
    file = home / "m.gguf"
    gguf_writing.write_folder(file, write_model(home / "plain", "plain"))
    record, _ = created("mine:f32", f"FROM {file}\nSYSTEM Hi")
    assert (record.name, record.architecture) == ("mine:f32", "llama")
    assert record.size == file.stat().st_size + sum(map(len, (*layer(record, "system"), config_of(record))))
    assert json.loads(config_of(record))["model_family"] == "llama"
    relative = at_folder(parse_modelfile("FROM m.gguf"), home)
    assert find_base(relative.base).path == file
    cut = home / "cut.gguf"
    cut.write_bytes(file.read_bytes()[:-64])
    with pytest.raises(BrokenModelError, match="but the file has only"):
        create_model("cut", Modelfile(str(cut)), lambda step: None)


def config_of(record):
    digest = json.loads(record.path.read_bytes())["config"]["digest"]
    return (own_store() / "blobs" / digest.replace(":", "-")).read_bytes()


def test_what_is_not_here_is_pulled_first(tmp_path):
    with serving(large_model(tmp_path / "origin")) as registry:
        name = f"{registry.host}/library/m"
        record, statuses = created("mine", f"FROM {name}\nSYSTEM Hi", insecure=True)
    assert f"pulling {name}:latest" in statuses
    assert {place.name for each in catalogue().records for place in each.places} >= {f"{name}:latest", "mine:latest"}
    assert record.runnable


@pytest.mark.parametrize(
    ("text", "error", "mentions"),
    [
        ("FROM sotto\nTEMPLATE {{ if .Prompt }}", BrokenModelError, "The template you gave cannot be read"),
        ("FROM sotto\nTEMPLATE no place", BrokenModelError, "should have the messages in it"),
        ("FROM ./missing.gguf", BrokenModelError, "missing.gguf is missing"),
        ("FROM sotto\nADAPTER /nowhere", BrokenModelError, "/nowhere"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(text, error, mentions):
    with pytest.raises(error) as raised:
        create_model("mine", parse_modelfile(text), lambda step: None)
    assert mentions in raised.value.message
    assert not (own_store() / "manifests").exists()


@pytest.mark.parametrize(
    ("line", "mentions"),
    [("temprature 1", "did you mean temperature?"), ("top_p 7", "Option top_p must be from 0 to 1")],
)
def test_options_are_checked(home, line, mentions):
    (home / "Modelfile").write_text(f"FROM sotto\nPARAMETER {line}")
    with pytest.raises(InvalidRequestError) as raised:
        read_modelfile(home / "Modelfile")
    assert mentions in raised.value.message


@pytest.mark.parametrize("quantize", ["", "int8"])
def test_a_folder_is_imported_first(home, quantize):
    weights = write_model(home / "plain", "plain")
    record, statuses = created("mine", f"FROM {weights}\nSYSTEM Hi\nPARAMETER top_k 3", quantize=quantize)
    assert "importing model" in statuses
    assert record.quantization == (quantize or "F32")
    assert (open_texts(record).system, open_texts(record).params["top_k"]) == ("Hi", 3)


def test_a_gguf_file_is_quantized(home):
    file = gguf_writing.write_folder(home / "m.gguf", write_model(home / "plain", "plain"))
    record, _ = created("mine", f"FROM {file}\nSYSTEM Hi", quantize="int8")
    assert (record.quantization, open_texts(record).system) == ("int8", "Hi")
    with pytest.raises(InvalidRequestError, match="int4"):
        create_model("mine", Modelfile(str(file)), print, quantize="q9_9")


def test_models_that_cannot_run_are_refused(home):
    strange = folder(home / "strange", config={"model_type": "strange"})
    with pytest.raises(UnsupportedModelError, match="strange"):
        create_model("mine", Modelfile(str(strange)), lambda step: None)


def test_a_stopped_one_leaves_nothing(home, monkeypatch):
    def stop(step):
        if step.status == "writing manifest":
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        create_model("mine", parse_modelfile(BOB), stop)
    assert [path.name for path in own_store().rglob("*") if path.is_file()] == ["lock"]
    assert [record.name for record in catalogue().records] == ["sotto:latest"]


def test_an_adapter_is_stored_with_its_configuration(home):
    adapter = home / "lora"
    adapter.mkdir()
    source = resources_dir() / "store" / "blobs"
    weights = next(path for path in source.iterdir() if path.stat().st_size > 100_000 and b"dtype" in path.read_bytes())
    (adapter / "adapter_model.safetensors").write_bytes(weights.read_bytes())
    (adapter / "adapter_config.json").write_text('{"r": 8}')
    create_model("mine", Modelfile("sotto", adapters=(os.fspath(adapter),)), lambda step: None)
    layers = json.loads((own_store() / "manifests/registry.ollama.ai/library/mine/latest").read_bytes())["layers"]
    kinds = [(each["mediaType"].rpartition(".")[2], each.get("name")) for each in layers]
    assert ("adapter", None) in kinds
    assert ("json", "adapter_config.json") in kinds
