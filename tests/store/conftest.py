"""Nobody's home: the models of whoever runs the tests are out of sight."""

import pytest

_ELSEWHERE = ("OLLAMA_MODELS", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "SOTTO_FOLDERS", "XDG_DATA_HOME")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path_factory):
    path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(path))
    for name in (*_ELSEWHERE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return path
