"""Adopting models that are folders of files: of Hugging Face's cache, of LM Studio, and any others."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from adopted import SHARED, assert_whole, found, keep
from builtin_repository import builtin_files
from hub_server import hub_serving
from pulling import models_in
from sotto.errors import BrokenModelError, SottoError
from sotto.store.adapters.user_adapters import read_user_adapter, save_user_adapter
from sotto.store.disk_use import disk_use
from sotto.store.locating import store_of
from sotto.store.opening import open_model
from sotto.store.records import Source, is_adoptable
from sotto.store.removal import erase, remove
from sotto.store.sources.manifest import FILE
from sotto.store.upkeep import adopting
from sotto.store.upkeep.linking import Sharing
from stores import assert_sentence, fingerprint, folder, repository, safetensors

SAME = ("architecture", "parameters", "format", "context_length", "capabilities", "runnable", "quantization")
LARGE = "model-00001-of-00002.safetensors"


@pytest.fixture(params=["folder", "cache", "hub", "studio"])
def theirs(request, tmp_path):
    """Return the folder of another program and the record of its model, which has two shards and can answer."""
    root, files = tmp_path / "others", builtin_files() | {"README.md": b"Hello", "notes.json": b"{}"}
    source = {"folder": Source.FOLDER, "studio": Source.LMSTUDIO}.get(request.param, Source.HUGGINGFACE)
    if request.param == "hub":
        library = pytest.importorskip("huggingface_hub")
        with hub_serving() as (hub, _):
            hub.add("org/model", files)
            library.snapshot_download("org/model", endpoint=hub.endpoint, cache_dir=root, token=False)
    elif request.param == "cache":
        repository(root, "org/model", files)
    else:
        folder(root / "org" / "model", **(dict.fromkeys(("model.safetensors",)) | files))
    (record,) = found(source, root).values()
    assert record.path.is_dir()
    return root, record


def files_of(record):
    """Return the names of a stored model's files and of its licence."""
    return {layer.name: layer for layer in store_of(record.path).read_manifest(record.path).layers}


def test_a_folder_becomes_a_model_that_stays(store, theirs):
    root, record = theirs
    assert is_adoptable(record)
    before = fingerprint(root)
    source = open_model(record)
    adopted = keep(record, "ns/kept:q4")
    assert fingerprint(root) == before
    shutil.rmtree(root)
    kept = assert_whole(store.root, "ns/kept:q4")
    assert kept.digest == adopted.digest
    assert [getattr(kept, name) for name in SAME] == [getattr(record, name) for name in SAME]
    layers = files_of(kept)
    assert layers.keys() == builtin_files().keys()
    assert [name for name, layer in layers.items() if layer.kind != FILE] == ["LICENSE"]
    opened = open_model(kept)
    assert (opened.json_files, opened.tokenizer_json) == (source.json_files, source.tokenizer_json)
    assert [dict(file.tensors) for file in opened.tensor_files] == [dict(file.tensors) for file in source.tensor_files]


def test_its_files_take_no_space_twice(store, theirs):
    _, record = theirs
    adopted = keep(record)
    shared = sum(adopted.bytes_by.get(how, 0) for how in SHARED)
    own = sum(layer.size for layer in files_of(assert_whole(store.root, "kept:latest")).values())
    assert adopted.bytes_by.get(Sharing.COPIED, 0) == 0
    assert shared + adopted.present == own
    if Sharing.LINKED in adopted.bytes_by:
        use = disk_use([record, *found(Source.SOTTO, store.root).values()])
        assert use.freed[adopted.digest] < record.size / 100
    again = keep(record, "again")
    assert (again.digest, sum(again.bytes_by.values()), again.present) == (adopted.digest, 0, own)


def test_it_is_copied_where_the_file_system_cannot_share(store, theirs, no_links):
    root, record = theirs
    before = fingerprint(root)
    adopted = keep(record)
    assert set(adopted.bytes_by) == {Sharing.COPIED}
    assert fingerprint(root) == before
    assert_whole(store.root, "kept:latest")
    assert {path.stat().st_nlink for path in (store.root / "blobs").iterdir()} == {1}


def test_both_are_in_the_list_by_their_names(store, theirs):
    root, record = theirs
    adopted = keep(record)
    assert adopted.digest != record.digest
    both = [*found(Source.SOTTO, store.root).values(), *found(record.source, root).values()]
    assert {each.name for each in both} == {"kept:latest", "one:latest", "two:latest", record.name}
    assert [is_adoptable(each) for each in both] == [False, False, False, True]


