"""Verification: every damaged byte is found, progress is reported, and it can be cancelled."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from material import material
from sotto.errors import BrokenModelError, CancelledError
from sotto.store import safetensors_header
from sotto.store.discovery import discover
from sotto.store.opening import open_model, record_of
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.second_reader import find_disagreement
from sotto.store.verify import verify
from stores import LLAMA, TOKENIZER, Store, assert_sentence, folder, gguf, gguf_text, repository, safetensors


class ProgressLog:
    """Records progress, and cancels after some of it."""

    def __init__(self, stop_after=None):
        self.heard = []
        self._stop_after = stop_after

    def __call__(self, done, total):
        self.heard.append((done, total))

    def cancelled(self):
        return self._stop_after is not None and len(self.heard) >= self._stop_after


def check(record, log=None):
    log = log or ProgressLog()
    report = verify(record, log, log.cancelled)
    dones = [done for done, _ in log.heard]
    assert dones == sorted(dones)
    assert dones[0] == 0
    assert {total for _, total in log.heard} == {dones[-1]}
    return report


@pytest.fixture
def large(tmp_path):
    """Return a store with a model whose blob is read in several pieces."""
    store = Store(tmp_path / "models")
    layers = store.layers()
    layers.append(store.layer("tensor", safetensors({"big": ("U8", ((5 << 20) + 3,))}), "big"))
    store.manifest("m", layers)
    return store


def flip_byte(path, position=-1):
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_an_intact_model_has_no_problems(large):
    record = record_of(large.path("m"))
    log = ProgressLog()
    report = check(record, log)
    assert (report.problems, report.unverifiable) == ((), ())
    assert report.checked_bytes == record.size
    assert len(log.heard) >= 5 + 5


@pytest.mark.parametrize("name", ["llama", "int4", "nvfp4"])
def test_a_real_model_has_no_problems(name):
    name = "stories260k:latest" if name == "llama" else f"stories260k-mlx:{name}"
    found = discover([Root(Source.OLLAMA, material("ollama-store"), True)])
    (record,) = [record for record in found.records if record.name == name]
    report = check(record)
    assert (report.problems, report.checked_bytes) == ((), record.size)


def test_a_blob_that_is_listed_twice_is_read_once(tmp_path):
    store = Store(tmp_path)
    layers = store.layers()
    record = record_of(store.manifest("m", [*layers, layers[2]]))
    assert check(record).checked_bytes == record.size - layers[2]["size"]


def test_every_damaged_blob_is_named(large):
    record = record_of(large.path("m"))
    blobs = sorted((large.root / "blobs").iterdir())
    for path in blobs:
        flip_byte(path)
    report = check(record)
    assert sorted(problem.path for problem in report.problems) == blobs
    for problem in report.problems:
        assert_sentence(problem.message, problem.path, "is damaged: its sha256 is")


def test_a_missing_or_resized_blob_is_named(large):
    record = record_of(large.path("m"))
    first, second, *others = sorted((large.root / "blobs").iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes() + b"x")
    report = check(record)
    assert len(report.problems) == 2
    assert {path.name for path in (first, second)} == {
        path.name for path in (first, second) for problem in report.problems if path.name in problem.message
    }
    for problem in report.problems:
        assert_sentence(problem.message, large.root)
    assert report.checked_bytes == sum(path.stat().st_size for path in others)


@pytest.mark.parametrize("after", [1, 4])
def test_verification_can_be_cancelled(large, after):
    record = record_of(large.path("m"))
    log = ProgressLog(after)
    with pytest.raises(CancelledError) as stopped:
        verify(record, log, log.cancelled)
    assert_sentence(stopped.value.message)
    assert len(log.heard) == after


def test_a_changed_manifest_is_reported(large):
    record = record_of(large.path("m"))
    path = large.path("m")
    path.write_bytes(path.read_bytes() + b"\n")
    (problem,) = check(record).problems
    assert_sentence(problem.message, path, "another digest than when it was listed")
    path.write_bytes(b"{")
    with pytest.raises(BrokenModelError) as refused:
        check(record)
    assert_sentence(refused.value.message, path)


def test_files_of_a_folder_have_no_digest_but_are_read(tmp_path):
    path = folder(tmp_path / "m", **{"generation_config.json": {}})
    record = record_of(path)
    report = check(record)
    assert (report.checked_bytes, report.problems) == (0, ())
    assert sorted(file.name for file in report.unverifiable) == [
        "config.json", "generation_config.json", "model.safetensors", "tokenizer.json"
    ]  # fmt: skip
    (path / "model.safetensors").write_bytes(safetensors({"w": ("F32", (2,))}) + b"x")
    (problem,) = check(record).problems
    assert_sentence(problem.message, path / "model.safetensors", "bytes after its last tensor")


def test_files_of_the_cache_are_compared_with_their_names(tmp_path):
    files = {
        "config.json": json.dumps(LLAMA).encode(),
        "tokenizer.json": TOKENIZER,
        "model.safetensors": safetensors({"w": ("F32", (4, 8))}),
    }
    snapshot = repository(tmp_path, "org/m", files)
    record = record_of(snapshot)
    report = check(record)
    assert (report.checked_bytes, report.problems, report.unverifiable) == (record.size, (), ())
    for name, kind in (("model.safetensors", "sha256"), ("tokenizer.json", "sha1")):
        flip_byte(snapshot / name)
        damaged = check(record).problems
        assert [problem.path for problem in damaged if kind in problem.message] == [snapshot / name]
        for problem in damaged:
            assert_sentence(problem.message, problem.path, "is damaged")
        flip_byte(snapshot / name)
    assert check(record).problems == ()


def test_a_file_that_disappeared_is_a_problem(tmp_path):
    path = folder(tmp_path / "m")
    record = record_of(path)
    shutil.copy(path / "config.json", tmp_path / "config.json")
    (path / "config.json").unlink()
    (path / "config.json").symlink_to(tmp_path / "config.json")
    report = check(record)
    (problem,) = report.problems
    assert_sentence(problem.message, path / "config.json", "leads out of")


def test_missing_parts_are_a_problem(tmp_path):
    parts = {f"model-0000{number}-of-00002.safetensors": safetensors({str(number): ("U8", (1,))}) for number in (1, 2)}
    path = folder(tmp_path / "m", **{"model.safetensors": None}, **parts)
    record = record_of(path)
    (path / "model-00001-of-00002.safetensors").unlink()
    (problem,) = check(record).problems
    assert_sentence(problem.message, path, "1 of the 2 parts")


@pytest.mark.parametrize("name", ["m.gguf", "m"])
def test_gguf_files_outside_of_stores_have_no_digest(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gguf(tensors={"w": [2]}))
    report = check(record_of(path))
    assert (report.checked_bytes, report.problems, report.unverifiable) == (0, (), (path,))


def test_progress_is_right_if_a_file_shrinks_while_it_is_read(large):
    record = record_of(large.path("m"))
    (big,) = [path for path in (large.root / "blobs").iterdir() if path.stat().st_size > 1 << 20]

    class Cutter(ProgressLog):
        def __call__(self, done, total):
            super().__call__(done, total)
            if 1 << 20 < done < 2 << 20 and big.stat().st_size > 1 << 21:
                with big.open("r+b") as file:
                    file.truncate(1 << 21)

    report = check(record, Cutter())
    (problem,) = report.problems
    assert problem.path == big


def test_the_header_of_a_gguf_file_that_runs_is_checked_too(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf([("general.architecture", 8, gguf_text("llama"))], {"w": [2]}))
    record = record_of(path)
    assert record.runnable
    (problem,) = check(record).problems
    assert_sentence(problem.message, path, "ends at byte")


def test_a_file_that_another_reader_reads_differently_is_reported(tmp_path):
    path = folder(tmp_path / "m")
    record = record_of(path)
    source = open_model(record)
    (file,) = source.tensor_files
    (name,) = file.tensors
    wrong = replace(file.tensors[name], shape=(8, 4))
    for tensors, said in (
        ({name: wrong}, "of shape [4, 8], not F32 of [8, 4]"),
        ({"other": file.tensors[name]}, "finds no tensor other"),
    ):
        assert_sentence(find_disagreement(replace(file, tensors=tensors)), path / "model.safetensors", said)
    (path / "model.safetensors").write_bytes(b"{}")
    assert_sentence(find_disagreement(file), path / "model.safetensors", "cannot be read by the safetensors library")


def test_another_reader_knows_every_type_without_numpy(tmp_path):
    # Eight numbers of any type are whole bytes, as many as one number has bits.
    path, data, header = tmp_path / "types.safetensors", b"", {}
    for name, bits in safetensors_header._BITS.items():
        header[name] = {"dtype": name, "shape": [2, 4], "data_offsets": [len(data), len(data) + bits]}
        data += bytes(bits)
    raw = json.dumps(header).encode()
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + data)
    code = """
import sys
from pathlib import Path
sys.modules["numpy"] = None
from sotto.store.safetensors_header import read_header
from sotto.store.second_reader import find_disagreement
file = read_header(Path(sys.argv[1]))
assert len(file.tensors) > 20
assert find_disagreement(file) == "", find_disagreement(file)
"""
    subprocess.run([sys.executable, "-c", code, path], check=True)


def test_another_reader_needs_no_numpy(tmp_path):
    path = folder(tmp_path / "m")
    code = """
import sys
from pathlib import Path
sys.modules["numpy"] = None
from sotto.store.opening import open_model, record_of
from sotto.store.second_reader import find_disagreement
(file,) = open_model(record_of(Path(sys.argv[1]))).tensor_files
assert [find_disagreement(file) for _ in "ab"] == ["", ""]
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, path], check=True)
