"""Imports under way: each works on a thread of its own, and its news arrive on Qt's thread.

Tensors are computed and models are measured in child processes, so nothing here disturbs the engine or the window.
"""

import json
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.bounded_process import command
from sotto.errors import CancelledError, FaultError, SottoError
from sotto.ui.models.model_imports.import_job import STOPPED, ImportJob, JobState
from sotto.ui.session.session import Session
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from sotto.ui.timing.async_tasks import AsyncTasks

# Figures that change more often than this cannot be read.
_NEWS_SECONDS = 0.2
_POLL_SECONDS = 0.1
_CLOSE_SECONDS = 5.0
_DETAILS = 4000


@dataclass(slots=True)
class _Run:
    """The thread of an import.

    Attributes:
        stop: Set to stop it; what is finished is kept.
        discard: Whether what is finished is deleted once it has stopped.
        thread: The thread.
    """

    stop: threading.Event = field(default_factory=threading.Event)
    discard: bool = False
    thread: threading.Thread | None = None


class Imports(QObject):
    """The unfinished imports, in the order in which they were started.

    Signals:
        changed: The imports or their progress changed (a tuple of `ImportJob`).
        ended: An import has succeeded or failed (`ImportJob`).
    """

    changed = Signal(object)
    ended = Signal(object)
    _reported = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Create an empty list, which `begin` fills; `session` rescans the library when a model has arrived."""
        super().__init__(parent)
        self._session = session
        self._jobs: dict[str, ImportJob] = {}
        self._runs: dict[str, _Run] = {}
        self._closed = False
        self._reported.connect(self._take, Qt.ConnectionType.QueuedConnection)

    @property
    def all(self) -> tuple[ImportJob, ...]:
        """All unfinished imports."""
        return tuple(self._jobs.values())

    @property
    def names(self) -> frozenset[str]:
        """The names that are taken by imports, including those that are still being stopped."""
        return frozenset((*self._jobs, *self._runs))

    def begin(self, tasks: "AsyncTasks") -> None:
        """List the imports that an earlier run left unfinished; they stay paused until the user resumes them."""
        tasks.start(self._begin(tasks))

    async def _begin(self, tasks: "AsyncTasks") -> None:
        try:
            unfinished = await tasks.call(_unfinished)
        except (SottoError, OSError) as error:
            self._session.problem.emit(Problem(tr("Earlier imports could not be read"), str(error)))
            return
        for job in unfinished:
            self._jobs.setdefault(job.name, job)
        if unfinished:
            self.changed.emit(self.all)

    def start(self, job: ImportJob) -> None:
        """Start or resume an import; one of the same name that is under way goes on as it is."""
        if job.name in self._runs or self._closed:
            return
        self._jobs[job.name] = started = replace(job, state=JobState.PREPARING, note="")
        run = self._runs[job.name] = _Run()
        run.thread = threading.Thread(
            target=_work, args=(started, run, self._reported.emit), name=f"import-{job.name}", daemon=True
        )
        run.thread.start()
        self.changed.emit(self.all)

    def pause(self, name: str) -> None:
        """Stop an import and keep what is finished."""
        if name in self._runs:
            self._runs[name].stop.set()

    def resume(self, name: str) -> None:
        """Resume an import that is paused or has failed."""
        if name in self._jobs:
            self.start(self._jobs[name])

    def cancel(self, name: str) -> None:
        """Stop an import and delete what is finished; the source stays as it is."""
        job = self._jobs.pop(name, None)
        if job is None:
            return
        if (run := self._runs.get(name)) is not None:
            run.discard = True
            run.stop.set()
        else:
            threading.Thread(target=partial(_discard, job, self._reported.emit), daemon=True).start()
        self.changed.emit(self.all)

    def close(self) -> None:
        """Stop all imports, and keep what is finished."""
        self._closed = True
        for run in self._runs.values():
            run.stop.set()
        for run in self._runs.values():
            if run.thread is not None:
                run.thread.join(_CLOSE_SECONDS)

    @Slot(object)
    def _take(self, job: ImportJob) -> None:
        """Show news of a thread."""
        run = self._runs.get(job.name)
        if job.state in STOPPED or job.state is JobState.DONE:
            self._runs.pop(job.name, None)
        cancelled = run is not None and run.discard
        if job.state is JobState.DONE:
            self._jobs.pop(job.name, None)
            self._session.library.rescan()
        elif not cancelled or job.state is JobState.FAILED:
            self._jobs[job.name] = job
        if self._closed:
            return
        self.changed.emit(self.all)
        if job.state in (JobState.DONE, JobState.FAILED):
            self.ended.emit(job)


def _unfinished() -> tuple[ImportJob, ...]:
    from sotto.store.importing.unfinished import unfinished_imports
    from sotto.store.removal import own_store

    return tuple(
        ImportJob(found.name.short, found.source, found.quantization, adapter=found.adapter, state=JobState.PAUSED)
        for found in unfinished_imports(own_store())
    )


def _work(job: ImportJob, run: _Run, report: "Callable[[ImportJob], None]") -> None:
    """Carry out an import on a thread of its own; the last report says how it ended."""
    from sotto.engine.quantizing.importer import plan_import, run_import
    from sotto.store.importing.import_plan import ImportProgress

    told = 0.0

    def progress(news: ImportProgress) -> None:
        nonlocal job, told
        job = replace(job, state=JobState.WRITING, done=news.done, total=news.total)
        if time.monotonic() - told >= _NEWS_SECONDS:
            told = time.monotonic()
            report(job)

    try:
        plan = plan_import(job.source, job.quantization, job.adapter)
        job = replace(job, size=plan.size)
        run_import(plan, job.name, progress, run.stop.is_set)
    except CancelledError:
        job = replace(job, state=JobState.PAUSED)
        if run.discard:
            _discard(job, report)
        else:
            report(job)
        return
    except SottoError as error:
        report(replace(job, state=JobState.FAILED, note=error.message))
        return
    if job.measure and job.quantization:
        job = replace(job, state=JobState.MEASURING, done=0, total=0)
        report(job)
        try:
            job = replace(job, quality=_measure(job, run.stop))
        except CancelledError:
            # The model is here; only the figures are not.
            pass
        except SottoError as error:
            job = replace(job, note=error.message)
    report(replace(job, state=JobState.DONE))


def _discard(job: ImportJob, report: "Callable[[ImportJob], None]") -> None:
    from sotto.engine.quantizing.importer import discard_import

    try:
        discard_import(job.name)
    except SottoError as error:
        report(replace(job, state=JobState.FAILED, note=error.message))


def _measure(job: ImportJob, stop: threading.Event) -> dict[str, Any]:
    words = command("measure", job.name, "--against", str(job.source), "--json")
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors) as process:
            while process.poll() is None:
                if stop.wait(_POLL_SECONDS):
                    process.kill()
                    raise CancelledError("Measuring was stopped.")
        output.seek(0)
        errors.seek(0)
        said = errors.read().decode(errors="replace")[-_DETAILS:]
        if process.returncode:
            sentence = said.strip().splitlines()[-1].removeprefix("sotto: ") if said.strip() else ""
            raise FaultError(sentence or tr("The process that measures ended unexpectedly."), said)
        measured: dict[str, Any] = json.loads(output.read())
        return measured