def test_the_files_of_an_embedding_model_are_kept(store, tmp_path):
    modules = [
        {"type": "sentence_transformers.models.Transformer", "path": ""},
        {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
        {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"},
    ]
    path = folder(
        tmp_path / "others" / "embedder",
        **{
            "modules.json": modules,
            "sentence_bert_config.json": {"max_seq_length": 64},
            "chat_template.jinja": b"{{ messages }}",
            "LICENCE.txt": b"Yours.",
            "UNRELATED.bin": b"0",
        },
    )
    for name, content in (
        ("1_Pooling/config.json", b'{"pooling_mode_mean_tokens": true}'),
        ("additional_chat_templates/rag.jinja", b"{{ documents }}"),
        ("other/config.json", b"{}"),
    ):
        (path / name).parent.mkdir()
        (path / name).write_bytes(content)
    (record,) = found(Source.FOLDER, tmp_path / "others").values()
    source = open_model(record)
    keep(record)
    shutil.rmtree(path)
    kept = assert_whole(store.root, "kept:latest")
    opened = open_model(kept)
    assert (opened.modules, opened.more_templates) == (source.modules, source.more_templates)
    assert [module.kind for module in opened.modules] == ["Transformer", "Pooling", "Normalize"]
    assert files_of(kept).keys() == {
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "modules.json",
        "sentence_bert_config.json",
        "chat_template.jinja",
        "1_Pooling/config.json",
        "additional_chat_templates/rag.jinja",
        "LICENCE.txt",
    }


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "LICENSE"])
def test_nothing_outside_the_folder_is_kept(store, tmp_path, name):
    path = folder(tmp_path / "others" / "model", **{name: None})
    (tmp_path / "secret").write_bytes(safetensors({"w": ("F32", (9,))}))
    (path / name).symlink_to(tmp_path / "secret")
    (record,) = found(Source.FOLDER, path).values()
    own = fingerprint(store.root / "blobs")
    with pytest.raises(BrokenModelError) as raised:
        keep(record)
    assert_sentence(raised.value.message, path / name, "leads out of")
    assert fingerprint(store.root / "blobs") == own


@pytest.mark.parametrize("shared", [True, False])
def test_a_damaged_file_of_the_cache_is_found(store, tmp_path, shared, request):
    if not shared:
        request.getfixturevalue("no_links")
    files = builtin_files()
    repository(tmp_path / "cache", "org/model", files)
    blob = Path(os.path.realpath(next((tmp_path / "cache").rglob(f"snapshots/*/{LARGE}"))))
    assert blob.name == hashlib.sha256(files[LARGE]).hexdigest()
    blob.write_bytes(files[LARGE][:-1] + bytes([files[LARGE][-1] ^ 1]))
    own, before = fingerprint(store.root / "blobs"), fingerprint(tmp_path / "cache")
    (record,) = found(Source.HUGGINGFACE, tmp_path / "cache").values()
    with pytest.raises(BrokenModelError) as raised:
        keep(record)
    assert_sentence(raised.value.message, LARGE, "is damaged")
    assert (fingerprint(store.root / "blobs"), fingerprint(tmp_path / "cache")) == (own, before)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"model.safetensors": safetensors({"w": ("F32", (9,))})[:-1]}, "model.safetensors"),
        ({"model.safetensors.index.json": {"weight_map": {"w": "model-00001-of-00001.safetensors"}}}, "is incomplete"),
        ({"config.json": b"{"}, "config.json"),
    ],
)
def test_an_incomplete_folder_is_not_kept(store, tmp_path, change, why):
    path = folder(tmp_path / "others" / "model", **change)
    (record,) = found(Source.FOLDER, path.parent).values()
    with pytest.raises(BrokenModelError) as raised:
        keep(record)
    assert_sentence(raised.value.message, path, why)
    assert not list((store.root / "working").glob("*/sha256-*"))


def test_a_name_that_no_manifest_can_have_is_said(store, tmp_path):
    path = folder(tmp_path / "others" / "model")
    (path / "additional_chat_templates").mkdir()
    (path / "additional_chat_templates" / "a:b.jinja").write_bytes(b"")
    (record,) = found(Source.FOLDER, path.parent).values()
    with pytest.raises(SottoError) as raised:
        keep(record)
    assert_sentence(raised.value.message, path, "a:b.jinja")


def test_two_files_with_the_same_bytes_are_one_blob(store, tmp_path):
    path = folder(tmp_path / "others" / "model", **{"special_tokens_map.json": {}, "added_tokens.json": {}})
    (record,) = found(Source.FOLDER, path.parent).values()
    keep(record)
    kept = assert_whole(store.root, "kept:latest")
    assert open_model(kept).json_files.keys() >= {"special_tokens_map.json", "added_tokens.json"}


def test_a_blob_that_vanishes_from_the_store_meanwhile_is_taken_from_the_folder(store, theirs, monkeypatch):
    _, record = theirs
    keep(record, "first")
    install = adopting.install

    def empty_and_install(*arguments):
        monkeypatch.setattr(adopting, "install", install)
        for each in models_in(store.root).values():
            erase(remove(each))
        assert not any((store.root / "blobs").iterdir())
        install(*arguments)

    monkeypatch.setattr(adopting, "install", empty_and_install)
    adopted = keep(record)
    kept = assert_whole(store.root, "kept:latest")
    assert sum(adopted.bytes_by.values()) == sum(layer.size for layer in files_of(kept).values())


def test_the_chosen_adapter_goes_with_the_copy(store, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = folder(tmp_path / "others" / "model")
    (record,) = found(Source.FOLDER, path.parent).values()
    save_user_adapter(record.digest, tmp_path / "adapter")
    assert read_user_adapter(keep(record).digest) == tmp_path / "adapter"


def test_the_manifest_is_the_same_for_the_same_files(store, tmp_path):
    digests = []
    for name in ("one", "two"):
        path = folder(tmp_path / name / "model")
        (record,) = found(Source.FOLDER, path.parent).values()
        digests.append(keep(record, f"from-{name}").digest)
    assert digests[0] == digests[1]
    assert json.loads((store.path("from-one")).read_bytes())["layers"]
