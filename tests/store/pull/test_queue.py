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


def test_downloads_run_one_after_the_other(root, slow):
    slow.store.model("n", fill=7)
    first, second = name_at(slow), name_at(slow, "n:latest")
    with open_queue(root) as (queue, log):
        queue.add(first)
        queue.add(second)
        queue.add(first)
        queue.add(second)
        log.until(lambda progress: progress.name == second and progress.state is PullState.DONE)
    ends = [(progress.name, progress.state) for progress in log.reports if progress.state is PullState.DONE]
    assert ends == [(first, PullState.DONE), (second, PullState.DONE)]
    assert [progress.state for progress in log.reports].count(PullState.WAITING) == 2
    since = next(number for number, progress in enumerate(log.reports) if progress.state is PullState.DONE)
    assert {progress.name for progress in log.reports[since + 1 :]} == {second}
    assert_complete(root, slow)
    assert_complete(root, slow, "n:latest")


def test_pausing_and_resuming(root, slow, large):
    name = name_at(slow)
    with open_queue(root) as (queue, log):
        queue.add(name)
        log.until(has_begun)
        queue.pause(name)
        paused = log.end()
        assert paused.state is PullState.PAUSED
        assert 0 < paused.done < paused.total
        assert models_in(root) == {}
        # Requests sent a moment earlier may only be recorded now.
        time.sleep(0.2)
        since, request_count = len(log.reports), len(slow.requests)
        time.sleep(0.3)
        assert (len(log.reports), len(slow.requests)) == (since, request_count)
        assert queue.unfinished() == (paused,)
        queue.resume(name)
        assert log.end(since).state is PullState.DONE
        assert min(progress.done for progress in log.reports[since:]) >= paused.done
    assert any("range" in request.headers for request in slow.requests[request_count:])
    assert_complete(root, slow)


def test_pausing_lets_the_next_download_begin(root, slow):
    slow.store.model("n", fill=7)
    first, second = name_at(slow), name_at(slow, "n:latest")
    with open_queue(root) as (queue, log):
        queue.add(first)
        queue.add(second)
        log.until(has_begun)
        queue.pause(first)
        log.until(lambda progress: progress.name == second and progress.state is PullState.DONE)
        assert list(models_in(root)) == [second]


def test_pausing_a_waiting_download(root, slow):
    slow.store.model("n", fill=7)
    first, second = name_at(slow), name_at(slow, "n:latest")
    with open_queue(root) as (queue, log):
        queue.add(first)
        queue.add(second)
        queue.pause(second)
        queue.pause("nobody")
        assert log.end() == PullProgress(second, PullState.PAUSED)
        log.until(lambda progress: progress.name == first and progress.state is PullState.DONE)
        time.sleep(0.1)
        assert log.reports[-1].name == first


@pytest.mark.parametrize("when", ["running", "paused", "failed", "waiting", "left"])
def test_cancelling_leaves_nothing(root, slow, large, when):
    slow.store.model("n", fill=7)
    other, name = name_at(slow, "n:latest"), name_at(slow)
    pull(root, other)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    if when == "failed":
        slow.fail(large, drop(0.5), *[drop(0.0)] * 40)
    if when == "left":
        with open_queue(root) as (queue, log):
            queue.add(name)
            log.until(has_begun)
    with open_queue(root) as (queue, log):
        if when == "waiting":
            queue.add(other)
        if when != "left":
            queue.add(name)
        if when in ("running", "paused"):
            log.until(has_begun)
        if when == "paused":
            queue.pause(name)
        if when in ("paused", "failed"):
            log.end()
        queue.cancel(name)
        deadline = time.monotonic() + 10
        while leftovers(root) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
        assert queue.unfinished() == ()
        since = len(log.reports)
        queue.add(name)
        slow.forgive()
        log.until(lambda progress: progress.name == name and progress.state is PullState.DONE, since)
    assert_complete(root, slow)


def test_cancelling_during_the_move_into_the_store_leaves_nothing(root, slow):
    """Check that cancelling cleans up after a process that was killed when some files were already in the store."""
    with open_queue(root) as (queue, log):
        queue.add(name_at(slow))
        log.until(has_begun)
    staging = Staging(root, parse_name(name_at(slow)))
    for digest in staging.staged_manifest().blobs:
        if staging.blob_file(digest).exists():
            (root / "blobs").mkdir(exist_ok=True)
            staging.blob_file(digest).rename(root / "blobs" / f"sha256-{digest}")
    assert list((root / "blobs").iterdir())
    with open_queue(root) as (queue, log):
        queue.cancel(name_at(slow))
        deadline = time.monotonic() + 10
        while leftovers(root) and time.monotonic() < deadline:
            time.sleep(0.02)
    assert list((root / "blobs").iterdir()) == []
    assert leftovers(root) == []


def test_closing_at_any_moment_keeps_downloaded_bytes(root, slow):
    done = 0
    for _ in range(3):
        with open_queue(root) as (queue, log):
            queue.add(name_at(slow))
            log.until(lambda progress, done=done: has_begun(progress) and progress.done > done + 50_000)
            done = log.reports[-1].done
        assert models_in(root) == {}
        with open_queue(root) as (queue, log):
            (left,) = queue.unfinished()
            assert left.state is PullState.PAUSED
            assert left.done >= done
    with open_queue(root) as (queue, log):
        queue.resume(left.name)
        assert log.end().state is PullState.DONE
    assert_complete(root, slow)


