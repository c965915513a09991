"""Hugging Face's cache: links into blobs, the current snapshot, and incomplete downloads."""

import json
import os

import pytest

from gguf_writing import write_folder, write_parts
from places import REFERENCES
from sotto.store.discovery import discover
from sotto.store.opening import open_model, record_of
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.verify import verify
from stores import LLAMA, TOKENIZER, assert_sentence, gguf, repository, safetensors

NAME = "mlx-community/tiny-4bit"


def files(fill=0, **others):
    contents = {
        "config.json": json.dumps(LLAMA).encode(),
        "tokenizer.json": TOKENIZER,
        "model.safetensors": safetensors({"w": ("F32", (4, 8))}, fill=fill),
    } | others
    return {name: content for name, content in contents.items() if content is not None}


def listing(cache):
    return discover([Root(Source.HUGGINGFACE, cache, True)])


def only(cache):
    found = listing(cache)
    assert not found.problems
    (record,) = found.records
    return record


def test_a_snapshot_is_a_model_named_after_its_repository(tmp_path):
    snapshot = repository(tmp_path, NAME, files())
    record = only(tmp_path)
    assert (record.name, record.path, record.source) == (NAME, snapshot, Source.HUGGINGFACE)
    assert (record.parameters, record.runnable) == (32, True)
    assert record.size == sum(len(content) for content in files().values())
    assert open_model(record).weight_bytes == 128


def test_a_repository_without_an_organisation_has_a_short_name(tmp_path):
    repository(tmp_path, "gpt2", files())
    assert only(tmp_path).name == "gpt2"


def test_the_snapshot_in_use_is_the_one_of_main(tmp_path):
    first = repository(tmp_path, NAME, files(1), "1" * 40)
    second = repository(tmp_path, NAME, files(2), "2" * 40, main=False)
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    assert only(tmp_path).path == first


@pytest.mark.parametrize("said", [b"", b"../../..", b"/etc", b"\xff", b"3" * 40, b"a\nb"])
def test_the_newest_snapshot_is_used_if_main_names_none(tmp_path, said):
    older, newer = (repository(tmp_path, NAME, files(fill), str(fill) * 40) for fill in (1, 2))
    os.utime(older, (1, 1))
    os.utime(newer, (2, 2))
    (newer.parents[1] / "refs" / "main").write_bytes(said)
    assert only(tmp_path).path == newer


def test_an_empty_snapshot_does_not_hide_a_complete_one(tmp_path):
    whole = repository(tmp_path, NAME, files(), "1" * 40)
    repository(tmp_path, NAME, {"README.md": b"# tiny"}, "2" * 40)
    assert only(tmp_path).path == whole


def test_a_repository_without_weights_is_not_a_model(tmp_path):
    repository(tmp_path, NAME, files(**{"model.safetensors": None}))
    (tmp_path / "models--org--nothing").mkdir()
    (tmp_path / "datasets--org--texts").mkdir()
    (tmp_path / ".locks" / "models--x--y").mkdir(parents=True)
    (tmp_path / "models--a-file").write_bytes(b"")
    found = listing(tmp_path)
    assert (found.records, found.problems) == ((), ())


def test_missing_shards_are_reported(tmp_path):
    index = {"weight_map": {"w": "model-00001-of-00002.safetensors", "v": "model-00002-of-00002.safetensors"}}
    contents = files(
        **{
            "model.safetensors": None,
            "model-00001-of-00002.safetensors": safetensors({"w": ("F32", (4, 8))}),
            "model.safetensors.index.json": json.dumps(index).encode(),
        }
    )
    snapshot = repository(tmp_path, NAME, contents)
    (snapshot.parents[1] / "blobs" / "e3b0c442.incomplete").write_bytes(b"x")
    repository(tmp_path, "org/good", files())
    found = listing(tmp_path)
    assert [(record.name, record.runnable) for record in found.records] == [(NAME, False), ("org/good", True)]
    assert_sentence(found.problems[0].message, snapshot, "model-00002-of-00002.safetensors", "is incomplete")


def test_a_link_to_a_missing_blob_is_reported(tmp_path):
    snapshot = repository(tmp_path, NAME, files())
    (snapshot / "model.safetensors").resolve().unlink()
    (record,) = listing(tmp_path).records
    assert_sentence(record.reason, snapshot / "model.safetensors", "is missing")


def test_a_link_out_of_the_repository_is_not_followed(tmp_path):
    secret = tmp_path / "secret.safetensors"
    secret.write_bytes(safetensors({"w": ("F32", (2,))}))
    snapshot = repository(tmp_path / "hub", NAME, files())
    (snapshot / "model.safetensors").unlink()
    (snapshot / "model.safetensors").symlink_to(secret)
    (record,) = listing(tmp_path / "hub").records
    assert_sentence(record.reason, snapshot / "model.safetensors", "leads out of", secret)


