"""Sotto's own store in a folder of the test, and what it holds."""

import pytest

from sotto.store import removal
from stores import Store


@pytest.fixture
def store(monkeypatch, tmp_path, home):
    """Return Sotto's own store with two models that share blobs."""
    monkeypatch.setattr(removal, "data_dir", lambda: tmp_path / "data")
    made = Store(tmp_path / "data" / "models")
    made.model("one")
    made.model("two", fill=1)
    return made
