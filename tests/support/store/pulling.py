"""Downloads for tests: a queue whose news are kept, and waits for some of them."""

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

# Silence is not mistaken for a machine that has a lot to do.
HASTY = Patience(
    silence=2.0, answer=5.0, first_wait=0.02, longest_wait=0.1, tries=3, blob_tries=4, report_interval=0.02
)
RESTLESS = replace(HASTY, silence=0.5)
ENDED = frozenset({PullState.DONE, PullState.FAILED, PullState.PAUSED})


class Heard:
    """The news of a queue."""

    def __init__(self) -> None:
        self.news: list[PullProgress] = []
        self._changed = Condition()

    def tell(self, progress: PullProgress) -> None:
        """Keep some news."""
        with self._changed:
            self.news.append(progress)
            self._changed.notify_all()

    def until(self, wanted: Callable[[PullProgress], bool], since: int = 0, timeout: float = 20.0) -> PullProgress:
        """Wait for news of a kind, among those from the number `since` on."""

        def found() -> PullProgress | None:
            return next((progress for progress in self.news[since:] if wanted(progress)), None)

        with self._changed:
            if progress := self._changed.wait_for(found, timeout):
                return progress
        raise AssertionError(f"not heard within {timeout} s; heard {self.news[-3:]}")

    def end(self, since: int = 0, timeout: float = 20.0) -> PullProgress:
        """Wait until a download ends, is paused or fails."""
        return self.until(lambda progress: progress.state in ENDED, since, timeout)

    def states(self) -> list[PullState]:
        """Return the states in their order, each run of one once."""
        states = [progress.state for progress in self.news]
        return [state for before, state in zip([None, *states], states, strict=False) if state is not before]

    def check(self) -> None:
        """Check what holds for the news of any one download: bytes that never fall, no note where nothing is wrong."""
        for before, now in zip(self.news, self.news[1:], strict=False):
            assert now != before or now.state is PullState.WAITING
            if before.total == now.total and before.name == now.name:
                assert now.done >= before.done, (before, now)
        for progress in self.news:
            assert progress.total is None or 0 <= progress.done <= progress.total, progress
            noted = progress.state in (PullState.STALLED, PullState.RETRYING, PullState.FAILED)
            assert bool(progress.note) == noted, progress
            if progress.state is not PullState.DOWNLOADING:
                assert progress.speed is None, progress
                assert progress.seconds_left is None, progress


@contextmanager
def pulling(root: Path, **options: Any) -> Iterator[tuple[PullQueue, Heard]]:
    """Give a queue for a store, and its news; close it afterwards, which must take no longer than a second."""
    heard = Heard()
    queue = PullQueue(root, heard.tell, **{"insecure": True, "patience": HASTY} | options)
    try:
        yield queue, heard
    finally:
        began = time.monotonic()
        queue.close()
        assert time.monotonic() - began < 1
    heard.check()


def pulled(root: Path, name: str, **options: Any) -> Heard:
    """Download a model, whatever comes of it, and return the news."""
    with pulling(root, **options) as (queue, heard):
        queue.add(name)
        heard.end()
    return heard


def found(root: Path) -> dict[str, ModelRecord]:
    """Return the models of a store by name; nothing in it may be wrong."""
    listing = discover([Root(Source.SOTTO, root, False)])
    assert listing.problems == ()
    return {record.name: record for record in listing.records}


def leftovers(root: Path) -> list[str]:
    """Return what lies in a store that is neither a manifest nor a blob."""
    return [
        str(Path(folder, name))
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
        if Path(folder, name).relative_to(root).parts[0] not in ("manifests", "blobs")
    ]


def name_at(registry: Registry, model: str = "m:latest") -> str:
    """Return what one writes for a model of a registry."""
    return f"{registry.host}/library/{model}"


def assert_whole(root: Path, registry: Registry, model: str = "m:latest") -> ModelRecord:
    """Check that a store has a model exactly as its registry has it, and nothing that is half done."""
    record = found(root)[name_at(registry, model)]
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
