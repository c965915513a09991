"""Imports compared with a store that Ollama's own importer wrote of the same folder."""

import json
import shutil

import mlx.core as mx
import pytest

from material import material
from sotto.engine.quantizing.importer import plan_import, run_import
from sotto.store.removal import own_store

TYPES = ("int4", "int8", "mxfp4", "mxfp8", "nvfp4")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder that Ollama imported, and have an empty store of our own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "none"))
    target = tmp_path / "stories260k"
    # What it should answer was added later.
    shutil.copytree(material("stories260k"), target, ignore=shutil.ignore_patterns("expected.json"))
    return target


def imported(folder, quantize: str):
    run_import(plan_import(folder, quantize), "stories260k-mlx:new", lambda progress: None, lambda: False, replace=True)
    return own_store() / "manifests/registry.ollama.ai/library/stories260k-mlx/new"


def theirs(tag: str):
    return material("ollama-store", "manifests/registry.ollama.ai/library/stories260k-mlx", tag)


def test_an_unquantized_import_has_the_same_bytes(folder):
    assert imported(folder, "").read_bytes() == theirs("latest").read_bytes()


@pytest.mark.parametrize("kind", TYPES)
def test_a_quantized_import_has_the_same_tensors(folder, kind):
    ours, other = (json.loads(path.read_bytes()) for path in (imported(folder, kind), theirs(kind)))
    assert ours["config"] == other["config"]
    for layer, expected in zip(ours["layers"], other["layers"], strict=True):
        assert {**layer, "digest": "", "size": 0} == {**expected, "digest": "", "size": 0}
        if layer["digest"] == expected["digest"]:
            continue
        (arrays, metadata), (wanted, stated) = (
            mx.load(str(root / "blobs" / entry["digest"].replace(":", "-")), format="safetensors", return_metadata=True)
            for root, entry in ((own_store(), layer), (material("ollama-store"), expected))
        )
        # Plain blobs have the same bytes.
        assert metadata == stated != {}
        assert arrays.keys() == wanted.keys()
        for name, array in arrays.items():
            assert array.dtype == wanted[name].dtype
            assert mx.array_equal(array, wanted[name]).item(), name
