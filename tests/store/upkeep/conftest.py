"""Sotto's own store in a folder of the test, and what it holds."""

import errno
import os

import pytest

from sotto.store import removal
from sotto.store.upkeep import linking
from stores import Store


@pytest.fixture
def store(monkeypatch, tmp_path, home):
    """Return Sotto's own store with two models that share blobs."""
    monkeypatch.setattr(removal, "data_dir", lambda: tmp_path / "data")
    made = Store(tmp_path / "data" / "models")
    made.model("one")
    made.model("two", fill=1)
    return made


@pytest.fixture
def no_links(monkeypatch):
    """Let the file system have neither clones nor links, as one on another disk."""

    def refuse(source, target):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(linking.os, "link", refuse)
    monkeypatch.setattr(linking, "_clone", lambda source, target: False)
