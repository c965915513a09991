"""Several downloads: their order, pausing, resuming, cancelling, the speed limit, and closing at any moment."""

import json
import subprocess
import sys
import time

import pytest

from places import SUPPORT
from pulling import RESTLESS, assert_complete, leftovers, models_in, name_at, open_queue, pull
from registry_server import drop, silent
from sotto.store import removal
from sotto.store.pull.meter import Meter
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.staging import Staging
from sotto.store.sources.model_names import parse_name
from stores import assert_sentence

CHILD = SUPPORT / "store" / "pull_child.py"


def has_begun(progress):
    """Return whether some bytes of the weights have been downloaded."""
    return progress.state is PullState.DOWNLOADING and progress.done > 50_000


@pytest.fixture
def slow(registry):
    registry.pause = 0.02
    return registry


def test_one_after_the_other(root, slow):
    slow.store.model("n", fill=7)
    first, second = name_at(slow), name_at(slow, "n:latest")
    with open_queue(root) as (queue, heard):
        queue.add(first)
        queue.add(second)
        queue.add(first)
        queue.add(second)
        heard.until(lambda progress: progress.name == second and progress.state is PullState.DONE)
    ends = [(progress.name, progress.state) for progress in heard.reports if progress.state is PullState.DONE]
    assert ends == [(first, PullState.DONE), (second, PullState.DONE)]
    assert [progress.state for progress in heard.reports].count(PullState.WAITING) == 2
    since = next(number for number, progress in enumerate(heard.reports) if progress.state is PullState.DONE)
    assert {progress.name for progress in heard.reports[since + 1 :]} == {second}
    assert_complete(root, slow)
    assert_complete(root, slow, "n:latest")


def test_pausing_and_going_on(root, slow, large):
    name = name_at(slow)
    with open_queue(root) as (queue, heard):
        queue.add(name)
        heard.until(has_begun)
        queue.pause(name)
        paused = heard.end()
        assert paused.state is PullState.PAUSED
        assert 0 < paused.done < paused.total
        assert models_in(root) == {}
        # Requests sent a moment earlier may only be recorded now.
        time.sleep(0.2)
        since, asked = len(heard.reports), len(slow.requests)
        time.sleep(0.3)
        assert (len(heard.reports), len(slow.requests)) == (since, asked)
        assert queue.unfinished() == (paused,)
        queue.resume(name)
        assert heard.end(since).state is PullState.DONE
        assert min(progress.done for progress in heard.reports[since:]) >= paused.done
    assert any("range" in one.headers for one in slow.requests[asked:])
    assert_complete(root, slow)


def test_a_pause_lets_the_next_one_go(root, slow):
    slow.store.model("n", fill=7)
    first, second = name_at(slow), name_at(slow, "n:latest")
    with open_queue(root) as (queue, heard):
        queue.add(first)
        queue.add(second)
        heard.until(has_begun)
        queue.pause(first)
        heard.until(lambda progress: progress.name == second and progress.state is PullState.DONE)
        assert list(models_in(root)) == [second]


def test_pausing_one_that_waits(root, slow):
    slow.store.model("n", fill=7)
    first, second = name_at(slow), name_at(slow, "n:latest")
    with open_queue(root) as (queue, heard):
        queue.add(first)
        queue.add(second)
        queue.pause(second)
        queue.pause("nobody")
        assert heard.end() == PullProgress(second, PullState.PAUSED)
        heard.until(lambda progress: progress.name == first and progress.state is PullState.DONE)
        time.sleep(0.1)
        assert heard.reports[-1].name == first


@pytest.mark.parametrize("when", ["running", "paused", "failed", "waiting", "left"])
def test_cancelling_leaves_nothing(root, slow, large, when):
    slow.store.model("n", fill=7)
    other, name = name_at(slow, "n:latest"), name_at(slow)
    pull(root, other)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    if when == "failed":
        slow.fail(large, drop(0.5), *[drop(0.0)] * 40)
    if when == "left":
        with open_queue(root) as (queue, heard):
            queue.add(name)
            heard.until(has_begun)
    with open_queue(root) as (queue, heard):
        if when == "waiting":
            queue.add(other)
        if when != "left":
            queue.add(name)
        if when in ("running", "paused"):
            heard.until(has_begun)
        if when == "paused":
            queue.pause(name)
        if when in ("paused", "failed"):
            heard.end()
        queue.cancel(name)
        deadline = time.monotonic() + 10
        while leftovers(root) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
        assert queue.unfinished() == ()
        since = len(heard.reports)
        queue.add(name)
        slow.forgive()
        heard.until(lambda progress: progress.name == name and progress.state is PullState.DONE, since)
    assert_complete(root, slow)


def test_nothing_is_left_of_one_that_is_cancelled_while_it_is_put_together(root, slow):
    """Killed after some files were moved into the store, and cancelled afterwards."""
    with open_queue(root) as (queue, heard):
        queue.add(name_at(slow))
        heard.until(has_begun)
    staging = Staging(root, parse_name(name_at(slow)))
    for digest in staging.staged_manifest().blobs:
        if staging.blob_file(digest).exists():
            (root / "blobs").mkdir(exist_ok=True)
            staging.blob_file(digest).rename(root / "blobs" / f"sha256-{digest}")
    assert list((root / "blobs").iterdir())
    with open_queue(root) as (queue, heard):
        queue.cancel(name_at(slow))
        deadline = time.monotonic() + 10
        while leftovers(root) and time.monotonic() < deadline:
            time.sleep(0.02)
    assert list((root / "blobs").iterdir()) == []
    assert leftovers(root) == []


