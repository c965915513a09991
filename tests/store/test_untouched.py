"""Stores of other programs are never written to: contents, times and names stay the same."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from material import ROOT, material
from sotto.errors import StoreError
from sotto.store.discovery import discover
from sotto.store.opening import open_model, record_of, resolve
from sotto.store.records import Source
from sotto.store.roots import Root
from sotto.store.verify import verify
from stores import LLAMA, TOKENIZER, Store, fingerprint, folder, gguf, repository, safetensors


def call_everything(roots):
    """Call every operation of the store on all models in the roots."""
    found = discover(roots)
    for record in found.records:
        with contextlib.suppress(StoreError):
            open_model(record)
        with contextlib.suppress(StoreError):
            verify(record, lambda done, total: None, lambda: False)
        for target in (record.name, record.digest[:12], str(record.path)):
            with contextlib.suppress(StoreError):
                resolve(target, found)
        with contextlib.suppress(StoreError):
            record_of(record.path)
    for root in roots:
        with contextlib.suppress(StoreError):
            record_of(root.path)
    return found


@pytest.fixture
def machine(tmp_path):
    """Return roots of every kind with intact and broken models."""
    store = Store(tmp_path / "ollama")
    store.model("good")
    store.raw_manifest("bad", b"{")
    store.raw_manifest("m:.DS_Store", b"Bud1")
    layers = store.layers(3)
    store.manifest("incomplete", layers)
    store.blob_path(layers[0]["digest"]).unlink()
    (store.root / "blobs" / "sha256-123-partial").write_bytes(b"x")
    colon = store.layer("json", b'{"a": 1}', "generation_config.json")
    store.manifest("colon", [*store.layers(4), colon])
    path = store.blob_path(colon["digest"])
    path.rename(path.with_name(path.name.replace("-", ":")))
    store.manifest("gguf", [store.layer("model", gguf())], store.config(model_format="gguf"))
    files = {"config.json": json.dumps(LLAMA).encode(), "tokenizer.json": TOKENIZER}
    repository(tmp_path / "hub", "org/m", files | {"model.safetensors": safetensors({"w": ("F32", (9,))})})
    repository(tmp_path / "hub", "org/broken", files | {"model.safetensors": b"x"})
    folder(tmp_path / "lm" / "pub" / "m", fill=5)
    folder(tmp_path / "folders" / "m", fill=6)
    folder(tmp_path / "folders" / "broken", **{"config.json": b"["})
    kinds = [Source.OLLAMA, Source.HUGGINGFACE, Source.LMSTUDIO, Source.FOLDER]
    return [
        Root(kind, tmp_path / name, True) for kind, name in zip(kinds, ("ollama", "hub", "lm", "folders"), strict=True)
    ]


def test_nothing_is_written_anywhere(machine, tmp_path, home):
    before = fingerprint(tmp_path)
    found = call_everything(machine)
    assert sum(record.runnable for record in found.records) == 5
    assert sum(not record.runnable for record in found.records) == 5
    assert fingerprint(tmp_path) == before
    assert list(home.iterdir()) == []


def test_real_stores_are_not_written():
    roots = [Root(Source.OLLAMA, material("ollama-store"), True), Root(Source.FOLDER, ROOT, True)]
    before = fingerprint(ROOT)
    assert len(call_everything(roots).records) >= 7
    assert fingerprint(ROOT) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_store_is_read_normally(machine, tmp_path):
    folders = [path for path in tmp_path.rglob("*") if path.is_dir() and not path.is_symlink()]
    for path in folders:
        path.chmod(0o500)
    try:
        found = discover(machine)
    finally:
        for path in folders:
            path.chmod(0o700)
    assert sum(record.runnable for record in found.records) == 5


def test_every_file_is_opened_read_only(machine, monkeypatch):
    flags = []
    real = os.open

    def watched_open(path, flag, *others, **more):
        flags.append(flag)
        return real(path, flag, *others, **more)

    monkeypatch.setattr(os, "open", watched_open)
    call_everything(machine)
    assert flags
    assert not any(flag & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND) for flag in flags)


def test_no_open_file_is_left_behind(machine):
    files = Path("/dev/fd")
    before = len(list(files.iterdir()))
    call_everything(machine)
    assert len(list(files.iterdir())) == before


def test_the_store_is_light_to_import():
    heavy = "numpy mlx mlx_lm PySide6 httpx safetensors tokenizers jinja2 transformers asyncio urllib.request sqlite3"
    program = (
        "import sys, pkgutil, importlib\n"
        "for name in ('sotto.store', 'sotto.store.sources', 'sotto.store.gguf'):\n"
        "    package = importlib.import_module(name)\n"
        "    for module in pkgutil.iter_modules(package.__path__, f'{name}.'):\n"
        "        importlib.import_module(module.name)\n"
        f"print([name for name in '{heavy}'.split() if name in sys.modules])\n"
        "print([name for name in sys.modules if name.startswith('sotto.') and name.split('.')[1] not in\n"
        "       ('store', 'errors', 'paths')])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]


def test_an_opened_model_cannot_be_changed(tmp_path):
    source = open_model(record_of(folder(tmp_path / "m")))
    with pytest.raises(TypeError):
        source.config["model_type"] = "x"
    with pytest.raises(TypeError):
        source.tensor_files[0].tensors["w"] = None
    with pytest.raises(AttributeError):
        source.record.name = "x"


def test_models_may_disappear_while_they_are_listed(machine, monkeypatch):
    real = os.open
    gone = []

    def delete_before_open(path, *others, **more):
        if len(gone) < 3 and str(path).endswith(("latest", "config.json")):
            gone.append(path)
            shutil.rmtree(Path(path).parent)
        return real(path, *others, **more)

    monkeypatch.setattr(os, "open", delete_before_open)
    found = discover(machine)
    assert len(gone) == 3
    assert any(record.runnable for record in found.records)
