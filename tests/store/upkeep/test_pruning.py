"""Pruning: what no model needs goes after an hour, and nothing else does."""

import json
import os
import threading
import time

import pytest

from pulling import models_in, name_at, open_queue
from sotto.errors import StoreError
from sotto.store.removal import remove, restore, trash
from sotto.store.upkeep import workspaces
from sotto.store.upkeep.pruning import GRACE_SECONDS, Pruned, prune, prune_regularly
from sotto.store.upkeep.workspaces import workspace
from stores import Store, assert_sentence, fingerprint

LONG_AGO = time.time() - GRACE_SECONDS - 60


def age(*paths, by=0.0):
    """Make paths, and everything in the folders among them, as old as if nothing had changed for more than an hour."""
    for path in paths:
        for each in [*path.rglob("*"), path] if path.is_dir() else [path]:
            os.utime(each, (0, LONG_AGO - by), follow_symlinks=False)


def blobs(store):
    return {path.name for path in (store.root / "blobs").iterdir()}


def orphan(store, content=b"orphan"):
    digest, _ = store.blob(content)
    return store.blob_path(digest)


def test_old_orphans_go_and_everything_else_stays(store):
    needed, young = blobs(store), orphan(store, b"young")
    age(store.root)
    os.utime(young)
    old = orphan(store)
    age(old)
    colon = store.root / "blobs" / f"sha256:{'a' * 64}"
    colon.write_bytes(b"xx")
    age(colon)
    others = store.root / "blobs" / "notes.txt"
    others.write_bytes(b"x")
    age(others)
    would = prune(store.root, dry_run=True)
    assert would == Pruned(0, 2, len(b"orphan") + 2)
    assert old.exists()
    assert prune(store.root) == would
    assert blobs(store) == {*needed, young.name, "notes.txt"}
    assert prune(store.root) == Pruned(0, 0, 0)


def test_an_unreadable_manifest_stops_pruning(store):
    old = orphan(store)
    age(old)
    bad = store.raw_manifest("bad", b"{")
    for dry_run in (True, False):
        with pytest.raises(StoreError) as raised:
            prune(store.root, dry_run=dry_run)
        assert_sentence(raised.value.message, bad)
    assert old.exists()
    bad.unlink()
    assert prune(store.root).blobs == 1


def test_the_trash_is_emptied_after_an_hour(store):
    first = remove(models_in(store.root)["one:latest"])
    age(store.root / "blobs")
    assert prune(store.root) == Pruned(0, 0, 0)
    second = remove(models_in(store.root)["two:latest"])
    age(first.folder)
    pruned = prune(store.root)
    assert pruned.deletions == 1
    assert pruned.freed > 0
    assert [model.folder for model in trash()] == [second.folder]
    restore(second)
    assert models_in(store.root)["two:latest"].runnable


def test_the_whole_trash_is_emptied_on_request(store):
    remove(models_in(store.root)["one:latest"])
    needed = {path.name for path in map(store.blob_path, digests(store, "two"))}
    would = prune(store.root, whole_trash=True, dry_run=True)
    assert prune(store.root, whole_trash=True) == would
    assert would.deletions == 1
    assert blobs(store) == needed
    assert trash() == ()


def digests(store, name):
    manifest = json.loads(store.path(name).read_bytes())
    return {layer["digest"] for layer in (manifest["config"], *manifest["layers"])}


def test_empty_folders_go(store):
    empty = store.root / "manifests" / "registry.ollama.ai" / "library" / "gone"
    empty.mkdir()
    (store.root / "manifests" / "elsewhere" / "some").mkdir(parents=True)
    prune(store.root)
    assert not empty.exists()
    assert sorted(path.name for path in (store.root / "manifests").iterdir()) == ["registry.ollama.ai"]


def test_what_killed_processes_leave_goes_and_what_running_ones_use_stays(store):
    with workspace(store.root) as used:
        (used / "blob").write_bytes(b"123")
        age(used)
        left = store.root / workspaces.WORKING / "left"
        left.mkdir()
        (left / "blob").write_bytes(b"1234")
        assert prune(store.root).freed == 0
        age(left)
        assert prune(store.root).freed == 4
        assert not left.exists()
        assert (used / "blob").exists()
    assert not used.exists()


def test_unfinished_downloads_and_their_blobs_stay(store, registry):
    registry.pause = 0.02
    with open_queue(store.root) as (queue, log):
        queue.add(name_at(registry))
        log.until(lambda progress: progress.done > 400_000)
    age(store.root)
    before = fingerprint(store.root / "staging")
    assert before
    prune(store.root)
    assert fingerprint(store.root / "staging") == before


def test_a_store_that_is_another_programs_is_not_pruned(monkeypatch, tmp_path, home):
    theirs = Store(home / ".ollama" / "models")
    old = orphan(theirs)
    age(old)
    before = fingerprint(theirs.root)
    with pytest.raises(StoreError, match="nothing is deleted"):
        prune(theirs.root)
    assert fingerprint(theirs.root) == before


def test_a_store_that_is_not_there_yet_is_not_made(root):
    assert prune(root) == Pruned(0, 0, 0)
    assert not root.exists()


def test_a_server_prunes_when_it_starts_and_until_it_ends(store, caplog):
    old = orphan(store)
    age(old)
    ended = threading.Event()
    thread = threading.Thread(target=prune_regularly, args=(store.root, ended))
    bad = store.raw_manifest("bad", b"{")
    thread.start()
    while not caplog.records:
        time.sleep(0.01)
    ended.set()
    thread.join()
    assert "The store was not pruned" in caplog.records[0].message
    bad.unlink()
    prune_regularly(store.root, ended)
    assert not old.exists()