def test_closing_at_any_moment_keeps_what_is_here(root, slow):
    done = 0
    for _ in range(3):
        with open_queue(root) as (queue, heard):
            queue.add(name_at(slow))
            heard.until(lambda progress, done=done: has_begun(progress) and progress.done > done + 50_000)
            done = heard.reports[-1].done
        assert models_in(root) == {}
        with open_queue(root) as (queue, heard):
            (left,) = queue.unfinished()
            assert left.state is PullState.PAUSED
            assert left.done >= done
    with open_queue(root) as (queue, heard):
        queue.resume(left.name)
        assert heard.end().state is PullState.DONE
    assert_complete(root, slow)


@pytest.mark.parametrize("part", ["/manifests/", "/blobs/"])
def test_closing_while_nothing_comes(root, registry, part):
    registry.fail(part, *[silent(None)] * 40)
    with open_queue(root, patience=RESTLESS) as (queue, heard):
        queue.add(name_at(registry))
        heard.until(lambda progress: progress.state is PullState.STALLED)
    queue.add(name_at(registry))
    queue.limit(3)
    queue.close()
    assert heard.reports[-1].state is PullState.STALLED


def test_a_name_server_that_is_silent_holds_nobody_up(root):
    """Neither closing the queue nor ending the process waits for it."""
    began = time.monotonic()
    line = [sys.executable, CHILD, root, "nowhere.example/library/m", "lookup", "2"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60)
    assert time.monotonic() - began < 20
    assert (done.stdout, done.stderr) == ("checking \n", "")


def test_a_limit_holds_and_is_lifted_at_once(root, registry):
    with open_queue(root) as (queue, heard):
        queue.limit(100_000)
        queue.add(name_at(registry))
        heard.until(has_begun)
        began, first = time.monotonic(), heard.reports[-1].done
        time.sleep(1.2)
        passed, came = time.monotonic() - began, heard.reports[-1].done - first
        # Each of the four connections may have one more piece in flight.
        assert came <= 100_000 * passed + 4 * 65_536
        assert heard.reports[-1].state is PullState.DOWNLOADING
        queue.limit(None)
        began = time.monotonic()
        assert heard.end().state is PullState.DONE
        assert time.monotonic() - began < 2
    assert_complete(root, registry)


def test_another_sotto_that_downloads_the_same(root, registry):
    with Staging(root, parse_name(name_at(registry))).lock():
        heard = pull(root, name_at(registry))
        assert heard.reports[-1].state is PullState.FAILED
        assert_sentence(heard.reports[-1].note, f"Another Sotto is downloading {name_at(registry)}")
        with open_queue(root) as (queue, heard):
            queue.cancel(name_at(registry))
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


def test_deleting_another_model_leaves_what_a_download_needs(root, slow, monkeypatch):
    monkeypatch.setattr(removal, "data_dir", lambda: root.parent)
    slow.store.model("n", fill=7)
    other = name_at(slow, "n:latest")
    pull(root, other)
    with open_queue(root) as (queue, heard):
        queue.add(name_at(slow))
        heard.until(has_begun)
        queue.pause(name_at(slow))
        since = len(heard.reports)
        heard.end()
        removal.erase(removal.remove(models_in(root)[other]))
        queue.resume(name_at(slow))
        heard.end(since + 1)
    (root / "trash").rmdir()
    assert_complete(root, slow)
    shared = json.loads(slow.store.path("library/m").read_bytes())["config"]["digest"]
    assert shared in slow.store.path("library/n").read_text()
    assert sum(shared in path for path in slow.paths()) == 1


def test_a_store_that_is_another_programs_is_not_written(root, registry, home):
    theirs = home / ".ollama" / "models"
    theirs.mkdir(parents=True)
    root.parent.mkdir(parents=True)
    root.symlink_to(theirs)
    heard = pull(root, name_at(registry))
    assert heard.reports[-1].state is PullState.FAILED
    assert_sentence(heard.reports[-1].note, root, theirs)
    assert list(theirs.iterdir()) == []


def test_speed_and_time_left():
    now = [100.0]
    told = []
    meter = Meter(PullProgress("m", PullState.WAITING), told.append, clock=lambda: now[0])
    meter.enter(PullState.DOWNLOADING)
    meter.set_total(1000, 11_000)
    meter.open_stream("a")
    assert told[-1].speed is None
    for _ in range(10):
        now[0] += 1
        meter.add_received("a", 100)
        meter.tick()
    assert (told[-1].done, told[-1].speed, told[-1].seconds_left) == (
        2000,
        pytest.approx(100, rel=0.25),
        pytest.approx(90, rel=0.3),
    )
    now[0] += 10
    meter.tick()
    assert (told[-1].speed, told[-1].seconds_left) == (0.0, None)
    meter.set_trouble("a", PullState.STALLED, "Nothing.")
    assert (told[-1].state, told[-1].speed, told[-1].note) == (PullState.STALLED, None, "Nothing.")
    meter.open_stream("b")
    meter.tick()
    assert (told[-1].state, told[-1].note) == (PullState.DOWNLOADING, "")
    meter.add_present(-500)
    meter.tick()
    assert told[-1].done == 2000
    count = len(told)
    meter.tick()
    assert len(told) == count


def test_a_queue_that_is_not_used_costs_nothing(root):
    program = (
        "import sys, threading; from pathlib import Path; from sotto.store.pull.queue import PullQueue\n"
        f"queue = PullQueue(Path({str(root)!r}), print); queue.unfinished(); queue.limit(5); queue.close()\n"
        "print([name for name in ('httpx', 'asyncio', 'ssl', 'h11') if name in sys.modules], threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] 1\n"
    assert not root.exists()
