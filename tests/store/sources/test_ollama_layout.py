"""Stores in Ollama's layout: finding manifests and blobs, and each way in which they can be damaged."""

import os

import pytest

from ollama_rows import broken, listing, only
from sotto.store.discovery import discover
from sotto.store.records import Format, Source
from sotto.store.roots import Root
from stores import Store, assert_sentence


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "models")


def test_a_missing_blob_is_named(store):
    layers = store.layers()
    store.manifest("m", layers)
    path = store.blob_path(layers[0]["digest"])
    path.unlink()
    record = broken(store, path, "is missing")
    assert (record.architecture, record.format) == ("llama", Format.SAFETENSORS)


def test_missing_blobs_are_counted(store):
    layers = store.layers()
    path = store.manifest("m", layers)
    for layer in layers[:2]:
        store.blob_path(layer["digest"]).unlink()
    broken(store, "2 of the 5 files", path, store.blob_path(layers[0]["digest"]))


@pytest.mark.parametrize("which", range(4))
def test_a_blob_of_another_size_is_named(store, which):
    layers = store.layers()
    store.manifest("m", layers)
    path = store.blob_path(layers[which]["digest"])
    path.write_bytes(path.read_bytes() + b" ")
    broken(store, path, f"has {layers[which]['size'] + 1} bytes where its manifest says {layers[which]['size']}")


def test_blobs_with_a_colon_or_capitals_are_recognised(store):
    layers = store.layers()
    store.manifest("m", layers)
    for layer, rename in zip(layers, (str.lower, str.upper), strict=False):
        path = store.blob_path(layer["digest"])
        digest = layer["digest"].removeprefix("sha256:")
        path.rename(path.with_name(f"sha256:{digest}" if rename is str.lower else f"sha256-{digest.upper()}"))
    assert only(store).runnable


def test_only_files_four_levels_deep_are_manifests(store):
    content = store.model("m").read_bytes()
    manifests = store.root / "manifests"
    (manifests / "latest").write_bytes(content)
    (manifests / "registry.ollama.ai" / "library" / "deep").write_bytes(content)
    deeper = manifests / "registry.ollama.ai" / "library" / "m" / "folder"
    deeper.mkdir()
    (deeper / "latest").write_bytes(content)
    assert only(store).name == "m:latest"


@pytest.mark.parametrize("name", [".DS_Store", "latest~", "-x", "a b", "tag\n\x1b[2J", "x" * 81, "täg"])
def test_other_files_beside_manifests_are_problems_and_nothing_more(store, name):
    path = store.model("m")
    path.with_name(name).write_bytes(b"Bud1")
    found = listing(store)
    assert [record.name for record in found.records] == ["m:latest"]
    (problem,) = found.problems
    assert_sentence(problem.message, path.parent, "is not a valid tag")


def test_folders_with_invalid_names_are_problems(store):
    store.model("m")
    bad = store.root / "manifests" / "registry.ollama.ai" / "a.b"
    (bad / "model").mkdir(parents=True)
    found = listing(store)
    assert len(found.records) == 1
    assert_sentence(found.problems[0].message, bad, "is not a valid namespace")


def test_other_files_among_the_blobs_do_not_matter(store):
    store.model("m")
    for name in ("sha256-123-partial", "sha256-x.tmp", ".DS_Store", "sha256-" + "0" * 64):
        (store.root / "blobs" / name).write_bytes(b"x")
    assert only(store).runnable


def test_an_empty_store_has_no_models_and_no_problems(store, tmp_path):
    assert listing(store).records == ()
    (tmp_path / "bare").mkdir()
    found = discover([Root(Source.OLLAMA, tmp_path / "bare", True)])
    assert (found.records, found.problems) == ((), ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_manifest_is_named(store):
    path = store.model("m")
    path.chmod(0)
    broken(store, path, "may not be read by you")
