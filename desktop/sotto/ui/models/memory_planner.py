"""How each model of the list would lie in memory, kept up to date as memory and choices change. Draws nothing."""

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
    from sotto.ui.toolkit.async_tasks import AsyncTasks

# What came together is planned together; a change of memory below such a share of it changes no verdict worth showing.
_CALM_MS = 80
_SHARES = 50


@dataclass(frozen=True, slots=True)
class _Question:
    """A model to plan, with what was chosen for it."""

    digest: str
    measured: Measured | None
    context: int | None


class MemoryPlanner(QObject):
    """Has models measured by the engine once, and plans them from that, off the window's thread.

    Signals:
        planned: Models may fit otherwise than before.
        memory_changed: There is another `MachineMemory`.
    """

    planned = Signal()
    memory_changed = Signal(object)

    def __init__(self, session: Session, book: ModelNotes, parent: QObject | None = None) -> None:
        """Plan the models of `session` with the contexts that `book` has."""
        super().__init__(parent)
        self._session, self._book = session, book
        self._flows: AsyncTasks | None = None
        self._asked: set[str] = set()
        self._measured: dict[str, Measured] = {}
        self._plans: Mapping[str, Projection] = {}
        self._figures: MemoryFigures | None = None
        self._sample: MemorySample | None = None
        self.memory = MachineMemory()
        self._planned_for: tuple[int | None, ...] = ()
        self._round = 0
        self._compared, self._predicted = "", 0
        self._soon = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._soon.timeout.connect(self._start)
        book.contexts_changed.connect(self._soon.start)
        session.library.changed.connect(self._measure)
        session.measured.connect(self._take)
        session.figures_changed.connect(self.show_figures)
        session.engine_lost.connect(self._lose)
        session.became_ready.connect(self._ask_again)
        session.state_changed.connect(self._compare)

    def begin(self, flows: "AsyncTasks") -> None:
        """Plan from now on; models may have been found before."""
        self._flows = flows
        self._figures = self._session.figures
        self._measure(self._session.library.models)
        self._soon.start()

    def projection(self, record: ModelRecord) -> Projection:
        """Return how a model would lie in memory, as far as that is known now."""
        return self._plans.get(record.digest) or project(None, self.memory)

    def preview(self, record: ModelRecord, context: int | None) -> Projection:
        """Return how it would with so much context."""
        return project(self._measured.get(record.digest), self.memory, context)

    def measured(self, record: ModelRecord) -> Measured | None:
        """Return what a model needs, if that is known."""
        return self._measured.get(record.digest)

    def choose_context(self, record: ModelRecord, tokens: int | None) -> None:
        """Plan, and later load, a model with so much context."""
        self._book.choose_context(record, tokens)
        self._take_plans({**self._plans, record.digest: self.preview(record, tokens)})

    def show_sample(self, taken: MemorySample | None) -> None:
        """Take what the machine has now; None when that could not be read."""
        self._sample = taken
        self._remember()

    @Slot(object)
    def show_figures(self, figures: MemoryFigures | None) -> None:
        """Take what the engine holds now."""
        self._figures = figures
        self._remember()

    def _remember(self) -> None:
        memory = machine_memory(self._sample, self._figures)
        if memory == self.memory:
            return
        self.memory = memory
        self.memory_changed.emit(memory)
        taken = memory.sample
        coarse = (taken.total, memory.others * _SHARES // taken.total, taken.allowed) if taken and taken.known else ()
        if coarse != self._planned_for:
            self._planned_for = coarse
            self._soon.start()

    @Slot(object)
    def _measure(self, records: Sequence[ModelRecord]) -> None:
        for record in records:
            if record.runnable and record.digest not in self._asked:
                self._asked.add(record.digest)
                self._session.host.send(Measure(record))
        self._soon.start()

    @Slot(object)
    def _take(self, measured: Measured) -> None:
        self._measured[measured.digest] = measured
        self._compare()
        self._soon.start()

    @Slot()
    def _ask_again(self) -> None:
        # An engine that ended in the meantime has not answered what it was asked.
        self._lose()
        self._measure(self._session.library.models)

    @Slot()
    def _lose(self) -> None:
        # What it was asked and has not answered, it will not answer.
        self._asked = set(self._measured)

    def predicted(self, record: ModelRecord) -> int:
        """Return the bytes that a model is to hold once it is loaded, or was when it was; 0 when that is not known."""
        if record.digest == self._compared:
            return self._predicted
        known = self._measured.get(record.digest)
        return known.needs.weight_bytes if known and known.needs else 0

    @Slot()
    def _compare(self) -> None:
        """Learn from what a model holds that has just been loaded."""
        state = self._session.state
        if state.record is None or not state.actual:
            self._compared = ""
        elif (
            self._flows is not None
            and self._compared != state.record.digest
            and (predicted := self.predicted(state.record))
        ):
            self._predicted, self._compared = predicted, state.record.digest
            self._flows.start(self._learn(self._flows, state.record.architecture, predicted, state.actual))

    async def _learn(self, flows: "AsyncTasks", architecture: str, predicted: int, actual: int) -> None:
        from sotto.engine.memory.estimates import learn

        if await flows.call(learn, architecture, predicted, actual):
            # The next estimate of its kind is a better one.
            kin = {record.digest for record in self._session.library.models if record.architecture == architecture}
            self._asked -= kin
            self._measure(self._session.library.models)

    def _start(self) -> None:
        if self._flows is not None:
            self._flows.start(self._plan(self._flows))

    async def _plan(self, flows: "AsyncTasks") -> None:
        memory = self.memory
        questions = [
            _Question(record.digest, self._measured.get(record.digest), self._session.chosen_context(record))
            for record in self._session.library.models
        ]
        self._round += 1
        this = self._round
        plans = await flows.call(_answers, questions, memory)
        if this == self._round:
            self._take_plans(plans)

    def _take_plans(self, plans: Mapping[str, Projection]) -> None:
        self._plans = plans
        shortened = {digest: _shortened(self._measured.get(digest), plan) for digest, plan in plans.items()}
        self._session.set_fitting_contexts(
            {digest: tokens for digest, tokens in shortened.items() if tokens is not None}
        )
        self.planned.emit()


def _shortened(known: Measured | None, planned: Projection) -> int | None:
    """Return the tokens of context that there is memory for; None where that is all that the model was made for."""
    if planned.plan is None or known is None or known.needs is None:
        return None
    return planned.plan.context if planned.plan.context < longest_context(known.needs) else None


def _answers(questions: Sequence[_Question], memory: MachineMemory) -> dict[str, Projection]:
    return {one.digest: project(one.measured, memory, one.context) for one in questions}
