"""GGUF models in several files: listed, described, verified, loaded, and refused if a file is missing."""

import shutil

import mlx.core as mx
import pytest

from gguf_writing import write_folder, write_parts
from loading import load
from places import REFERENCES
from sotto.errors import BrokenModelError, SottoError
from sotto.store.discovery import discover
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.opening import gguf_file, open_model, record_of
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.verify import verify
from stores import assert_sentence


@pytest.fixture
def whole(tmp_path):
    return write_folder(tmp_path / "whole" / "model.gguf", REFERENCES / "llama")


@pytest.fixture(autouse=True)
def folder(tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    return tmp_path / "parts"


@pytest.fixture
def parts(folder):
    """Write the model in parts, as gguf's own writer splits it, and return them."""
    found = write_parts(folder, REFERENCES / "llama")
    assert [path.name for path in found] == [f"model-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    return found


def records(root, kind=Source.FOLDER):
    return discover([Root(kind, root, missing_is_error=True)]).records


def test_a_split_model_is_one_model_that_runs(whole, folder, parts):
    (record,) = records(folder)
    assert (record.name, record.runnable, record.path) == ("model", True, parts[0])
    assert record.size == sum(path.stat().st_size for path in parts)
    for path in (folder, *parts):
        assert record_of(path).digest == record.digest
    source = open_model(record)
    assert source.weight_bytes == open_model(record_of(whole)).weight_bytes
    assert len(gguf_file(record, lists=False).tensors) == 21
    wanted = mx.load(str(REFERENCES / "llama" / "expected.safetensors"))
    logits = load(source).model(wanted["ids"][None])[0]
    assert mx.abs(logits - wanted["whole"]).max().item() < 1e-3
    assert mx.array_equal(logits, load(open_model(record_of(whole))).model(wanted["ids"][None])[0])


def test_verifying_reads_every_part(folder, parts):
    report = verify(record_of(parts[0]), lambda done, total: None, lambda: False)
    assert report.problems == ()
    assert list(report.unverifiable) == parts


def test_in_the_stores_of_other_programs(tmp_path, parts):
    lmstudio = tmp_path / "lmstudio" / "publisher" / "name-GGUF"
    snapshot = tmp_path / "cache" / "models--org--name" / "snapshots" / ("a" * 40)
    for place in (lmstudio, snapshot):
        place.mkdir(parents=True)
        for path in parts:
            shutil.copy(path, place)
    (tmp_path / "cache" / "models--org--name" / "refs").mkdir()
    (tmp_path / "cache" / "models--org--name" / "refs" / "main").write_text("a" * 40)
    for root, kind, name in (
        (tmp_path / "lmstudio", Source.LMSTUDIO, "publisher/name-GGUF"),
        (tmp_path / "cache", Source.HUGGINGFACE, "org/name"),
    ):
        (record,) = records(root, kind)
        assert (record.name, record.runnable) == (name, True)
        assert len(open_model(record).tensor_files[0].parts) == 3


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_missing_part_is_named(folder, parts, number):
    parts[number - 1].unlink()
    (record,) = records(folder)
    assert not record.runnable
    sentence = f"is one of 3 files of a model, of which model-0000{number}-of-00003.gguf is missing; download the model"
    assert_sentence(record.reason, folder, sentence)
    with pytest.raises(SottoError) as caught:
        record_of(folder)
    assert caught.value.message == record.reason


def test_several_missing_parts_are_counted(folder, parts):
    for path in parts[1:]:
        path.unlink()
    (record,) = records(folder)
    assert_sentence(record.reason, "model-00002-of-00003.gguf and 1 more are missing")


def test_parts_that_do_not_belong_together_are_refused(folder, parts):
    shutil.copy(parts[1], parts[2])
    with pytest.raises(BrokenModelError) as caught:
        open_model(record_of(folder))
    assert_sentence(caught.value.message, parts[2], "is not file 3 of 3 of")
    with pytest.raises(BrokenModelError, match="is one of 3 files of a model, of which 1 is here"):
        read_gguf_files(parts[:1])


def test_a_renamed_part_is_refused_for_what_it_says_itself(folder, parts):
    for path in parts[1:]:
        path.unlink()
    alone = parts[0].rename(folder / "alone.gguf")
    with pytest.raises(BrokenModelError) as caught:
        open_model(record_of(alone))
    assert_sentence(caught.value.message, alone, "is one of 3 files of a model, of which 1 is here; download")


def test_a_part_that_is_cut_off_is_named(folder, parts):
    content = parts[1].read_bytes()
    parts[1].write_bytes(content[: len(content) // 2])
    with pytest.raises(BrokenModelError) as caught:
        open_model(record_of(folder))
    assert_sentence(caught.value.message, parts[1], "download the model again")


def test_a_part_that_changes_before_it_is_read_is_named(folder, parts):
    source = open_model(record_of(folder))
    parts[2].write_bytes(parts[2].read_bytes()[:-600])
    with pytest.raises(BrokenModelError) as caught:
        load(source)
    assert_sentence(caught.value.message, parts[2], "was changed while the model was being loaded; try again.")
