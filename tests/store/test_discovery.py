"""Discovery: one record for each distinct model, and intact models are found whatever else the folders contain."""

import os
import shutil

import pytest

from sotto.paths import resources_dir
from sotto.store.discovery import discover
from sotto.store.path_listing import list_path
from sotto.store.records import Format, Source
from sotto.store.roots import Root
from sotto.store.sources.harvest import everything_runs
from stores import LLAMA, Store, assert_sentence, folder, gguf, gguf_text, repository


def test_without_roots_all_default_places_are_searched(home, monkeypatch, tmp_path):
    Store(home / ".ollama" / "models").model("from-ollama")
    folder(home / ".lmstudio" / "models" / "pub" / "from-lm-studio", fill=1)
    folder(tmp_path / "from-a-folder", fill=2)
    monkeypatch.setenv("SOTTO_FOLDERS", str(tmp_path))
    found = discover()
    assert not found.problems
    assert [(record.name, record.source) for record in found.records] == [
        ("sotto:latest", Source.BUILTIN),
        ("from-ollama:latest", Source.OLLAMA),
        ("pub/from-lm-studio", Source.LMSTUDIO),
        ("from-a-folder", Source.FOLDER),
    ]
    assert found.records[0].builtin
    assert {root.path for root in found.roots} >= {tmp_path, home / ".ollama" / "models", resources_dir() / "store"}


def test_the_built_in_model_is_complete():
    (record,) = discover([Root(Source.BUILTIN, resources_dir() / "store", True)]).records
    assert (record.name, record.runnable, record.format) == ("sotto:latest", True, Format.SAFETENSORS)


def test_a_configured_root_that_is_missing_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "gone"))
    (problem,) = discover().problems
    assert problem.path == tmp_path / "gone"
    assert_sentence(problem.message, tmp_path / "gone", "is not there; it should be")


def test_a_missing_default_root_is_not_a_problem(tmp_path):
    assert discover([Root(Source.OLLAMA, tmp_path / "gone", False)]).problems == ()


def test_a_root_that_is_not_a_folder_is_a_problem(tmp_path):
    file, loop = tmp_path / "file", tmp_path / "loop"
    file.write_bytes(b"")
    loop.symlink_to(loop)
    problems = discover([Root(Source.OLLAMA, path, False) for path in (file, loop)]).problems
    assert_sentence(problems[0].message, file, "is not a folder")
    assert_sentence(problems[1].message, loop, "leads back to itself")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_root_is_a_problem(tmp_path):
    (tmp_path / "service" / "models").mkdir(parents=True)
    (tmp_path / "service").chmod(0)
    try:
        (problem,) = discover([Root(Source.OLLAMA, tmp_path / "service" / "models", False)]).problems
    finally:
        (tmp_path / "service").chmod(0o700)
    assert_sentence(problem.message, "may not be read by you")


def test_one_digest_is_one_record_however_many_stores_have_it(tmp_path):
    first, second = Store(tmp_path / "a"), Store(tmp_path / "b")
    first.model("mine")
    shutil.copytree(first.root, second.root, dirs_exist_ok=True)
    second.model("other", fill=7)
    found = discover([Root(Source.SOTTO, first.root, True), Root(Source.OLLAMA, second.root, True)])
    assert [(record.name, record.source) for record in found.records] == [
        ("mine:latest", Source.SOTTO),
        ("other:latest", Source.OLLAMA),
    ]
    (place,) = found.records[0].also
    assert (place.name, place.source, place.path) == ("mine:latest", Source.OLLAMA, second.path("mine"))


def test_a_folder_and_the_cache_may_hold_the_same_model(tmp_path):
    path = folder(tmp_path / "folders" / "tiny")
    repository(tmp_path / "hub", "org/tiny", {file.name: file.read_bytes() for file in path.iterdir()})
    roots = [Root(Source.HUGGINGFACE, tmp_path / "hub", False), Root(Source.FOLDER, tmp_path / "folders", True)]
    (record,) = discover(roots).records
    assert (record.name, [place.path for place in record.also]) == ("org/tiny", [path])


