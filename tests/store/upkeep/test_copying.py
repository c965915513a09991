"""Copying and renaming models in Sotto's own store."""

import pytest

from pulling import models_in
from sotto.errors import StoreError
from sotto.store.copying import copy, rename
from sotto.store.discovery import discover
from sotto.store.pull.staging import Staging
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.sources.model_names import parse_name
from stores import Store, assert_sentence, fingerprint


def place(store, name):
    return next(place for place in models_in(store.root)[name].places if place.name == name)


def blobs(store):
    return {path.name for path in (store.root / "blobs").iterdir()}


def test_a_copy_shares_all_blobs(store):
    before = blobs(store)
    copy(place(store, "one:latest"), parse_name("localhost:5000/ns/copy:v2"))
    target = store.root / "manifests" / "localhost:5000" / "ns" / "copy" / "v2"
    assert target.read_bytes() == store.path("one").read_bytes()
    assert target.stat().st_mode & 0o777 == 0o644
    assert blobs(store) == before
    assert not list((store.root / "working").iterdir())
    assert not (store.root / "staging").exists()


def test_renaming_is_copying_without_the_old_name(store):
    content, before = store.path("one").read_bytes(), blobs(store)
    rename(place(store, "one:latest"), parse_name("ns/other:v1"))
    assert sorted(models_in(store.root)) == ["ns/other:v1", "two:latest"]
    assert store.path("ns/other:v1").read_bytes() == content
    assert not store.path("one").parent.exists()
    assert blobs(store) == before


@pytest.mark.parametrize("change", [copy, rename])
def test_no_other_model_is_replaced_unless_asked_for(store, change):
    before = fingerprint(store.root / "manifests")
    with pytest.raises(StoreError) as raised:
        change(place(store, "one:latest"), parse_name("two"))
    assert_sentence(raised.value.message, "two:latest")
    change(place(store, "one:latest"), parse_name("one"))
    assert fingerprint(store.root / "manifests") == before


def test_a_replaced_model_leaves_no_blobs_behind(store):
    before = blobs(store)
    copy(place(store, "one:latest"), parse_name("two"), replacing=True)
    assert store.path("two").read_bytes() == store.path("one").read_bytes()
    assert blobs(store) < before
    assert all(record.runnable for record in models_in(store.root).values())


@pytest.mark.parametrize("change", [copy, rename])
def test_a_name_that_is_being_downloaded_is_left_alone(store, change):
    name = parse_name("three")
    with (
        Staging(store.root, name).lock(),
        pytest.raises(StoreError, match="Another Sotto is downloading or importing three:latest"),
    ):
        change(place(store, "one:latest"), name)


@pytest.mark.parametrize("change", [copy, rename])
def test_other_stores_are_read_only(store, tmp_path, change):
    theirs = Store(tmp_path / "theirs")
    theirs.model("theirs")
    (record,) = discover([Root(Source.OLLAMA, theirs.root, True)]).records
    before = fingerprint(theirs.root)
    with pytest.raises(StoreError, match="not in Sotto's own store"):
        change(record.places[0], parse_name("mine"))
    assert fingerprint(theirs.root) == before
