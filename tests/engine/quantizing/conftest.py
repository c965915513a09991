"""Fixtures with an empty store of our own, and no others."""

import shutil

import pytest

from places import REFERENCES


@pytest.fixture(autouse=True)
def data(monkeypatch, tmp_path):
    """Have an empty home folder; return that of our data."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("OLLAMA_MODELS", "HF_HUB_CACHE", "HF_HOME", "SOTTO_FOLDERS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data"


@pytest.fixture
def family(tmp_path):
    """Return a function that copies the folder of a tiny family, with a tokenizer."""

    def copied(case):
        folder = tmp_path / case
        shutil.copytree(REFERENCES / case, folder, ignore=shutil.ignore_patterns("expected.safetensors"))
        (folder / "tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": {}, "merges": []}}')
        return folder

    return copied