def test_a_root_inside_another_does_not_add_places(tmp_path):
    folder(tmp_path / "models" / "tiny")
    roots = [Root(Source.FOLDER, tmp_path, True), Root(Source.FOLDER, tmp_path / "models", True)]
    (record,) = discover(roots).records
    assert record.also == ()


def test_names_are_unique(tmp_path):
    stores = [Store(tmp_path / name) for name in "abcd"]
    for fill, store in enumerate(stores):
        store.model("same", fill=fill)
    folder(tmp_path / "folders" / "same:latest@ollama", fill=9)
    kinds = [Source.SOTTO, Source.OLLAMA, Source.OLLAMA, Source.OLLAMA]
    roots = [Root(kind, store.root, True) for kind, store in zip(kinds, stores, strict=True)]
    found = discover([*roots, Root(Source.FOLDER, tmp_path / "folders", True)])
    names = [record.name for record in found.records]
    assert len(set(names)) == 5
    assert names[0] == "same:latest"
    assert names[4] == "same:latest@ollama"
    assert all(name.startswith("same:latest@") for name in names[1:])


def test_broken_models_are_listed_with_their_reason(tmp_path):
    store = Store(tmp_path)
    store.model("good-1", fill=1)
    store.model("good-2", fill=2)
    store.raw_manifest("bad-1", b"")
    store.raw_manifest("bad-2", b"[" * 200_000)
    store.manifest("bad-3", [{"mediaType": "x", "digest": "sha256:../..", "size": 1}])
    store.raw_manifest("bad-4", b"").unlink()
    store.path("bad-4").symlink_to(store.path("bad-4"))
    found = discover([Root(Source.OLLAMA, tmp_path, True)])
    assert [record.name for record in found.records if record.runnable] == ["good-1:latest", "good-2:latest"]
    broken = [record for record in found.records if not record.runnable]
    assert [record.name for record in broken] == [f"bad-{number}:latest" for number in (1, 2, 3, 4)]
    assert {record.reason for record in broken} == {problem.message for problem in found.problems}
    for record in broken:
        assert_sentence(record.reason, record.path)
        assert record.format is None


def test_listing_many_models_reads_few_of_their_bytes(tmp_path, monkeypatch):
    store = Store(tmp_path)
    for number in range(200):
        store.model(f"model-{number:03}:x", fill=number, config=LLAMA | {"number": number})
    read = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *others, **more: read.append(str(path)) or real(path, *others, **more))
    found = discover([Root(Source.OLLAMA, tmp_path, True)])
    assert [record.name for record in found.records] == [f"model-{number:03}:x" for number in range(200)]
    assert not found.problems
    # A manifest, a configuration and two headers for each model, and their common config blob once.
    assert len(read) == 200 * 4 + 1


def test_a_store_with_too_many_entries_is_listed_up_to_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("sotto.store.sources.ollama_layout._MAX_ENTRIES", 20)
    store = Store(tmp_path)
    content = store.model("m:0").read_bytes()
    for number in range(40):
        store.raw_manifest(f"m:{number}", content)
    found = discover([Root(Source.OLLAMA, tmp_path, True)])
    (record,) = found.records
    assert len(record.also) < 20
    assert_sentence(found.problems[0].message, tmp_path, "more than 20 entries")


def test_folders_of_models_beside_gguf_files_are_found_as_well(tmp_path):
    """A folder that a person names may hold both side by side."""
    (tmp_path / "file.gguf").write_bytes(gguf([("general.architecture", 8, gguf_text("llama"))]))
    folder(tmp_path / "below")
    folder(tmp_path / "deep" / "below", fill=1)
    names = [record.name for record in discover([Root(Source.FOLDER, tmp_path, missing_is_error=True)]).records]
    assert sorted(names) == ["below", "below@folder", "file"]
    assert len(list_path(tmp_path, everything_runs).records) == 3
