"""The model in use: loads and ejects it, and turns the engine's events into the state that the window shows.

Models that were in use before, or that other programs use, stay in memory in addition to it if there is room, for as
long as `sotto.runner.residents` decides.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.engine.contract.events import (
    Counted,
    Failed,
    Finished,
    Loaded,
    LoadProgress,
    ModelInfo,
    PrefillProgress,
    TextChunk,
    Unloaded,
)
from sotto.engine.contract.requests import GenerateRequest
from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.runner.commands import Generate
from sotto.runner.keeper import Keeper
from sotto.runner.residents import Admit, ModelRequest, Rank, Refuse, Resident, Residents, Stage, is_same_model
from sotto.store.records import ModelRecord
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.engine_thread import EngineLost, EngineThread
from sotto.ui.session.last_model import first_model, loads_at_once, with_use
from sotto.ui.session.model_library import ModelLibrary
from sotto.ui.state import wording
from sotto.ui.state.load_pace import LoadClock, LoadPace
from sotto.ui.state.model_state import ChatSettings, ModelState, Phase, Problem, Remedy
from sotto.ui.state.names import home_path, join_sentences, model_name
from sotto.ui.timing.delayed_call import DelayedCall
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks


# Seconds within which further uses of a model by other programs are not saved.
_USE_RESOLUTION = 60.0


@dataclass(eq=False, slots=True)
class _PendingLoad:
    """A load that the user asked for and that has not ended yet."""

    record: ModelRecord
    num_ctx: int | None = None
    visit: int = 0


class Session(QObject):
    """Turns the user's actions into commands for the engine, and the engine's events into the state of the model.

    Signals:
        state_changed: The state of the model in use has changed (`ModelState`).
        residents_changed: The models in memory may have changed.
        figures_changed: The memory use of the loaded models (`MemoryFigures`, or None if none is loaded).
        became_ready: A model has been loaded.
        became_absent: No model is loaded or being loaded any more.
        measured: The memory needs of a model have been measured (`Measured`).
        request_event: An event of a request.
        engine_lost: The engine's thread has ended unexpectedly (`EngineLost`).
        notice: Something to tell the user: a title, and a sentence.
        problem: Something failed (`Problem`).

    Attributes:
        host: Runs the engine.
        library: The models to choose from.
        settings: How answers are generated in chats that do not choose otherwise.
        state: The state of the model in use.
        deferred: Whether the model in use was restored at the start and waits until the user writes something.
        keeper: Loads and unloads models as `sotto.runner.residents` decides.
        figures: The memory use of the loaded models; None if none is loaded.
    """

    state_changed = Signal(object)
    residents_changed = Signal()
    figures_changed = Signal(object)
    became_ready = Signal()
    became_absent = Signal()
    measured = Signal(object)
    request_event = Signal(object)
    engine_lost = Signal(object)
    notice = Signal(str, str)
    problem = Signal(object)

    def __init__(
        self,
        thread: EngineThread,
        preferences: PreferenceStore,
        library: ModelLibrary | None = None,
        parent: QObject | None = None,
    ) -> None:
        """Begin without a model.

        Args:
            thread: Runs the engine.
            preferences: The defaults for all chats and loads.
            library: The models to choose from; None for those of this machine.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self.host = thread
        self.library = library or ModelLibrary(preferences)
        self.library.setParent(self)
        self.library.opened.connect(self.load)
        self.library.first_searched.connect(self._restore_model)
        self.library.notice.connect(self.notice)
        self.library.problem.connect(self.problem)
        self.settings = ChatSettings()
        self._preferences = preferences
        preferences.changed.connect(self._take_preferences)
        self._take_preferences(preferences.values)
        self.state = ModelState()
        # Whether the model in use was restored at the start without being loaded, and whether a question waits for it.
        self.deferred = self._wanted = False
        self._fitting: Mapping[str, int] = {}
        self._clock = LoadClock(self)
        self._clock.ticked.connect(self._show_pace)
        self._pending: _PendingLoad | None = None
        self._answer_visits: list[int] = []
        residents = Residents(time.monotonic, lambda record: preferences.values.is_pinned(record.digest))
        later = DelayedCall(lambda: self.keeper.tick(), self)
        self.keeper = Keeper(residents, lambda: self.host, later.schedule, self._follow)
        self._retry: Callable[[], None] | None = None
        self.figures: MemoryFigures | None = None
        thread.event_received.connect(self.receive)

    @property
    def loading(self) -> bool:
        """Whether the model in use is being loaded."""
        return self.state.phase is Phase.LOADING

    @property
    def refusal(self) -> Problem | None:
        """Why no question can be asked; None if one can, now or as soon as a model is loaded."""
        if unable := self.state.chat_refusal:
            return Problem(tr("This model cannot chat"), unable)
        if self.state.loaded or self.loading or self.library.searching or self._loadable is not None:
            return None
        why = tr("Choose or download a model; your message is kept.")
        return Problem(tr("No model is loaded"), why, remedy=Remedy.CHOOSE_MODEL)

    @property
    def _loadable(self) -> ModelRecord | None:
        """The model that a question would have loaded: the one in use, or else the one to begin with."""
        record = self.state.record
        if record is not None and record.runnable and record.present:
            return record
        return first_model(self.library.models, self._preferences.values.model)

    @property
    def resident(self) -> Resident | None:
        """The model in use as it is in memory; None if it is not."""
        return self.keeper.residents.of(self.state.record) if self.state.record else None

    @property
    def seat(self) -> str:
        """The seat in which the model in use is loaded; empty if it is not."""
        resident = self.resident
        return resident.seat if resident else ""

    def state_of(self, record: ModelRecord) -> ModelState:
        """Return the state of any model of the list."""
        if self.state.record is not None and is_same_model(self.state.record, record):
            return self.state
        return ModelState.of_resident(record, self.keeper.residents.of(record))

    @property
    def model_name(self) -> str:
        """The name of the model in use, for the user."""
        return model_name(self.state.record.name) if self.state.record else tr("the model")

    # The user's actions

    def begin(self, tasks: "AsyncTasks", paths: Sequence[Path] = ()) -> None:
        """Search for models, then load the one at `paths`, or else the built-in model."""
        self.library.begin(tasks, paths)

    def chosen_context(self, record: ModelRecord) -> int | None:
        """Return the context length that the user chose for this model, or else for all; None if they chose none."""
        return self._preferences.values.chosen_context(record.digest) or self.settings.num_ctx

    def context_for(self, record: ModelRecord) -> int | None:
        """Return the context length with which to load a model, in tokens; None for the model's own."""
        return self.chosen_context(record) or self._fitting.get(record.digest)

    def set_fitting_contexts(self, tokens: Mapping[str, int]) -> None:
        """Set the context lengths, by digest, of models whose own context does not fit into memory."""
        self._fitting = tokens

    def load(self, record: ModelRecord, num_ctx: int | None = None, *, anyway: bool = False) -> None:
        """Load a model in place of the one in use; if it cannot run, report why.

        Args:
            record: The model.
            num_ctx: Context length in tokens; None to let `context_for` decide.
            anyway: Whether to load it even if it is known not to fit.
        """
        name = model_name(record.name)
        if not record.present:
            where = tr("It was in {folder}, on a disk that is not connected.").format(folder=home_path(record.path))
            self.problem.emit(Problem(tr("{model} is not there").format(model=name), where))
            return
        if not record.runnable:
            self.problem.emit(Problem(tr("{model} cannot run here").format(model=name), record.reason))
            return
        if self.state.record and is_same_model(self.state.record, record) and (self.state.loaded or self.loading):
            return
        self._preferences.change(model=str(record.path))
        self._load(record, num_ctx or self.context_for(record), anyway=anyway, as_it_is=num_ctx is None)

    def require(self) -> None:
        """Load the model that a question waits for, unless it is loaded, being loaded, or still being searched for."""
        if self.state.loaded or self.loading:
            return
        if self.library.searching:
            self._wanted = True
        elif (record := self._loadable) is not None:
            self._load(record, self.context_for(record), as_it_is=True)

    def anticipate(self) -> None:
        """Load a model that was restored at the start: the user has begun to write."""
        if self.deferred:
            self.require()

    def reload(self, num_ctx: int) -> None:
        """Load the model in use again, with a context of `num_ctx` tokens."""
        if self.state.record is not None and self.state.loaded:
            self.keeper.residents.outdate(self.seat)
            self._load(self.state.record, num_ctx)

    def _load(self, record: ModelRecord, num_ctx: int | None, *, anyway: bool = False, as_it_is: bool = False) -> None:
        self._retry = lambda: self._load(record, num_ctx, anyway=anyway, as_it_is=as_it_is)
        self.deferred = False
        before, pending = self._pending, _PendingLoad(record, num_ctx)
        self._pending = pending
        self._clock.begin()
        self._set(ModelState(Phase.LOADING, record))
        if before is not None:
            self.keeper.leave(before.visit, stop=True)
        request = ModelRequest(record, num_ctx, None, Rank.CHAT, anyway, as_it_is)
        pending.visit = self.keeper.want(request, partial(self._settle_load, pending))
        # The load may have been settled, or replaced, before `want` returned.
        if self._pending is not pending:
            self.keeper.leave(pending.visit)

    def eject(self, record: ModelRecord | None = None) -> None:
        """Unload a model; None for the one in use."""
        resident = self.keeper.residents.of(record) if record else self.resident
        if resident is not None and resident.stage is Stage.READY:
            self.keeper.dismiss(resident.seat, at_once=True)

    def stop_load(self, record: ModelRecord | None = None) -> None:
        """Stop the load of a model; None for the one in use."""
        if record and not (self.state.record and is_same_model(self.state.record, record)):
            if (resident := self.keeper.residents.of(record)) is not None and resident.stage is Stage.LOADING:
                self.keeper.dismiss(resident.seat, at_once=True)
            return
        if not self.loading:
            return
        pending, self._pending = self._pending, None
        if pending is not None:
            self.keeper.leave(pending.visit, stop=True)
        elif seat := self.seat:
            self.keeper.dismiss(seat, at_once=True)
        self._follow()

    def generate(self, request: GenerateRequest) -> None:
        """Send a request to the loaded model."""
        self.host.send(Generate(request, self.seat))

    def begin_answer(self) -> None:
        """Record that the model begins an answer for the user; several may be under way at a time."""
        self._answer_visits.append(self.keeper.enter(self.seat))
        self.keeper.choose(self.seat)
        self._set(replace(self.state, phase=Phase.GENERATING))

    def record_use(self, name: str, *, coarsely: bool = False) -> None:
        """Remember that the model of this name is used now; `coarsely` saves this at most once a minute."""
        used, now = self._preferences.values.last_used, time.time()
        if not coarsely or not 0 <= now - used.get(name, 0.0) < _USE_RESOLUTION:
            self._preferences.change(last_used=with_use(used, name, now))

    def end_answer(self) -> None:
        """Record that an answer has ended; called once for each `begin_answer`."""
        visit = self._answer_visits.pop(0)
        if self.state.phase is Phase.GENERATING:
            self._set(replace(self.state, phase=Phase.GENERATING if self._answer_visits else Phase.READY))
        # Last, because this may let another load go ahead at once.
        self.keeper.leave(visit)

    def retry(self) -> None:
        """Repeat the load that failed last."""
        if self._retry is not None:
            self._retry()

    # The engine's events

    @Slot(object)
    def receive(self, event: object) -> None:
        """Handle an event of the engine's thread."""
        if isinstance(event, LoadProgress):
            self._show_progress(event)
        elif isinstance(event, MemoryFigures):
            if self.state.loaded and not self.state.actual:
                held = event.held if len(event.models) > 1 else {}
                self._set(replace(self.state, actual=held.get(self.seat, event.active)))
            self._show_figures(event if event.weights or event.cache else None)
        elif isinstance(event, Loaded | Unloaded) or (isinstance(event, Failed) and not event.request_id):
            self._end_load(event)
        elif isinstance(event, PrefillProgress | TextChunk | Finished | Failed | Counted):
            self.request_event.emit(event)
        elif isinstance(event, Measured):
            self.measured.emit(event)
        elif isinstance(event, EngineLost):
            self._lose_engine(event)

    def _show_progress(self, event: LoadProgress) -> None:
        residents = self.keeper.residents
        if self._pending is None and self.resident is None and (other := residents.resident(event.seat)):
            # While the user has no model in use, show the one that is loaded for another program.
            self._clock.begin()
            self._set(ModelState(Phase.LOADING, other.record))
        if self.loading and event.seat == self.seat:
            self._clock.update(event)
            self._set(replace(self.state, progress=event, pace=self._clock.pace))

    def _end_load(self, event: Loaded | Unloaded | Failed) -> None:
        """Handle the end of a load or unload."""
        record = self.state.record
        mine = self._pending is None and self.loading and event.seat == self.seat
        self.keeper.receive(event)
        if mine and record is not None and isinstance(event, Failed) and not event.shortage:
            self._fail(record, event)

    def _settle_load(self, pending: _PendingLoad, decision: Admit | Refuse) -> None:
        """Handle the success or failure of a load that the user asked for."""
        if pending is not self._pending:
            return
        if isinstance(decision, Refuse):
            self._pending = None
            if decision.failed is not None:
                self._fail(pending.record, decision.failed)
            else:
                self._set(ModelState(Phase.FOUND, pending.record))
                self.became_absent.emit()
            return
        resident = decision.resident
        self.keeper.choose(resident.seat)
        # Not before `choose`, which calls `_follow`: that would report the model as ready a second time.
        self._pending = None
        self._become_ready(resident)
        info = resident.info
        if pending.num_ctx is not None and info is not None and info.context_length != pending.num_ctx:
            self.problem.emit(_other_context(pending.num_ctx, info))
        if pending.visit:
            self.keeper.leave(pending.visit)

    def _become_ready(self, resident: Resident) -> None:
        self._set(ModelState(Phase.READY, resident.record, info=resident.info))
        self.became_ready.emit()
        info = resident.info
        if info is not None and info.doubts_template:
            self.problem.emit(_doubtful_template(info))

    def _fail(self, record: ModelRecord, failed: Failed) -> None:
        self._set(ModelState(Phase.FAILED, record, reason=failed.message))
        title = tr("{name} could not be loaded").format(name=model_name(record.name))
        self.problem.emit(Problem(title, failed.message, failed.details, Remedy.RETRY))
        self.became_absent.emit()

    def _follow(self) -> None:
        """Update the state of the model in use after the models in memory have changed."""
        state, resident = self.state, self.resident
        if self._pending is None and state.record is not None:
            stage = resident.stage if resident else None
            if resident is not None and stage is Stage.READY and state.phase is Phase.LOADING:
                self._become_ready(resident)
            elif stage is Stage.LEAVING and state.phase is not Phase.UNLOADING:
                self._set(ModelState(Phase.UNLOADING, state.record))
            elif stage is None and (state.loaded or state.phase in (Phase.LOADING, Phase.UNLOADING)):
                self._set(ModelState(Phase.FOUND, state.record))
                self.became_absent.emit()
        if not self.keeper.residents.all:
            self._show_figures(None)
        self.residents_changed.emit()

    def _lose_engine(self, event: EngineLost) -> None:
        record = self.state.record
        pending, self._pending = self._pending, None
        self._set(ModelState(Phase.FAILED, record, reason=event.message))
        self._show_figures(None)
        if pending is not None:
            self.keeper.leave(pending.visit)
        self.keeper.crashed(Failed("", event.message, bug=True, details=event.details))
        self.engine_lost.emit(event)
        if record is not None:
            self._retry = lambda: self.load(record)
        self.problem.emit(
            Problem(tr("The engine stopped"), event.message, event.details, Remedy.RETRY if record else Remedy.NONE)
        )

    @Slot(object)
    def _take_preferences(self, values: Preferences) -> None:
        self.settings = replace(
            self.settings, num_ctx=values.num_ctx or None, system=values.system, options=values.options
        )

    @Slot(bool)
    def _restore_model(self, others_opened: bool) -> None:
        """Return to the last model at the start, unless the user has opened or chosen another one."""
        if others_opened or self.state.phase is not Phase.ABSENT:
            return
        record = self._loadable
        if record is None:
            self.became_absent.emit()
        elif self._wanted or loads_at_once(record):
            self._load(record, self.context_for(record), as_it_is=True)
        else:
            self.deferred = True
            self._set(ModelState(Phase.FOUND, record))

    def _show_figures(self, figures: MemoryFigures | None) -> None:
        self.figures = figures
        self.figures_changed.emit(figures)

    @Slot(object)
    def _show_pace(self, pace: LoadPace) -> None:
        if self.loading and pace != self.state.pace:
            self._set(replace(self.state, pace=pace))

    def _set(self, state: ModelState) -> None:
        if state.phase is not Phase.LOADING:
            self._clock.end()
        self.state = state
        self.state_changed.emit(state)


def _doubtful_template(info: ModelInfo) -> Problem:
    """Return the warning that the answers of a loaded model may be poor."""
    title = (
        tr("The chat template ignores questions") if info.has_chat_template else tr("This model has no chat template")
    )
    return Problem(title, info.template_note)


def _other_context(asked: int, info: ModelInfo) -> Problem:
    """Return the warning that a model was loaded with another context length than the user asked for."""
    wanted, loaded = wording.count(asked), wording.count(info.context_length)
    why = tr("{wanted} tokens were requested; the engine loaded {loaded}.").format(wanted=wanted, loaded=loaded)
    return Problem(tr("The context is shorter than requested"), join_sentences((why, info.context_note)))
