"""Download queues for tests, with a log of their progress, and checks of the store afterwards."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Condition
from typing import Any

from registry_server import Registry
from sotto.store.discovery import discover
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.pull.queue import PullQueue
from sotto.store.pull.terms import Patience
from sotto.store.records import ModelRecord, Source
from sotto.store.roots import Root
from sotto.store.verify import verify

# Short limits, but `silence` is long enough that a busy machine does not exceed it.
HASTY = Patience(
    silence=2.0, answer=5.0, first_wait=0.02, longest_wait=0.1, tries=3, blob_tries=4, report_interval=0.02
)
RESTLESS = replace(HASTY, silence=0.5)
ENDED = frozenset({PullState.DONE, PullState.FAILED, PullState.PAUSED})


class ProgressLog:
    """The progress reports of a queue."""

    def __init__(self) -> None:
        self.reports: list[PullProgress] = []
        self._changed = Condition()

    def report(self, progress: PullProgress) -> None:
        """Add a report."""
        with self._changed:
            self.reports.append(progress)
            self._changed.notify_all()

    def until(self, wanted: Callable[[PullProgress], bool], since: int = 0, timeout: float = 20.0) -> PullProgress:
        """Wait for a report that `wanted` accepts, from index `since` on, and return it."""

        def match() -> PullProgress | None:
            return next((progress for progress in self.reports[since:] if wanted(progress)), None)

        with self._changed:
            if progress := self._changed.wait_for(match, timeout):
                return progress
        raise AssertionError(f"not reported within {timeout} s; reported {self.reports[-3:]}")

    def end(self, since: int = 0, timeout: float = 20.0) -> PullProgress:
        """Wait until a download ends, is paused or fails."""
        return self.until(lambda progress: progress.state in ENDED, since, timeout)

    def states(self) -> list[PullState]:
        """Return the states in order, without immediate repetitions."""
        states = [progress.state for progress in self.reports]
        return [state for before, state in zip([None, *states], states, strict=False) if state is not before]

    def check(self) -> None:
        """Check that the number of bytes never falls, and that there is a note exactly if something is wrong."""
        for before, now in zip(self.reports, self.reports[1:], strict=False):
            assert now != before or now.state is PullState.WAITING
            if before.total == now.total and before.name == now.name:
                assert now.done >= before.done, (before, now)
        for progress in self.reports:
            assert progress.total is None or 0 <= progress.done <= progress.total, progress
            noted = progress.state in (PullState.STALLED, PullState.RETRYING, PullState.FAILED)
            assert bool(progress.note) == noted, progress
            if progress.state is not PullState.DOWNLOADING:
                assert progress.speed is None, progress
                assert progress.seconds_left is None, progress


@contextmanager
def open_queue(root: Path, **options: Any) -> Iterator[tuple[PullQueue, ProgressLog]]:
    """Open a queue for a store with a log of its progress; closing it afterwards must take less than a second."""
    log = ProgressLog()
    queue = PullQueue(root, log.report, **{"insecure": True, "patience": HASTY} | options)
    try:
        yield queue, log
    finally:
        began = time.monotonic()
        queue.close()
        assert time.monotonic() - began < 1
    log.check()


def pull(root: Path, name: str, **options: Any) -> ProgressLog:
    """Download a model, successfully or not, and return the log."""
    with open_queue(root, **options) as (queue, log):
        queue.add(name)
        log.end()
    return log


def models_in(root: Path) -> dict[str, ModelRecord]:
    """Return the models of a store by name, and check that there are no problems."""
    listing = discover([Root(Source.SOTTO, root, False)])
    assert listing.problems == ()
    return {record.name: record for record in listing.records}


def leftovers(root: Path) -> list[str]:
    """Return the paths in a store that are neither manifests nor blobs nor its lock."""
    return [
        str(Path(folder, name))
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
        if Path(folder, name).relative_to(root).parts[0] not in ("manifests", "blobs", "lock")
    ]


def name_at(registry: Registry, model: str = "m:latest") -> str:
    """Return the name of a model in a registry."""
    return f"{registry.host}/library/{model}"


def assert_complete(root: Path, registry: Registry, model: str = "m:latest") -> ModelRecord:
    """Check that a store has the same model as its registry and no leftovers, and return its record."""
    record = models_in(root)[name_at(registry, model)]
    assert record.runnable
    assert verify(record, lambda done, total: None, lambda: False).problems == ()
    manifest = registry.store.path(f"library/{model}").read_bytes()
    assert record.digest == hashlib.sha256(manifest).hexdigest()
    assert record.path.read_bytes() == manifest
    assert leftovers(root) == []
    for blob in (root / "blobs").iterdir():
        assert blob.read_bytes() == (registry.store.root / "blobs" / blob.name).read_bytes()
        assert blob.stat().st_mode & 0o777 == 0o644
    return record
