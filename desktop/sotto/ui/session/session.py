"""What the window is about, apart from what is said: the model in use. Draws nothing itself.

A model that was in use before, or that programs ask, stays in memory beside the one in use where there is room, for as
long as `sotto.runner.residents` says.
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
from sotto.runner.residents import Admit, Rank, Refuse, Resident, Residents, Stage, Wish, same
from sotto.store.records import ModelRecord
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.engine_thread import EngineLost, EngineThread
from sotto.ui.session.model_library import ModelLibrary
from sotto.ui.state import wording
from sotto.ui.state.load_pace import LoadClock, LoadPace
from sotto.ui.state.model_state import ChatSettings, ModelState, Phase, Problem
from sotto.ui.state.names import home_path, model_name
from sotto.ui.toolkit.delayed_call import Later

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import Flows


@dataclass(eq=False, slots=True)
class _Asked:
    """A model that a person wants, while it is not there yet."""

    record: ModelRecord
    num_ctx: int | None = None
    visit: int = 0


class Session(QObject):
    """Turns what a person does into commands for the engine, and the engine's events into what there is to see.

    Signals:
        state_changed: The model in use stands elsewhere (`ModelState`).
        residents_changed: The models in memory may stand elsewhere.
        figures_changed: What loaded models use of memory (`MemoryFigures`, or None when nothing is loaded).
        became_ready: A model has been loaded.
        became_absent: No model is loaded, and none is on its way.
        measured: What a model needs in memory has been found out (`Measured`).
        spoke: The engine says something about a request.
        lost: The engine's thread has ended (`EngineLost`).
        told: Something to know: what it is about, and a sentence.
        problem: Something did not work (`Problem`).
    """

    state_changed = Signal(object)
    residents_changed = Signal()
    figures_changed = Signal(object)
    became_ready = Signal()
    became_absent = Signal()
    measured = Signal(object)
    spoke = Signal(object)
    lost = Signal(object)
    told = Signal(str, str)
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
            preferences: What holds for every chat and every load where nothing else is chosen.
            library: Models to choose from; without one, those of this machine.
            parent: Whose end is this session's, too.
        """
        super().__init__(parent)
        self.host = thread
        self.library = library or ModelLibrary(preferences)
        self.library.setParent(self)
        self.library.opened.connect(self.load)
        self.library.begun_with.connect(self._load_builtin)
        self.library.told.connect(self.told)
        self.library.problem.connect(self.problem)
        self.settings = ChatSettings()
        self._preferences = preferences
        preferences.changed.connect(self._take_preferences)
        self._take_preferences(preferences.values)
        self.state = ModelState()
        self._fitting: Mapping[str, int] = {}
        self._clock = LoadClock(self)
        self._clock.ticked.connect(self._show_pace)
        self._asked: _Asked | None = None
        self._talking: list[int] = []
        residents = Residents(time.monotonic, lambda record: preferences.values.is_pinned(record.digest))
        later = Later(lambda: self.keeper.tick(), self)
        self.keeper = Keeper(residents, lambda: self.host, later.tell, self._follow)
        self._retry: Callable[[], None] | None = None
        self.figures: MemoryFigures | None = None
        thread.happened.connect(self.receive)

    @property
    def loading(self) -> bool:
        """Whether a model is on its way."""
        return self.state.phase is Phase.LOADING

    @property
    def refusal(self) -> Problem | None:
        """Why nothing can be asked; None where something can, now or as soon as a model is loaded."""
        if unable := self.state.chat_refusal:
            return Problem("This model does not chat", unable)
        if self.state.loaded or self.loading or self.library.searching:
            return None
        return Problem("No model is loaded", "Choose a model first: your message is kept until then.")

    @property
    def resident(self) -> Resident | None:
        """The model in use as it lies in memory; None while it does not."""
        return self.keeper.residents.of(self.state.record) if self.state.record else None

    @property
    def seat(self) -> str:
        """Where the model in use is loaded; empty while it is not."""
        resident = self.resident
        return resident.seat if resident else ""

    def state_of(self, record: ModelRecord) -> ModelState:
        """Return how any model of the list stands."""
        if self.state.record is not None and same(self.state.record, record):
            return self.state
        return ModelState.of_resident(record, self.keeper.residents.of(record))

    @property
    def model_name(self) -> str:
        """What the model in use is called, for people."""
        return model_name(self.state.record.name) if self.state.record else "the model"

    # What a person does

    def begin(self, flows: "Flows", paths: Sequence[Path] = ()) -> None:
        """Look for models, then load what `paths` mean, or else the built-in model."""
        self.library.begin(flows, paths)

    def chosen_context(self, record: ModelRecord) -> int | None:
        """Return the tokens of context that a person chose, for this model or else for all; None where they did not."""
        return self._preferences.values.chosen_context(record.digest) or self.settings.num_ctx

    def context_for(self, record: ModelRecord) -> int | None:
        """Return the tokens of context to load a model with; None for as many as it was made for."""
        return self.chosen_context(record) or self._fitting.get(record.digest)

    def fit_contexts(self, tokens: Mapping[str, int]) -> None:
        """Load models that have too little memory for all of their context with so much of it, by their digests."""
        self._fitting = tokens

    def load(self, record: ModelRecord, num_ctx: int | None = None, *, anyway: bool = False) -> None:
        """Load a model in place of the one in use; if it cannot run, say why.

        Args:
            record: The model.
            num_ctx: Tokens of context; None as `context_for` says.
            anyway: Load it even where it is known not to fit.
        """
        name = model_name(record.name)
        if not record.present:
            where = f"It was in {home_path(record.path)}, which is on a disk that is not present now."
            self.problem.emit(Problem(f"{name} is not there", where))
            return
        if not record.runnable:
            self.problem.emit(Problem(f"{name} cannot run here", record.reason))
            return
        if self.state.record and same(self.state.record, record) and (self.state.loaded or self.loading):
            return
        self._load(record, num_ctx or self.context_for(record), anyway=anyway, as_it_is=num_ctx is None)

    def reload(self, num_ctx: int) -> None:
        """Load the model in use anew, with so many tokens of context."""
        if self.state.record is not None and self.state.loaded:
            self.keeper.residents.outdate(self.seat)
            self._load(self.state.record, num_ctx)

    def _load(self, record: ModelRecord, num_ctx: int | None, *, anyway: bool = False, as_it_is: bool = False) -> None:
        self._retry = lambda: self.load(record, num_ctx, anyway=anyway)
        before, asked = self._asked, _Asked(record, num_ctx)
        self._asked = asked
        self._clock.begin()
        self._set(ModelState(Phase.LOADING, record))
        if before is not None:
            self.keeper.leave(before.visit, stop=True)
        wish = Wish(record, num_ctx, None, Rank.CHAT, anyway, as_it_is)
        asked.visit = self.keeper.want(wish, partial(self._answered, asked))
        if self._asked is not asked:
            self.keeper.leave(asked.visit)

    def eject(self, record: ModelRecord | None = None) -> None:
        """Give a model's memory back: that of the one in use, or another one's."""
        resident = self.keeper.residents.of(record) if record else self.resident
        if resident is not None and resident.stage is Stage.READY:
            self.keeper.dismiss(resident.seat, at_once=True)

    def stop_load(self, record: ModelRecord | None = None) -> None:
        """Stop the load that is under way: that of the model in use, or another one's."""
        if record and not (self.state.record and same(self.state.record, record)):
            if (resident := self.keeper.residents.of(record)) is not None and resident.stage is Stage.LOADING:
                self.keeper.dismiss(resident.seat, at_once=True)
            return
        if not self.loading:
            return
        asked, self._asked = self._asked, None
        if asked is not None:
            self.keeper.leave(asked.visit, stop=True)
        elif seat := self.seat:
            self.keeper.dismiss(seat, at_once=True)
        self._follow()

    def generate(self, request: GenerateRequest) -> None:
        """Let the loaded model answer."""
        self.host.send(Generate(request, self.seat))

    def answering(self) -> None:
        """Take note that the model answers a person; it may answer several questions at a time."""
        self._talking.append(self.keeper.enter(self.seat))
        self.keeper.choose(self.seat)
        self._set(replace(self.state, phase=Phase.GENERATING))

    def answered(self) -> None:
        """Take note that it has, once for each time that it began to."""
        visit = self._talking.pop(0)
        if self.state.phase is Phase.GENERATING:
            self._set(replace(self.state, phase=Phase.GENERATING if self._talking else Phase.READY))
        # Whoever waits for the model to be left goes on now.
        self.keeper.leave(visit)

    def retry(self) -> None:
        """Try the load that failed last once more."""
        if self._retry is not None:
            self._retry()

    # What the engine says

    @Slot(object)
    def receive(self, event: object) -> None:
        """Take an event of the engine's thread."""
        if isinstance(event, LoadProgress):
            self._progress(event)
        elif isinstance(event, MemoryFigures):
            if self.state.loaded and not self.state.actual:
                held = event.held if len(event.models) > 1 else {}
                self._set(replace(self.state, actual=held.get(self.seat, event.active)))
            self._show_figures(event if event.weights or event.cache else None)
        elif isinstance(event, Loaded | Unloaded) or (isinstance(event, Failed) and not event.request_id):
            self._heard(event)
        elif isinstance(event, PrefillProgress | TextChunk | Finished | Failed | Counted):
            self.spoke.emit(event)
        elif isinstance(event, Measured):
            self.measured.emit(event)
        elif isinstance(event, EngineLost):
            self._lost(event)

    def _progress(self, event: LoadProgress) -> None:
        residents = self.keeper.residents
        if self._asked is None and self.resident is None and (other := residents.resident(event.seat)):
            # Where a person uses none, what is loaded for programs is shown.
            self._clock.begin()
            self._set(ModelState(Phase.LOADING, other.record))
        if self.loading and event.seat == self.seat:
            self._clock.update(event)
            self._set(replace(self.state, progress=event, pace=self._clock.pace))

    def _heard(self, event: Loaded | Unloaded | Failed) -> None:
        """Take the end of a load or unload."""
        record = self.state.record
        mine = self._asked is None and self.loading and event.seat == self.seat
        self.keeper.hear(event)
        if mine and record is not None and isinstance(event, Failed) and not event.shortage:
            self._fail(record, event)

    def _answered(self, asked: _Asked, told: Admit | Refuse) -> None:
        """Take what becomes of a model that a person wants."""
        if asked is not self._asked:
            return
        if isinstance(told, Admit):
            self.keeper.choose(told.resident.seat)
            self._asked = None
            self._become_ready(told.resident)
            context = told.resident.info.context_length if told.resident.info else 0
            if asked.num_ctx is not None and told.resident.info and context != asked.num_ctx:
                self.problem.emit(_other_context(asked.num_ctx, told.resident.info))
            if asked.visit:
                self.keeper.leave(asked.visit)
            return
        self._asked = None
        if told.failed is not None:
            self._fail(asked.record, told.failed)
        else:
            self._set(ModelState(Phase.FOUND, asked.record))
            self.became_absent.emit()

    def _become_ready(self, resident: Resident) -> None:
        self._set(ModelState(Phase.READY, resident.record, info=resident.info))
        self.became_ready.emit()
        info = resident.info
        if info is not None and info.doubts_template:
            self.problem.emit(_doubtful_template(info))

    def _fail(self, record: ModelRecord, failed: Failed) -> None:
        self._set(ModelState(Phase.FAILED, record, reason=failed.message))
        name = model_name(record.name)
        self.problem.emit(Problem(f"{name} could not be loaded", failed.message, failed.details, retry=True))
        self.became_absent.emit()

    def _follow(self) -> None:
        """Show how the model in use stands, whoever has changed that."""
        state, resident = self.state, self.resident
        if self._asked is None and state.record is not None:
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

    def _lost(self, event: EngineLost) -> None:
        record = self.state.record
        asked, self._asked = self._asked, None
        self._set(ModelState(Phase.FAILED, record, reason=event.message))
        self._show_figures(None)
        if asked is not None:
            self.keeper.leave(asked.visit)
        self.keeper.crashed(Failed("", event.message, bug=True, details=event.details))
        self.lost.emit(event)
        if record is not None:
            self._retry = lambda: self.load(record)
        self.problem.emit(Problem("The engine stopped", event.message, event.details, retry=record is not None))

    @Slot(object)
    def _take_preferences(self, values: Preferences) -> None:
        self.settings = replace(
            self.settings, num_ctx=values.num_ctx or None, system=values.system, options=values.options
        )

    @Slot(bool)
    def _load_builtin(self, others: bool) -> None:
        """Load the built-in model at the start, unless a person has opened or chosen another one."""
        if others or self.state.phase is not Phase.ABSENT:
            return
        builtin = next((record for record in self.library.models if record.builtin and record.runnable), None)
        if builtin is not None:
            self.load(builtin)
        else:
            self.became_absent.emit()

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
    """Return why answers of a model that was loaded may be no good."""
    title = "No question reaches this model" if info.has_chat_template else "This model has no chat template"
    return Problem(title, info.template_note)


def _other_context(asked: int, info: ModelInfo) -> Problem:
    """Return that a model was loaded with another context than was asked for."""
    wanted, loaded = wording.count(asked), wording.count(info.context_length)
    why = f"{wanted} tokens were asked for, and the engine has loaded {loaded}."
    return Problem("The context is not as long as asked for", f"{why} {info.context_note}".strip())
