"""Fixtures with an empty home folder, so that the models of the user who runs the tests are not found."""

import pytest

from registry_server import large_model, serving

_VARIABLES = ("OLLAMA_MODELS", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "SOTTO_FOLDERS", "XDG_DATA_HOME")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path_factory):
    path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(path))
    for name in (*_VARIABLES, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return path


@pytest.fixture
def registry(tmp_path):
    """Serve a registry on loopback with a model `m` of three tensors."""
    with serving(large_model(tmp_path / "origin")) as registry:
        yield registry


@pytest.fixture
def large(registry):
    """Return the digest of the registry's largest blob, the first if several have its size."""
    blobs = sorted(registry.store.root.joinpath("blobs").iterdir(), key=lambda path: (-path.stat().st_size, path.name))
    return blobs[0].name.removeprefix("sha256-")


@pytest.fixture
def root(tmp_path):
    """Return the folder for Sotto's own store, which does not exist yet."""
    return tmp_path / "data" / "models"
