"""Stored memory needs are read back unchanged or not at all."""

import hashlib
import json
import os

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoints import LLAMA, source_of
from loading import PLENTY, quantized_checkpoint, random_weights
from sotto.engine.footprint import model_needs
from sotto.engine.memory import needs_store
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, SightPoint, WorkPoint
from sotto.engine.memory.memory_plan import Limits

sizes = st.integers(0, 2**40)
counts = st.integers(1, 2**30)
caches = st.builds(CacheNeed, st.sampled_from(CacheKind), sizes, sizes, st.none() | counts, counts)
points = st.builds(WorkPoint, counts, counts, sizes)
models = st.builds(
    ModelNeeds,
    counts,
    sizes,
    st.lists(caches, min_size=1, max_size=4).map(tuple),
    st.lists(points, min_size=1, max_size=4).map(tuple),
    st.none() | counts,
)
CONFIG = LLAMA | {"head_dim": 32}
KEY = needs_store.key_of(["a model"])
NEEDS = ModelNeeds(
    100,
    10,
    (CacheNeed(CacheKind.FULL, 8, 0, None, 256),),
    (WorkPoint(32, 64, 5),),
    4096,
    sight=(SightPoint(65536, 7, 3, 2),),
)


@pytest.fixture(autouse=True)
def folder(tmp_path_factory, monkeypatch):
    path = tmp_path_factory.mktemp("cache") / "needs"
    monkeypatch.setattr(needs_store, "folder", lambda: path)
    return path


@given(models)
def test_needs_are_read_back_unchanged(needs):
    needs_store.keep(KEY, needs)
    assert needs_store.recall(KEY) == needs


def test_nothing_is_known_at_first(folder):
    assert needs_store.recall(KEY) is None
    assert not folder.exists()


def test_a_file_that_is_truncated_or_damaged_at_any_byte_is_never_trusted(folder):
    needs_store.keep(KEY, NEEDS)
    path = folder / f"{KEY}.json"
    content = path.read_bytes()
    for at in range(len(content)):
        for damaged in (content[:at], content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]):
            path.write_bytes(damaged)
            assert needs_store.recall(KEY) in (None, NEEDS)
    needs_store.keep(KEY, NEEDS)
    assert needs_store.recall(KEY) == NEEDS


def test_needs_of_another_model_are_not_used(folder):
    other = needs_store.key_of(["another model"])
    needs_store.keep(KEY, NEEDS)
    (folder / f"{KEY}.json").rename(folder / f"{other}.json")
    assert needs_store.recall(other) is None


@pytest.mark.parametrize(
    "change",
    [
        {"weight_bytes": 0},
        {"weight_bytes": True},
        {"weight_bytes": 1.5},
        {"weight_bytes": 2**60},
        {"loading_bytes": -1},
        {"longest_context": 0},
        {"layers": []},
        {"layers": 7},
        {"layers": [["full", 8, 0, None]]},
        {"layers": [["round", 8, 0, None, 256]]},
        {"layers": [["full", None, 0, None, 256]]},
        {"layers": [["full", 8, 0, None, 0]]},
        {"work": []},
        {"work": [[0, 1, 1]]},
        {"work": [[1, 1, "1"]]},
        {"work": {"1": 2}},
    ],
)
def test_needs_that_make_no_sense_are_not_used(folder, change):
    needs_store.keep(KEY, NEEDS)
    path = folder / f"{KEY}.json"
    written = json.loads(path.read_text())
    written["needs"] |= change
    text = json.dumps(written["needs"], sort_keys=True)
    path.write_text(json.dumps(written | {"sum": hashlib.sha256(text.encode()).hexdigest()}))
    assert needs_store.recall(KEY) is None


def test_a_huge_file_is_not_read(folder):
    needs_store.keep(KEY, NEEDS)
    path = folder / f"{KEY}.json"
    path.write_text(path.read_text() + " " * 2**20)
    assert needs_store.recall(KEY) is None


def test_a_folder_that_cannot_be_written_is_ignored(folder):
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("not a folder")
    needs_store.keep(KEY, NEEDS)
    assert needs_store.recall(KEY) is None


def test_the_least_recently_used_files_are_removed(folder):
    folder.mkdir(parents=True)
    keys = [needs_store.key_of([number]) for number in range(205)]
    for age, key in enumerate(keys[:-1]):
        (folder / f"{key}.json").write_text("{}")
        os.utime(folder / f"{key}.json", (age, age))
    needs_store.keep(keys[-1], NEEDS)
    assert {path.stem for path in folder.iterdir()} == set(keys[5:])


class TestOfModels:
    @pytest.fixture
    def source(self, tmp_path):
        files, _ = quantized_checkpoint(tmp_path, random_weights(CONFIG), "int4", dtype=mx.bfloat16)
        return source_of(files, CONFIG)

    @pytest.fixture
    def traced(self, monkeypatch):
        """Record the arguments of each trace of a model."""
        traces, trace = [], model_needs.model_needs
        monkeypatch.setattr(model_needs, "model_needs", lambda *args: traces.append(args) or trace(*args))
        return traces

    def test_a_model_is_traced_once(self, source, traced):
        first = model_needs.needs_of(source, PLENTY)
        assert model_needs.needs_of(source, PLENTY) == first
        assert len(traced) == 1

    def test_options_that_change_the_needs_are_traced_separately(self, source, traced):
        tight = Limits(source.weight_bytes, 2**40, "a test")
        ways = [(PLENTY, None), (PLENTY, 8), (PLENTY, 4), (tight, None)]
        needs = [model_needs.needs_of(source, limits, None, bits) for limits, bits in ways]
        assert len(traced) == 4
        assert len({(each.weight_bytes, each.cache_bytes(256)) for each in needs}) == 4

    def test_a_damaged_file_is_replaced(self, source, traced, folder):
        first = model_needs.needs_of(source, PLENTY)
        (path,) = folder.iterdir()
        path.write_text("{")
        assert model_needs.needs_of(source, PLENTY) == first
        assert model_needs.needs_of(source, PLENTY) == first
        assert len(traced) == 2
