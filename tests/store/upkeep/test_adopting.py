"""Adopting models: they become ours whatever happens to the other program's files, and those stay as they are."""

import os
import shutil
from pathlib import Path

import pytest

from adopted import SHARED, assert_whole, found, keep
from gguf_writing import write_parts
from material import material
from places import REFERENCES
from pulling import models_in
from sotto.errors import BrokenModelError, CancelledError, StoreError
from sotto.store.opening import open_model
from sotto.store.records import Source
from sotto.store.removal import erase, remove
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.upkeep import adopting
from sotto.store.upkeep.linking import Sharing
from sotto.store.user_templates import read_user_template, save_user_template
from stores import Store, assert_sentence, fingerprint, repository


@pytest.fixture
def theirs(tmp_path):
    made = Store(tmp_path / "ollama")
    made.model("theirs", fill=3)
    return made


def test_a_model_of_ollama_is_shared_and_stays_when_ollama_deletes_it(store, theirs):
    before = fingerprint(theirs.root)
    record = found(Source.OLLAMA, theirs.root)["theirs:latest"]
    adopted = keep(record)
    assert fingerprint(theirs.root) == before
    # The configuration and the tokenizer are those of the models in the store.
    assert adopted.present > 0
    assert sum(adopted.bytes_by.get(how, 0) for how in SHARED) + adopted.present == record.size
    assert adopted.digest == record.digest
    shutil.rmtree(theirs.root)
    assert open_model(assert_whole(store.root, "kept:latest")).tensor_files


def test_every_model_of_a_real_store_is_adopted(store):
    root = material("ollama-store")
    before = fingerprint(root)
    models = found(Source.OLLAMA, root)
    for number, record in enumerate(models.values()):
        keep(record, f"m{number}")
        kept = assert_whole(store.root, f"m{number}:latest")
        assert (kept.digest, kept.runnable, kept.parameters) == (record.digest, record.runnable, record.parameters)
    assert len(models) > 3
    assert fingerprint(root) == before


def test_a_copy_is_made_where_the_file_system_cannot_share(store, theirs, no_links):
    for path in (theirs.root / "blobs").iterdir():
        path.chmod(0o600)
    before = fingerprint(theirs.root)
    adopted = keep(found(Source.OLLAMA, theirs.root)["theirs:latest"])
    assert set(adopted.bytes_by) == {Sharing.COPIED}
    assert fingerprint(theirs.root) == before
    assert_whole(store.root, "kept:latest")
    for path in (store.root / "blobs").iterdir():
        assert path.stat().st_nlink == 1
        assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")
def test_a_model_on_another_disk_is_copied(store, monkeypatch, tmp_path):
    there = Path("/dev/shm", f"sotto-{os.getpid()}")
    if os.path.realpath(there.parent) == there.parent and there.parent.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    try:
        Store(there).model("theirs", fill=3)
        before = fingerprint(there)
        adopted = keep(found(Source.OLLAMA, there)["theirs:latest"])
        assert set(adopted.bytes_by) == {Sharing.COPIED}
        assert fingerprint(there) == before
    finally:
        shutil.rmtree(there)
    assert_whole(store.root, "kept:latest")


@pytest.mark.parametrize("shared", [True, False])
def test_a_damaged_model_is_not_adopted(store, theirs, shared, request):
    if not shared:
        request.getfixturevalue("no_links")
    layers = theirs.layers(9)
    path = theirs.blob_path(layers[0]["digest"])
    theirs.manifest("damaged", layers)
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    own, before = fingerprint(store.root / "blobs"), fingerprint(theirs.root)
    with pytest.raises(BrokenModelError) as raised:
        keep(found(Source.OLLAMA, theirs.root)["damaged:latest"])
    assert_sentence(raised.value.message, path)
    assert fingerprint(store.root / "blobs") == own
    assert fingerprint(theirs.root) == before
    assert sorted(models_in(store.root)) == ["one:latest", "two:latest"]