@pytest.mark.parametrize("part", ["/manifests/", "/blobs/"])
def test_closing_during_a_stall(root, registry, part):
    registry.fail(part, *[silent(None)] * 40)
    with open_queue(root, patience=RESTLESS) as (queue, log):
        queue.add(name_at(registry))
        log.until(lambda progress: progress.state is PullState.STALLED)
    queue.add(name_at(registry))
    queue.limit(3)
    queue.close()
    assert log.reports[-1].state is PullState.STALLED


def test_a_silent_name_server_delays_nothing(root):
    """Check that neither closing the queue nor ending the process waits for a silent name server."""
    began = time.monotonic()
    line = [sys.executable, CHILD, root, "nowhere.example/library/m", "lookup", "2"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60)
    assert time.monotonic() - began < 20
    assert (done.stdout, done.stderr) == ("checking \n", "")


def test_a_speed_limit_is_applied_and_lifted_at_once(root, registry):
    with open_queue(root) as (queue, log):
        queue.limit(100_000)
        queue.add(name_at(registry))
        log.until(has_begun)
        began, first = time.monotonic(), log.reports[-1].done
        time.sleep(1.2)
        passed, received = time.monotonic() - began, log.reports[-1].done - first
        # Each of the four connections may have one more piece in flight.
        assert received <= 100_000 * passed + 4 * 65_536
        assert log.reports[-1].state is PullState.DOWNLOADING
        queue.limit(None)
        began = time.monotonic()
        assert log.end().state is PullState.DONE
        assert time.monotonic() - began < 2
    assert_complete(root, registry)


def test_a_model_that_another_sotto_is_downloading(root, registry):
    with Staging(root, parse_name(name_at(registry))).lock():
        log = pull(root, name_at(registry))
        assert log.reports[-1].state is PullState.FAILED
        assert_sentence(log.reports[-1].note, f"Another Sotto is downloading or importing {name_at(registry)}")
        with open_queue(root) as (queue, log):
            queue.cancel(name_at(registry))
    assert pull(root, name_at(registry)).reports[-1].state is PullState.DONE
    assert_complete(root, registry)


def test_deleting_another_model_keeps_the_blobs_of_a_download(root, slow, monkeypatch):
    monkeypatch.setattr(removal, "data_dir", lambda: root.parent)
    slow.store.model("n", fill=7)
    other = name_at(slow, "n:latest")
    pull(root, other)
    with open_queue(root) as (queue, log):
        queue.add(name_at(slow))
        log.until(has_begun)
        queue.pause(name_at(slow))
        since = len(log.reports)
        log.end()
        removal.erase(removal.remove(models_in(root)[other]))
        queue.resume(name_at(slow))
        log.end(since + 1)
    (root / "trash").rmdir()
    assert_complete(root, slow)
    shared = json.loads(slow.store.path("library/m").read_bytes())["config"]["digest"]
    assert shared in slow.store.path("library/n").read_text()
    assert sum(shared in path for path in slow.paths()) == 1


def test_a_store_of_another_program_is_not_written(root, registry, home):
    theirs = home / ".ollama" / "models"
    theirs.mkdir(parents=True)
    root.parent.mkdir(parents=True)
    root.symlink_to(theirs)
    log = pull(root, name_at(registry))
    assert log.reports[-1].state is PullState.FAILED
    assert_sentence(log.reports[-1].note, root, theirs)
    assert list(theirs.iterdir()) == []


def test_speed_and_time_left():
    now = [100.0]
    reports = []
    meter = Meter(PullProgress("m", PullState.WAITING), reports.append, clock=lambda: now[0])
    meter.enter(PullState.DOWNLOADING)
    meter.set_total(1000, 11_000)
    meter.open_stream("a")
    assert reports[-1].speed is None
    for _ in range(10):
        now[0] += 1
        meter.add_received("a", 100)
        meter.tick()
    assert (reports[-1].done, reports[-1].speed, reports[-1].seconds_left) == (
        2000,
        pytest.approx(100, rel=0.25),
        pytest.approx(90, rel=0.3),
    )
    now[0] += 10
    meter.tick()
    assert (reports[-1].speed, reports[-1].seconds_left) == (0.0, None)
    meter.set_trouble("a", PullState.STALLED, "Nothing.")
    assert (reports[-1].state, reports[-1].speed, reports[-1].note) == (PullState.STALLED, None, "Nothing.")
    meter.open_stream("b")
    meter.tick()
    assert (reports[-1].state, reports[-1].note) == (PullState.DOWNLOADING, "")
    meter.add_present(-500)
    meter.tick()
    assert reports[-1].done == 2000
    count = len(reports)
    meter.tick()
    assert len(reports) == count


def test_an_unused_queue_costs_nothing(root):
    program = (
        "import sys, threading; from pathlib import Path; from sotto.store.pull.queue import PullQueue\n"
        f"queue = PullQueue(Path({str(root)!r}), print); queue.unfinished(); queue.limit(5); queue.close()\n"
        "print([name for name in ('httpx', 'asyncio', 'ssl', 'h11') if name in sys.modules], threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] 1\n"
    assert not root.exists()
