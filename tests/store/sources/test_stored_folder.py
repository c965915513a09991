"""Models whose manifest lists the files of a folder: hostile names, and files that are missing."""

import json

import pytest

from sotto.store.discovery import discover
from sotto.store.records import Source
from sotto.store.roots import Root
from stores import LLAMA, TOKENIZER, Store, assert_sentence, safetensors

FILE = "application/vnd.sotto.file"


def layers(store, **more):
    """Return the layers of a small model; None leaves a file out."""
    files = {
        "config.json": json.dumps(LLAMA).encode(),
        "tokenizer.json": TOKENIZER,
        "model.safetensors": safetensors({"model.norm.weight": ("F32", (8,))}),
    } | more
    return [
        store.layer("", content, name) | {"mediaType": FILE} for name, content in files.items() if content is not None
    ]


def listed(root):
    listing = discover([Root(Source.SOTTO, root, False)])
    (record,) = listing.records
    return record


def test_a_model_of_files_is_listed(tmp_path):
    store = Store(tmp_path)
    path = store.manifest("m", layers(store))
    record = listed(tmp_path)
    assert (record.runnable, record.architecture, record.parameters) == (True, "llama", 8)
    entries = json.loads(path.read_bytes())
    assert record.size == sum(entry["size"] for entry in (entries["config"], *entries["layers"]))


@pytest.mark.parametrize(
    "name", ["../x.json", "/etc/x.json", "a/../../x.json", "", ".hidden", "a\\b", "c:x", "a//b", "a\0"]
)
def test_names_that_are_no_files_of_a_folder(tmp_path, name):
    store = Store(tmp_path)
    bad = store.layer("", b"{}") | {"mediaType": FILE, "name": name}
    store.manifest("m", [*layers(store), bad])
    record = listed(tmp_path)
    assert not record.runnable
    assert_sentence(record.reason, "a path within a folder")


def test_two_files_of_one_name(tmp_path):
    store = Store(tmp_path)
    store.manifest("m", [*layers(store), *layers(store)])
    assert_sentence(listed(tmp_path).reason, "config.json", "there once")


@pytest.mark.parametrize(
    ("more", "mention"),
    [
        ({"config.json": None}, "config.json"),
        ({"tokenizer.json": None}, "tokenizer.json"),
        ({"model.safetensors": None}, "no weights"),
        ({"model.safetensors": b"damaged!"}, "latest/model.safetensors"),
        ({"model.safetensors.index.json": b'{"weight_map": {"a": "gone.safetensors"}}'}, "gone.safetensors"),
    ],
)
def test_models_that_are_not_whole(tmp_path, more, mention):
    store = Store(tmp_path)
    store.manifest("m", layers(store, **more))
    record = listed(tmp_path)
    assert not record.runnable
    assert_sentence(record.reason, mention)
