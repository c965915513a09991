"""GGUF models in several files in a store: the layers of the kind `model` are the files, in order."""

import shutil

import mlx.core as mx
import pytest

from gguf_writing import write_folder, write_parts
from loading import load
from places import REFERENCES
from pulling import models_in
from sotto.errors import BrokenModelError
from sotto.runner.model_making import create_model
from sotto.store import removal
from sotto.store.copying import copy
from sotto.store.creating.modelfile import parse_modelfile
from sotto.store.discovery import discover
from sotto.store.disk_use import disk_use
from sotto.store.opening import gguf_file, open_model, open_texts, record_of
from sotto.store.records import Format, Source
from sotto.store.roots import Root
from sotto.store.sources.model_names import parse_name
from sotto.store.upkeep.adopting import adopt
from sotto.store.verify import verify
from stores import Store, assert_sentence


@pytest.fixture
def parts(tmp_path):
    return write_parts(tmp_path / "parts", REFERENCES / "llama")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return Sotto's own store, which is empty."""
    monkeypatch.setattr(removal, "data_dir", lambda: tmp_path / "data")
    return Store(tmp_path / "data" / "models")


def stored(store, files, name="split"):
    """Write a model with a layer for each file, and return its record."""
    layers = [store.layer("model", path.read_bytes()) for path in files]
    return record_of(store.manifest(name, layers, store.config(model_format="gguf", file_type="F32")))


def checked(record):
    return verify(record, lambda done, total: None, lambda: False)


def logits(record):
    ids = mx.load(str(REFERENCES / "llama" / "expected.safetensors"))["ids"]
    return load(open_model(record)).model(ids[None])[0]


def assert_runs(record, parts):
    """Check that a model is whole, and computes what the same model in a folder does."""
    assert (record.format, record.runnable, checked(record).problems) == (Format.GGUF, True, ())
    assert mx.array_equal(logits(record), logits(record_of(parts[0])))


def test_it_runs_as_the_files_in_a_folder_do(own, parts, tmp_path):
    record = stored(own, parts)
    assert record.size == sum(path.stat().st_size for path in own.root.glob("blobs/*"))
    # The header of the first file lists its own tensors only.
    assert record.parameters is None
    assert_runs(record, parts)
    assert checked(record).checked_bytes == record.size
    assert len(open_model(record).tensor_files[0].parts) == 3
    assert len(gguf_file(record, lists=False).tensors) == 21
    assert open_texts(record).config == open_model(record).config
    whole = record_of(write_folder(tmp_path / "whole.gguf", REFERENCES / "llama"))
    assert mx.array_equal(logits(record), logits(whole))


def test_each_file_counts(own, parts):
    record = stored(own, parts)
    assert disk_use([record]).models[record.digest] == record.size
    (blob,) = [path for path in own.root.glob("blobs/*") if path.read_bytes() == parts[1].read_bytes()]
    blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    assert [problem.path for problem in checked(record).problems] == [blob]
    blob.unlink()
    with pytest.raises(BrokenModelError) as caught:
        record_of(record.path)
    assert_sentence(caught.value.message, blob.name, "is missing; download")


@pytest.mark.parametrize(
    ("order", "mentions"),
    [
        ([0, 2, 1], "is not file 2 of 3 of"),
        ([0, 1], "is one of 3 files of a model, of which 2 are here"),
        ([0], "is one of 3 files of a model, of which 1 is here"),
    ],
)
def test_files_that_are_missing_or_out_of_order_are_refused(own, parts, order, mentions):
    record = stored(own, [parts[number] for number in order])
    with pytest.raises(BrokenModelError) as caught:
        open_model(record)
    assert_sentence(caught.value.message, mentions)


def test_a_whole_file_is_no_part(own, parts, tmp_path):
    whole = write_folder(tmp_path / "whole.gguf", REFERENCES / "llama")
    assert open_model(stored(own, [whole, whole])).tensor_files
    with pytest.raises(BrokenModelError) as caught:
        open_model(stored(own, [whole, *parts[1:]]))
    assert_sentence(caught.value.message, "is a whole GGUF file, but 2 more of its model are here; it should be")


def test_it_is_copied_and_made_another_of(own, parts):
    stored(own, parts)
    record = models_in(own.root)["split:latest"]
    blobs = sorted(own.root.glob("blobs/*"))
    copy(record.places[0], parse_name("copied"))
    assert sorted(own.root.glob("blobs/*")) == blobs
    assert_runs(models_in(own.root)["copied:latest"], parts)
    create_model("made", parse_modelfile(f"FROM {record.path}\nSYSTEM Be kind."), lambda step: None)
    made = models_in(own.root)["made:latest"]
    assert_runs(made, parts)
    assert open_texts(made).system == "Be kind."


@pytest.mark.parametrize("kind", ["manifest", "files"])
def test_it_is_adopted_without_being_joined(own, parts, tmp_path, kind):
    theirs = stored(Store(tmp_path / "theirs"), parts) if kind == "manifest" else record_of(parts[0])
    adopted = adopt(theirs, theirs.places[0], parse_name("kept"), lambda done, total: None, lambda: False)
    assert adopted.present == 0
    kept = models_in(own.root)["kept:latest"]
    shutil.rmtree(theirs.path.parents[4] if kind == "manifest" else theirs.path.parent)
    parts = write_parts(tmp_path / "again", REFERENCES / "llama")
    assert_runs(kept, parts)
    (record,) = discover([Root(Source.SOTTO, own.root, True)]).records
    assert record.digest == kept.digest
