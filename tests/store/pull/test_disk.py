"""Downloads and the disk: too little space, a full disk, and a process killed at any moment."""

import errno
import os
import random
import subprocess
import sys
import time
from threading import current_thread

import pytest

from places import SUPPORT
from pulling import HASTY, assert_complete, models_in, name_at, open_queue, pull
from registry_server import large_model, serving
from sotto.store.discovery import discover
from sotto.store.pull import disk_room
from sotto.store.pull.progress import PullState
from sotto.store.records import Source
from sotto.store.roots import Root
from stores import assert_sentence
from thoroughness import some

pytestmark = pytest.mark.slow

CHILD = SUPPORT / "store" / "pull_child.py"


def child(root, name, *how):
    return subprocess.Popen([sys.executable, CHILD, root, name, *map(str, how)], stdout=subprocess.PIPE, text=True)


def staged_bytes(root):
    """Return the number of staged bytes of blobs."""
    return sum(path.stat().st_size for path in root.glob("staging/*/*/*/*/sha256-*"))


def set_free_bytes(monkeypatch, count):
    monkeypatch.setattr(disk_room, "free_bytes", lambda root: count)


def test_free_space_is_checked_before_the_first_byte(root, registry, monkeypatch):
    set_free_bytes(monkeypatch, disk_room.RESERVE + 700_000)
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, root, "787 kB", "269 MB", "268 MB")
    assert registry.paths("/blobs/") == []
    assert not any(path.is_file() for path in root.rglob("*"))
    set_free_bytes(monkeypatch, disk_room.RESERVE + 800_000)
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE


def test_staged_bytes_need_no_free_space(root, registry, monkeypatch):
    registry.pause = 0.02
    with open_queue(root) as (queue, log):
        queue.add(name_at(registry))
        log.until(lambda progress: progress.done > 400_000)
    set_free_bytes(monkeypatch, disk_room.RESERVE + 450_000)
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


def test_a_disk_that_others_fill_meanwhile_is_not_filled_up(root, tmp_path, monkeypatch):
    with serving(large_model(tmp_path / "big", rows=20_000, tensors=2)) as registry:
        answers = [1 << 40, 1 << 40, 1]
        monkeypatch.setattr(disk_room, "free_bytes", lambda root: answers.pop(0) if len(answers) > 1 else answers[0])
        log = pull(root, name_at(registry))
        assert log.reports[-1].state is PullState.FAILED
        assert_sentence(log.reports[-1].note, root, "1 B free")
        assert 16 << 20 < log.reports[-1].done < 40 << 20
        monkeypatch.undo()
        assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
        assert_complete(root, registry)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_disk_that_fills_up_during_a_download(root, registry, large, monkeypatch, code):
    registry.store.model("n", fill=7)
    pull(root, name_at(registry, "n:latest"))
    write, left = os.write, [400_000]

    def limited_write(handle, data):
        if current_thread().name != "downloads":
            return write(handle, data)
        if left[0] == 0:
            raise OSError(code, os.strerror(code))
        count = write(handle, data[: left[0]])
        left[0] -= count
        return count

    monkeypatch.setattr(os, "write", limited_write)
    log = pull(root, name_at(registry))
    monkeypatch.undo()
    failed = log.reports[-1]
    assert failed.state is PullState.FAILED
    assert_sentence(failed.note, root)
    assert ("is full:" in failed.note) == (code != errno.EIO)
    # Afterwards complete models are listed and the staged one is reported.
    assert list(models_in(root)) == [name_at(registry, "n:latest")]
    with open_queue(root) as (queue, log):
        (left,) = queue.unfinished()
        assert 300_000 < left.done < left.total
        queue.resume(left.name)
        assert log.end().state is PullState.DONE
        assert min(progress.done for progress in log.reports) >= left.done
    assert_complete(root, registry)


@pytest.mark.parametrize("size", [300, 100_000])
def test_files_that_cannot_grow(root, registry, size):
    """Check that a download fails cleanly if files cannot exceed a size, beginning with the staged manifest."""
    process = child(root, name_at(registry), "size", size)
    output = process.communicate(timeout=60)[0]
    assert output.startswith("failed"), output
    assert "is full" in output
    assert models_in(root) == {}
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_is_not_writable(root, registry):
    root.mkdir(parents=True)
    root.chmod(0o500)
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, root, "Permission denied")


def test_a_store_whose_path_is_a_file(root, registry):
    root.parent.mkdir(parents=True)
    root.write_bytes(b"no folder")
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, root)


def test_a_download_that_is_killed_repeatedly(root, registry):
    """Check that a download killed at different moments makes progress and is not listed before it is complete."""
    registry.pause = 0.03
    done = 0
    dice = random.Random(5)
    for _ in range(4):
        enough = done + dice.randrange(20_000, 120_000)
        process = child(root, name_at(registry))
        while staged_bytes(root) < enough and process.poll() is None:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        listing = discover([Root(Source.SOTTO, root, False)])
        assert (listing.records, listing.problems) == ((), ())
        with open_queue(root) as (queue, _):
            (left,) = queue.unfinished()
        assert left.done == staged_bytes(root) >= enough
        done = left.done
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


@pytest.mark.parametrize("number", some(range(1, 12), 6))
def test_a_download_killed_before_each_rename(root, tmp_path, number):
    """Check that the store stays consistent if the process is killed before any of the renames that publish changes."""
    with serving(large_model(tmp_path / "origin", tensors=1, rows=16)) as registry:
        process = child(root, name_at(registry), "rename", number)
        output = process.communicate(timeout=60)[0]
        # One rename for each of the four completed blobs, one to move each into the store, and two for the manifest.
        assert process.returncode == (-9 if number <= 10 else 0), output
        listing = discover([Root(Source.SOTTO, root, False)])
        assert listing.problems == ()
        assert len(listing.records) == (number > 10)
        before = len(registry.requests)
        log = pull(root, name_at(registry), patience=HASTY)
        assert log.reports[-1].state is PullState.DONE
        assert_complete(root, registry)
        # Complete blobs are not requested again.
        assert (
            len(registry.paths("/blobs/"))
            - len([request for request in registry.requests[:before] if "/blobs/" in request.path])
            <= 4
        )
        assert number <= 5 or registry.paths()[before:] == ["/v2/library/m/manifests/latest"]
