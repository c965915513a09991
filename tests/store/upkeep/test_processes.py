"""Processes that change one store at once, or are killed: every model stays whole, and nothing is left behind."""

import os
import subprocess
import sys

import pytest

from keeping_child import Keeper
from places import SUPPORT
from registry_server import large_model, serving
from stores import Store, fingerprint, folder
from thoroughness import share

pytestmark = pytest.mark.slow

CHILD = SUPPORT / "store" / "keeping_child.py"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return the folder of the store, beside another program's, whose models share blobs, and folders of models."""
    theirs = Store(tmp_path / "theirs")
    for fill in range(4):
        theirs.model(f"m{fill}", fill=fill)
        folder(tmp_path / "folders" / f"f{fill}", fill=fill)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SUPPORT / "store"), *sys.path]))
    return tmp_path / "data"


def foreign(path):
    return fingerprint(path / "theirs"), fingerprint(path / "folders")


def start(*arguments):
    command = [sys.executable, CHILD, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def assert_succeeded(*processes):
    outputs = [process.communicate(timeout=600)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), "\n".join(outputs)


def test_several_processes_change_one_store_at_once(data, tmp_path, monkeypatch):
    before = foreign(tmp_path)
    origin = large_model(tmp_path / "origin", rows=200)
    origin.model("library/n", fill=2)
    with serving(origin) as registry:
        assert_succeeded(*(start("churn", data, seed, share(200), registry.host) for seed in range(4)))
    monkeypatch.setattr("sotto.store.removal.data_dir", lambda: data)
    monkeypatch.setattr("sotto.store.upkeep.pruning.GRACE_SECONDS", 0)
    keeper = Keeper(data, 0)
    assert keeper.own()
    keeper.check()
    assert foreign(tmp_path) == before


def test_a_process_may_be_killed_at_any_moment(data, tmp_path):
    before = foreign(tmp_path)
    assert_succeeded(start("kills", data, 1, share(200)))
    assert foreign(tmp_path) == before
