"""Deleting models: only Sotto's own, reversibly, and without blobs that another model needs."""

import os
from dataclasses import replace

import pytest

from sotto.errors import StoreError
from sotto.store import removal
from sotto.store.discovery import discover
from sotto.store.records import Source
from sotto.store.removal import empty_trash, erase, own_store, remove, restore, trash
from sotto.store.roots import Root
from stores import Store, fingerprint


@pytest.fixture
def store(monkeypatch, tmp_path, home):
    monkeypatch.setattr(removal, "data_dir", lambda: tmp_path / "data")
    monkeypatch.setenv("HOME", str(home))
    made = Store(tmp_path / "data" / "models")
    made.model("one")
    made.model("two", fill=1)
    return made


def models_by_name(store, *others):
    return {record.name: record for record in discover([Root(Source.SOTTO, store.root, True), *others]).records}


def content(store):
    files = (path for path in store.root.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(store.root)): path.read_bytes() for path in files}


def list_names(store, folder):
    return sorted(path.name for path in (store.root / folder).iterdir())


def test_a_deleted_model_is_restored_as_it_was(store):
    before = content(store)
    removed = remove(models_by_name(store)["one:latest"])
    assert list(models_by_name(store)) == ["two:latest"]
    restore(removed)
    assert content(store) == before
    assert list(models_by_name(store)) == ["one:latest", "two:latest"]
    assert not any((store.root / "trash").iterdir())


def test_erasing_keeps_the_blobs_that_others_need(store):
    first, second = models_by_name(store)["one:latest"], models_by_name(store)["two:latest"]
    blobs = set(list_names(store, "blobs"))
    freed = erase(remove(first))
    assert freed > 0
    gone = blobs - set(list_names(store, "blobs"))
    assert gone
    assert models_by_name(store) == {"two:latest": second}
    assert erase(remove(second)) > 0
    assert list_names(store, "blobs") == []
    assert list_names(store, "manifests") == []


def test_models_in_the_trash_keep_their_blobs(store):
    waiting = remove(models_by_name(store)["two:latest"])
    erase(remove(models_by_name(store)["one:latest"]))
    restore(waiting)
    assert list(models_by_name(store)) == ["two:latest"]
    assert models_by_name(store)["two:latest"].runnable


def test_all_names_of_a_model_are_deleted_and_restored(store):
    store.model("copy")
    both = models_by_name(store)
    assert len(both) == 2
    removed = remove(both["copy:latest"])
    assert list(models_by_name(store)) == ["two:latest"]
    restore(removed)
    assert models_by_name(store) == both


def test_the_trash_is_emptied_after_a_restart(store):
    remove(models_by_name(store)["one:latest"])
    assert empty_trash() > 0
    assert empty_trash() == 0
    assert list(models_by_name(store)) == ["two:latest"]


def test_the_trash_is_listed_with_names_and_restored_from_there(store):
    before = content(store)
    for number, name in enumerate(("one:latest", "two:latest")):
        folder = remove(models_by_name(store)[name]).folder
        os.utime(folder, (0, 1000.0 + number))
    assert [(model.name, model.removed_at) for model in trash()] == [("two:latest", 1001.0), ("one:latest", 1000.0)]
    for model in trash():
        restore(model)
    assert content(store) == before
    assert trash() == ()
    assert not any((store.root / "trash").iterdir())


def test_what_is_no_longer_in_the_trash_cannot_be_restored(store):
    removed = remove(models_by_name(store)["one:latest"])
    erase(removed)
    assert erase(removed) == 0
    with pytest.raises(StoreError, match="one:latest is no longer in the trash"):
        restore(removed)


def test_a_deleted_model_with_an_unreadable_manifest_is_erased(store):
    store.raw_manifest("bad", b"{")
    (broken,) = [record for record in models_by_name(store).values() if not record.runnable]
    assert erase(remove(broken)) == 0
    assert list(models_by_name(store)) == ["one:latest", "two:latest"]
    assert erase(remove(models_by_name(store)["one:latest"])) > 0


def test_files_of_finder_keep_no_blob(store):
    for folder in ("registry.ollama.ai", "registry.ollama.ai/library/one"):
        (store.root / "manifests" / folder / ".DS_Store").write_bytes(b"Bud1")
    assert erase(remove(models_by_name(store)["one:latest"])) > 0


def test_models_of_other_programs_are_not_deleted(store, tmp_path):
    other = Store(tmp_path / "ollama")
    other.model("one")
    other.model("theirs", fill=2)
    before = fingerprint(other.root)
    all_models = models_by_name(store, Root(Source.OLLAMA, other.root, True))
    with pytest.raises(StoreError, match="theirs:latest is not in Sotto's own store"):
        remove(all_models["theirs:latest"])
    erase(remove(all_models["one:latest"]))
    assert fingerprint(other.root) == before
    assert "one:latest" in models_by_name(store, Root(Source.OLLAMA, other.root, True))


def test_a_store_that_links_to_another_programs_is_left_alone(monkeypatch, tmp_path, home):
    theirs = Store(home / ".ollama" / "models")
    theirs.model("theirs")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models").symlink_to(theirs.root)
    monkeypatch.setattr(removal, "data_dir", lambda: tmp_path / "data")
    monkeypatch.setenv("HOME", str(home))
    before = fingerprint(theirs.root)
    (record,) = discover([Root(Source.SOTTO, own_store(), True)]).records
    with pytest.raises(StoreError, match="nothing is deleted"):
        remove(record)
    assert fingerprint(theirs.root) == before


def test_a_link_out_of_the_store_is_not_followed(store, tmp_path):
    other = Store(tmp_path / "elsewhere")
    other.model("theirs", fill=2)
    (store.root / "manifests" / "evil").symlink_to(other.root / "manifests" / "registry.ollama.ai")
    before = fingerprint(other.root)
    record = next(iter(models_by_name(store).values()))
    stray = store.root / "manifests" / "evil" / "library" / "theirs" / "latest"
    with pytest.raises(StoreError, match="own store"):
        remove(replace(record, path=stray, also=()))
    assert fingerprint(other.root) == before


def test_an_unreadable_manifest_keeps_every_blob(store):
    removed = remove(models_by_name(store)["one:latest"])
    store.raw_manifest("bad", b"{")
    blobs = list_names(store, "blobs")
    assert erase(removed) == 0
    assert list_names(store, "blobs") == blobs


def test_a_new_model_of_the_same_name_is_not_replaced(store):
    removed = remove(models_by_name(store)["one:latest"])
    store.model("one", fill=5)
    new = models_by_name(store)["one:latest"]
    with pytest.raises(StoreError, match="new one:latest"):
        restore(removed)
    assert models_by_name(store)["one:latest"] == new
