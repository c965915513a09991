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

CHILD = SUPPORT / "store" / "pull_child.py"


def child(root, name, *how):
    return subprocess.Popen([sys.executable, CHILD, root, name, *map(str, how)], stdout=subprocess.PIPE, text=True)


def staged_bytes(root):
    """Return the number of staged bytes of blobs."""
    return sum(path.stat().st_size for path in root.glob("staging/*/*/*/*/sha256-*"))


def free(monkeypatch, count):
    monkeypatch.setattr(disk_room, "free_bytes", lambda root: count)


def test_room_is_looked_for_before_the_first_byte(root, registry, monkeypatch):
    free(monkeypatch, disk_room.RESERVE + 700_000)
    heard = pull(root, name_at(registry))
    assert heard.reports[-1].state is PullState.FAILED
    assert_sentence(heard.reports[-1].note, root, "787 kB", "269 MB", "268 MB")
    assert registry.paths("/blobs/") == []
    assert not any(path.is_file() for path in root.rglob("*"))
    free(monkeypatch, disk_room.RESERVE + 800_000)
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE


def test_what_is_here_needs_no_room(root, registry, monkeypatch):
    registry.pause = 0.02
    with open_queue(root) as (queue, heard):
        queue.add(name_at(registry))
        heard.until(lambda progress: progress.done > 400_000)
    free(monkeypatch, disk_room.RESERVE + 450_000)
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


def test_a_disk_that_others_fill_meanwhile_is_not_filled_to_the_end(root, tmp_path, monkeypatch):
    with serving(large_model(tmp_path / "big", rows=20_000, tensors=2)) as registry:
        answers = [1 << 40, 1 << 40, 1]
        monkeypatch.setattr(disk_room, "free_bytes", lambda root: answers.pop(0) if len(answers) > 1 else answers[0])
        heard = pull(root, name_at(registry))
        assert heard.reports[-1].state is PullState.FAILED
        assert_sentence(heard.reports[-1].note, root, "1 B free")
        assert 16 << 20 < heard.reports[-1].done < 40 << 20
        monkeypatch.undo()
        assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
        assert_complete(root, registry)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_disk_that_is_full_in_the_middle(root, registry, large, monkeypatch, code):
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
    heard = pull(root, name_at(registry))
    monkeypatch.undo()
    failed = heard.reports[-1]
    assert failed.state is PullState.FAILED
    assert_sentence(failed.note, root)
    assert ("is full:" in failed.note) == (code != errno.EIO)
    # Afterwards complete models are listed and the staged one is reported.
    assert list(models_in(root)) == [name_at(registry, "n:latest")]
    with open_queue(root) as (queue, heard):
        (left,) = queue.unfinished()
        assert 300_000 < left.done < left.total
        queue.resume(left.name)
        assert heard.end().state is PullState.DONE
        assert min(progress.done for progress in heard.reports) >= left.done
    assert_complete(root, registry)


@pytest.mark.parametrize("size", [300, 100_000])
def test_files_that_may_not_grow(root, registry, size):
    """The system refuses any write beyond a size, beginning with that of the staged manifest."""
    process = child(root, name_at(registry), "size", size)
    said = process.communicate(timeout=60)[0]
    assert said.startswith("failed"), said
    assert "is full" in said
    assert models_in(root) == {}
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_may_not_be_written(root, registry):
    root.mkdir(parents=True)
    root.chmod(0o500)
    heard = pull(root, name_at(registry))
    assert heard.reports[-1].state is PullState.FAILED
    assert_sentence(heard.reports[-1].note, root, "Permission denied")


def test_a_store_that_cannot_be(root, registry):
    root.parent.mkdir(parents=True)
    root.write_bytes(b"no folder")
    heard = pull(root, name_at(registry))
    assert heard.reports[-1].state is PullState.FAILED
    assert_sentence(heard.reports[-1].note, root)


def test_killed_again_and_again(root, registry):
    """Killed at a different moment each time, the download makes progress and is not listed before it is complete."""
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


@pytest.mark.parametrize("number", range(1, 12))
def test_killed_before_any_rename(root, tmp_path, number):
    """Changes become visible by renames, so the process is killed before each of them in turn."""
    with serving(large_model(tmp_path / "origin", tensors=1, rows=16)) as registry:
        process = child(root, name_at(registry), "rename", number)
        said = process.communicate(timeout=60)[0]
        # One for each of four completed blobs, one for each into the store, and two for the manifest.
        assert process.returncode == (-9 if number <= 10 else 0), said
        listing = discover([Root(Source.SOTTO, root, False)])
        assert listing.problems == ()
        assert len(listing.records) == (number > 10)
        before = len(registry.requests)
        heard = pull(root, name_at(registry), patience=HASTY)
        assert heard.reports[-1].state is PullState.DONE
        assert_complete(root, registry)
        # Complete blobs are not requested again.
        assert (
            len(registry.paths("/blobs/")) - len([one for one in registry.requests[:before] if "/blobs/" in one.path])
            <= 4
        )
        assert number <= 5 or registry.paths()[before:] == ["/v2/library/m/manifests/latest"]