def test_a_repository_that_is_a_link_out_of_the_cache_is_a_problem(tmp_path):
    repository(tmp_path / "other", NAME, files())
    cache = tmp_path / "hub"
    repository(cache, "org/good", files(1))
    (cache / "models--org--evil").symlink_to(tmp_path / "other" / f"models--{NAME.replace('/', '--')}")
    found = listing(cache)
    assert [record.name for record in found.records] == ["org/good"]
    assert_sentence(found.problems[0].message, cache / "models--org--evil", "leads out of")


@pytest.mark.parametrize("what", ["folder", "long", "loop"])
def test_an_unreadable_reference_is_a_problem_of_its_repository(tmp_path, what):
    repository(tmp_path, "org/good", files(1))
    ref = repository(tmp_path, "org/odd", files(2)).parents[1] / "refs" / "main"
    ref.unlink()
    if what == "folder":
        ref.mkdir()
    elif what == "long":
        ref.write_bytes(b"1" * 300)
    else:
        ref.symlink_to(ref)
    found = listing(tmp_path)
    assert [record.name for record in found.records] == ["org/good"]
    assert_sentence(found.problems[0].message, ref)


def test_the_same_files_in_two_repositories_are_one_row(tmp_path):
    repository(tmp_path, "org/a", files())
    repository(tmp_path, "org/b", files(), "b" * 40)
    record = only(tmp_path)
    assert (record.name, [place.name for place in record.also]) == ("org/a", ["org/b"])


def test_gguf_files_of_a_snapshot_are_listed(tmp_path):
    repository(tmp_path, "org/x-GGUF", {"x-Q4.gguf": gguf(tensors={"w": [4]}), "x-Q8.gguf": gguf(tensors={"w": [5]})})
    found = listing(tmp_path)
    assert not found.problems
    assert [record.name for record in found.records] == ["org/x-GGUF:x-Q4", "org/x-GGUF:x-Q8"]


def test_any_path_in_a_repository_leads_to_its_model(tmp_path):
    snapshot = repository(tmp_path, NAME, files())
    record = only(tmp_path)
    for path in (snapshot, snapshot.parents[1], snapshot / "config.json", snapshot / "model.safetensors"):
        found = record_of(path)
        assert (found.digest, found.name, found.path) == (record.digest, NAME, snapshot)


def test_a_cache_is_recognised_by_its_contents(tmp_path):
    repository(tmp_path, NAME, files())
    found = discover([Root(Source.FOLDER, tmp_path, True)])
    assert [record.name for record in found.records] == [NAME]


def test_gguf_files_in_folders_of_a_snapshot_are_models(tmp_path):
    parts = write_parts(tmp_path / "parts", REFERENCES / "llama")
    split = {f"F32/{path.name}": path.read_bytes() for path in parts}
    other = write_folder(tmp_path / "other.gguf", REFERENCES / "llama", change=lambda writer: writer.add_name("other"))
    cache = tmp_path / "cache"
    snapshot = repository(cache, NAME, split | {"README.md": b"# tiny"})
    record = only(cache)
    assert (record.name, record.runnable, record.path) == (NAME, True, snapshot / "F32" / parts[0].name)
    assert len(open_model(record).tensor_files[0].parts) == 3
    report = verify(record, lambda done, total: None, lambda: False)
    assert (report.problems, report.unverifiable, report.checked_bytes) == ((), (), record.size)
    for path in (cache / f"models--{NAME.replace('/', '--')}", snapshot, snapshot / "F32", record.path):
        assert record_of(path).digest == record.digest
    # Files of one name are told apart by their folders.
    repository(cache, NAME, {"Q4_0/model.gguf": other.read_bytes(), "top.gguf": gguf(tensors={"w": [3]})})
    names = {record.name for record in listing(cache).records}
    assert names == {f"{NAME}:F32/model", f"{NAME}:Q4_0/model", f"{NAME}:top"}


def test_a_link_out_of_the_repository_is_not_followed_from_a_folder(tmp_path):
    secret = write_folder(tmp_path / "secret.gguf", REFERENCES / "llama")
    snapshot = repository(tmp_path / "hub", NAME, {"Q4_0/model.gguf": secret.read_bytes()})
    (snapshot / "Q4_0" / "model.gguf").unlink()
    (snapshot / "Q4_0" / "model.gguf").symlink_to(secret)
    (record,) = listing(tmp_path / "hub").records
    assert_sentence(record.reason, snapshot / "Q4_0" / "model.gguf", "leads out of", secret)
