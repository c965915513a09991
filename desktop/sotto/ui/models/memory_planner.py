"""Memory plans of all models in the list, kept up to date as memory and the chosen contexts change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.runner.commands import Measure
from sotto.store.records import ModelRecord
from sotto.ui.models.model_notes import ModelNotes
from sotto.ui.session.session import Session
from sotto.ui.state.memory_estimate import (
    MachineMemory,
    MemorySample,
    Projection,
    longest_context,
    machine_memory,
    project,
)

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

# Changes within this time are planned together.
_DELAY_MS = 80
# Plans are renewed only when the memory of other programs has changed by about a fiftieth of the total.
_MEMORY_STEPS = 50


@dataclass(frozen=True, slots=True)
class _PlanRequest:
    """What is needed to plan a model.

    Attributes:
        digest: Digest of the model.
        measured: Its measured needs; None if it has not been measured yet.
        context: Chosen context length in tokens; None for as long as fits.
    """

    digest: str
    measured: Measured | None
    context: int | None


class MemoryPlanner(QObject):
    """Lets the engine measure each model once, and computes plans from that on a worker thread.

    Signals:
        planned: There are new plans.
    """

    planned = Signal()

    def __init__(self, session: Session, notes: ModelNotes, parent: QObject | None = None) -> None:
        """Plan the models of `session` with the contexts in `notes`."""
        super().__init__(parent)
        self._session, self._notes = session, notes
        self._tasks: AsyncTasks | None = None
        self._requested: set[str] = set()
        self._measured: dict[str, Measured] = {}
        self.plans: Mapping[str, Projection] = {}
        self._figures: MemoryFigures | None = None
        self._sample: MemorySample | None = None
        self.memory = MachineMemory()
        self._planned_for: tuple[int | None, ...] = ()
        # The model whose context is held, and that context in tokens.
        self._held: tuple[str, int] | None = None
        self._round = 0
        # The loaded model whose prediction was compared with what it holds, and that prediction in bytes.
        self._compared, self._predicted = "", 0
        self._plan_timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._plan_timer.timeout.connect(self._start)
        notes.contexts_changed.connect(self._plan_timer.start)
        session.library.changed.connect(self._measure)
        session.measured.connect(self._add_measurement)
        session.figures_changed.connect(self.set_figures)
        session.engine_lost.connect(self._forget_requests)
        session.became_ready.connect(self._measure_again)
        session.state_changed.connect(self._compare)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Start planning, with the models that are known already."""
        self._tasks = tasks
        self._figures = self._session.figures
        self._measure(self._session.library.models)
        self._plan_timer.start()

    def projection(self, record: ModelRecord) -> Projection:
        """Return the newest plan of a model."""
        return self.plans.get(record.digest) or project(None, self.memory)

    def preview(self, record: ModelRecord, context: int | None) -> Projection:
        """Return the plan of a model with a context of `context` tokens; None for as long as fits."""
        return project(self._measured.get(record.digest), self.memory, context)

    def measured(self, record: ModelRecord) -> Measured | None:
        """Return the measured needs of a model; None if not measured yet."""
        return self._measured.get(record.digest)

    @property
    def device(self) -> tuple[str, int]:
        """The device that computes, as the engine has told, and the bytes that a graphics processor can use."""
        known = next(iter(self._measured.values()), None)
        return (known.device, known.device_total) if known is not None else ("cpu", 0)

    def hold_context(self, record: ModelRecord) -> Projection:
        """Return the newest plan of a model, whose context no longer changes by itself until `release_context`."""
        projection = self.projection(record)
        if projection.plan is not None and (self._held is None or self._held[0] != record.digest):
            self._held = record.digest, projection.plan.context
        return projection

    def release_context(self) -> None:
        """Let contexts follow the free memory again, from the next plans on."""
        self._held = None

    def choose_context(self, record: ModelRecord, tokens: int | None) -> None:
        """Choose the context in tokens that a model is planned and loaded with; None for as long as fits."""
        self._notes.choose_context(record, tokens)
        self._set_plans({**self.plans, record.digest: self.preview(record, tokens)})

    def set_sample(self, sample: MemorySample | None) -> None:
        """Set the machine's memory; None if it could not be read."""
        self._sample = sample
        self._update_memory()

    @Slot(object)
    def set_figures(self, figures: MemoryFigures | None) -> None:
        """Set the memory that the engine holds."""
        self._figures = figures
        self._update_memory()

    def _update_memory(self) -> None:
        memory = machine_memory(self._sample, self._figures)
        if memory == self.memory:
            return
        self.memory = memory
        sample = memory.sample
        coarse = (
            (sample.total, memory.others * _MEMORY_STEPS // sample.total, sample.allowed)
            if sample and sample.known
            else ()
        )
        if coarse != self._planned_for:
            self._planned_for = coarse
            self._plan_timer.start()

    @Slot(object)
    def measure_anew(self, record: ModelRecord) -> None:
        """Measure a model again, because it is loaded with something else from now on."""
        self._requested.discard(record.digest)
        self._measure([record])

    @Slot(object)
    def _measure(self, records: Sequence[ModelRecord]) -> None:
        for record in records:
            if record.runnable and record.digest not in self._requested:
                self._requested.add(record.digest)
                self._session.host.send(Measure(record))
        self._plan_timer.start()

    @Slot(object)
    def _add_measurement(self, measured: Measured) -> None:
        self._measured[measured.digest] = measured
        self._compare()
        self._plan_timer.start()

    @Slot()
    def _measure_again(self) -> None:
        self._forget_requests()
        self._measure(self._session.library.models)

    @Slot()
    def _forget_requests(self) -> None:
        # An engine that has ended does not answer open requests.
        self._requested = set(self._measured)

    def predicted(self, record: ModelRecord) -> int:
        """Return the bytes that a model is predicted to hold, or was before it was loaded; 0 if unknown."""
        if record.digest == self._compared:
            return self._predicted
        measured = self._measured.get(record.digest)
        return measured.needs.weight_bytes if measured and measured.needs else 0

    @Slot()
    def _compare(self) -> None:
        """Improve later predictions by what the model that has just been loaded really holds."""
        state = self._session.state
        if state.record is None or not state.actual:
            self._compared = ""
        elif (
            self._tasks is not None
            and self._compared != state.record.digest
            and (predicted := self.predicted(state.record))
        ):
            self._predicted, self._compared = predicted, state.record.digest
            self._tasks.start(self._learn(self._tasks, state.record.architecture, predicted, state.actual))

    async def _learn(self, tasks: "AsyncTasks", architecture: str, predicted: int, actual: int) -> None:
        from sotto.engine.memory.estimates import learn

        if await tasks.call(learn, architecture, predicted, actual):
            # Measure models of this architecture again, because their estimates have improved.
            models = self._session.library.models
            self._requested -= {record.digest for record in models if record.architecture == architecture}
            self._measure(models)

    def _start(self) -> None:
        if self._tasks is not None:
            self._tasks.start(self._plan(self._tasks))

    def _context_for(self, record: ModelRecord) -> int | None:
        held = self._held[1] if self._held is not None and self._held[0] == record.digest else None
        return self._session.chosen_context(record) or held

    async def _plan(self, tasks: "AsyncTasks") -> None:
        memory = self.memory
        requests = [
            _PlanRequest(record.digest, self._measured.get(record.digest), self._context_for(record))
            for record in self._session.library.models
        ]
        self._round += 1
        started = self._round
        plans = await tasks.call(_compute_plans, requests, memory)
        if started == self._round:
            self._set_plans(plans)

    def _set_plans(self, plans: Mapping[str, Projection]) -> None:
        self.plans = plans
        shortened = {digest: _shortened_context(self._measured.get(digest), plan) for digest, plan in plans.items()}
        self._session.set_fitting_contexts(
            {digest: tokens for digest, tokens in shortened.items() if tokens is not None}
        )
        self.planned.emit()


def _shortened_context(measured: Measured | None, projection: Projection) -> int | None:
    """Return the context in tokens that fits into memory; None if the model's longest context fits, or is unknown."""
    if projection.plan is None or measured is None or measured.needs is None:
        return None
    return projection.plan.context if projection.plan.context < longest_context(measured.needs) else None


def _compute_plans(requests: Sequence[_PlanRequest], memory: MachineMemory) -> dict[str, Projection]:
    return {request.digest: project(request.measured, memory, request.context) for request in requests}