def test_cancelling_leaves_nothing(store, theirs):
    own = fingerprint(store.root / "blobs")
    with pytest.raises(CancelledError):
        keep(found(Source.OLLAMA, theirs.root)["theirs:latest"], cancelled=lambda: True)
    assert fingerprint(store.root / "blobs") == own
    assert not list((store.root / "working").iterdir())
    assert sorted(models_in(store.root)) == ["one:latest", "two:latest"]


def test_too_little_room_is_said_before_the_first_byte(store, theirs, no_links, monkeypatch):
    monkeypatch.setattr(adopting, "free_bytes", lambda root: 1000)
    with pytest.raises(StoreError) as raised:
        keep(found(Source.OLLAMA, theirs.root)["theirs:latest"])
    assert_sentence(raised.value.message, store.root, "1 kB free")


def test_another_model_of_that_name_is_kept_unless_replacing_is_asked_for(store, theirs):
    record = found(Source.OLLAMA, theirs.root)["theirs:latest"]
    with pytest.raises(StoreError, match="There is a one:latest already"):
        keep(record, "one")
    keep(record, "one", replacing=True)
    assert models_in(store.root)["one:latest"].digest == record.digest


def test_a_blob_that_vanishes_from_the_store_meanwhile_is_taken_from_the_other(store, theirs, monkeypatch):
    record = found(Source.OLLAMA, theirs.root)["theirs:latest"]
    install = adopting.install

    def delete_and_install(*arguments):
        monkeypatch.setattr(adopting, "install", install)
        for each in models_in(store.root).values():
            erase(remove(each))
        assert not any((store.root / "blobs").iterdir())
        install(*arguments)

    monkeypatch.setattr(adopting, "install", delete_and_install)
    keep(record)
    assert_whole(store.root, "kept:latest")


@pytest.fixture(params=["folder", "cache", "studio"])
def gguf_record(request, tmp_path):
    """Return the record of a GGUF file in a plain folder, in Hugging Face's cache or in LM Studio's folder."""
    theirs = OllamaStore(material("ollama-store"))
    path = theirs.root / "manifests" / "registry.ollama.ai" / "library" / "stories260k" / "latest"
    content = theirs.gguf_files(theirs.read_manifest(path))[0].read_bytes()
    root = tmp_path / "others"
    if request.param == "cache":
        repository(root, "org/model", {"tiny.gguf": content})
        source = Source.HUGGINGFACE
    else:
        (root / "pub" / "tiny").mkdir(parents=True)
        (root / "pub" / "tiny" / "tiny.gguf").write_bytes(content)
        source = Source.LMSTUDIO if request.param == "studio" else Source.FOLDER
    (record,) = found(source, root).values()
    return root, record


def test_a_gguf_file_becomes_a_model_of_one_blob(store, gguf_record, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root, record = gguf_record
    save_user_template(record.digest, "{{ messages }}")
    before = fingerprint(root)
    adopted = keep(record, "ns/kept:q4")
    assert fingerprint(root) == before
    assert sum(adopted.bytes_by.values()) == record.size
    kept = assert_whole(store.root, "ns/kept:q4")
    same = ("architecture", "parameters", "format", "context_length", "capabilities", "runnable")
    assert [getattr(kept, name) for name in same] == [getattr(record, name) for name in same]
    assert read_user_template(kept.digest) == "{{ messages }}"
    again = keep(record, "again")
    assert (again.digest, kept.digest) == (adopted.digest, adopted.digest)


def test_a_file_that_the_other_program_replaces_stays_as_it_was(store, gguf_record):
    _, record = gguf_record
    keep(record)
    real = Path(os.path.realpath(record.path))
    new = real.with_name("new")
    new.write_bytes(b"other")
    new.replace(real)
    assert_whole(store.root, "kept:latest")


def test_a_file_of_which_a_part_is_missing_is_not_adopted(store, tmp_path):
    parts = write_parts(tmp_path / "others", REFERENCES / "llama")
    parts[1].unlink()
    (record,) = found(Source.FOLDER, tmp_path / "others").values()
    with pytest.raises(BrokenModelError) as raised:
        keep(record)
    assert_sentence(raised.value.message, "is one of 3 files of a model, of which 2 are here")
    assert not (store.root / "working").exists()
