"""The lock of the store: nobody deletes a blob that somebody else has found and is about to name."""

import threading

import pytest

from pulling import models_in
from sotto.store.removal import delete_unused_blobs, erase, remove
from sotto.store.upkeep.lock import adding, deleting
from sotto.store.upkeep.pruning import prune


def run(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread


@pytest.mark.parametrize("how", ["erase", "replace", "prune"])
def test_a_manifest_that_is_added_meanwhile_keeps_its_blobs(store, monkeypatch, how):
    monkeypatch.setattr("sotto.store.upkeep.pruning.GRACE_SECONDS", 0)
    content, record = store.path("one").read_bytes(), models_in(store.root)["one:latest"]
    digests = [path.name.removeprefix("sha256-") for path in (store.root / "blobs").iterdir()]
    removed = remove(record)
    if how != "erase":
        removed.moved[0][1].unlink()
    acts = {
        "erase": (erase, removed),
        "replace": (delete_unused_blobs, store.root, digests),
        "prune": (prune, store.root),
    }
    with adding(store.root):
        # The blobs are there; another process begins to delete them before the manifest is in place.
        deleter = run(*acts[how])
        deleter.join(0.1)
        store.raw_manifest("again", content)
    deleter.join()
    assert models_in(store.root)["again:latest"].runnable


def test_several_may_add_at_once_and_nobody_while_somebody_deletes(store):
    with adding(store.root), adding(store.root):
        pass
    order = []

    def add():
        with adding(store.root):
            order.append("added")

    with deleting(store.root):
        adder = run(add)
        adder.join(0.1)
        order.append("deleted")
    adder.join()
    assert order == ["deleted", "added"]
