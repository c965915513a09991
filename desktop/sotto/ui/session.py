"""What the window is about: the models found, the one in use, and the conversation. Draws nothing itself."""

import itertools
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.chats.conversation import Conversation, Message
from sotto.engine import types as engine
from sotto.engine.types import (
    DoneReason,
    Failed,
    Finished,
    GenerateRequest,
    Loaded,
    LoadProgress,
    MemoryFigures,
    Overflow,
    PrefillProgress,
    SamplingOptions,
    TextChunk,
    Unloaded,
)
from sotto.errors import SottoError
from sotto.store.records import ModelRecord
from sotto.ui import words
from sotto.ui.drops import Dropped, described
from sotto.ui.engine_thread import EngineLost, EngineThread
from sotto.ui.model_list import ModelList, Models, StoreModels, same
from sotto.ui.states import ChatSettings, ModelState, Phase, Problem

if TYPE_CHECKING:
    from sotto.ui.flows import Flows

_GREETING = "Hello"
_GREETING_TOKENS = 64


@dataclass(frozen=True, slots=True)
class _Asked:
    """A load or an unload that the engine has not answered yet; an unload has no record."""

    record: ModelRecord | None


class Session(QObject):
    """Turns what a person does into commands for the engine, and the engine's events into what there is to see.

    Signals:
        models_changed: The tuple of records is another one.
        state_changed: The model in use stands elsewhere (`ModelState`).
        figures_changed: What the model uses of memory (`MemoryFigures`, or None when nothing is loaded).
        greeted: The built-in model has said this much of its greeting.
        question_added: A question was taken into the conversation; its text.
        answer_awaited: An answer is on its way; the model's name, and what it waits for.
        prefilled: How much of the prompt was read.
        answer_grew: More of the answer.
        answer_ended: The answer is complete; its line of figures.
        retracted: The question and its answer could not be had and are taken out again; the question's text.
        cleared: The conversation is a new one.
        problem: Something did not work (`Problem`).
    """

    models_changed = Signal(object)
    state_changed = Signal(object)
    figures_changed = Signal(object)
    greeted = Signal(str)
    question_added = Signal(str)
    answer_awaited = Signal(str, str)
    prefilled = Signal(object)
    answer_grew = Signal(str)
    answer_ended = Signal(str)
    retracted = Signal(str)
    cleared = Signal()
    problem = Signal(object)

    def __init__(self, thread: EngineThread, models: Models | None = None, parent: QObject | None = None) -> None:
        """Talk to the engine on `thread`."""
        super().__init__(parent)
        self.host = thread
        self.settings = ChatSettings()
        self.state = ModelState()
        self.conversation = Conversation()
        self.searching = True
        self._store: Models = models or StoreModels()
        self._list = ModelList()
        self._flows: Flows | None = None
        self._before_flows: list[Callable[[], None]] = []
        self._numbers = itertools.count(1)
        self._asked: deque[_Asked] = deque()
        self._request = ""
        self._partial: list[str] = []
        self._greeting_request = ""
        self._greeting = ""
        self._queued = False
        self._retry: Callable[[], None] | None = None
        thread.happened.connect(self.receive)

    @property
    def models(self) -> tuple[ModelRecord, ...]:
        """The models to choose from."""
        return self._list.records

    # What a person does

    def begin(self, flows: "Flows", paths: Sequence[Path] = ()) -> None:
        """Look for models, then load what `paths` mean, or else the built-in model."""
        self._flows = flows
        flows.start(self._begin(tuple(paths)))

    def rescan(self) -> None:
        """Look for models again."""
        if self._flows is not None and not self.searching:
            self._flows.start(self._search())

    def open(self, what: Dropped) -> None:
        """Load the first model among files and folders, and say why others are not loaded."""
        if self._flows is None:
            self._before_flows.append(lambda: self.open(what))
        else:
            self._flows.start(self._open(what))

    def load(self, record: ModelRecord) -> None:
        """Load a model in place of the one in use; if it cannot run, say why."""
        name = words.model_name(record.name)
        if not record.runnable:
            self.problem.emit(Problem(f"{name} cannot run here", record.reason))
            return
        if self.state.record and same(self.state.record, record) and (self.state.loaded or self._loading):
            return
        self._retry = lambda: self.load(record)
        self._asked.append(_Asked(record))
        self._set(ModelState(Phase.LOADING, record))
        self.host.load(record, self.settings.num_ctx)

    def eject(self) -> None:
        """Give the model's memory back."""
        if self.state.loaded:
            self._asked.append(_Asked(None))
            self._set(ModelState(Phase.UNLOADING, self.state.record))
            self.host.unload()

    def send(self, text: str) -> bool:
        """Ask the model, now or as soon as it is loaded; return False if the text stays a draft."""
        if self._request or self._queued or not text.strip():
            return False
        if self._loading or self.searching:
            self._queued = True
            self._take(text)
            self.answer_awaited.emit(self._model_name, "Waiting for the model…")
            return True
        if not self.state.loaded:
            self.problem.emit(
                Problem("No model is loaded", "Double-click a model in the list: your message is kept until then.")
            )
            return False
        self._take(text)
        self.answer_awaited.emit(self._model_name, "Reading prompt…")
        self._generate()
        return True

    def stop(self) -> None:
        """Stop the load or the answer that is under way."""
        if self._request:
            self.host.cancel(self._request)
        elif self._loading:
            self.host.cancel_load()

    def retry(self) -> None:
        """Try the load that failed last once more."""
        if self._retry is not None:
            self._retry()

    def new_chat(self) -> None:
        """Begin an empty conversation; an answer under way is stopped."""
        if self._request:
            self.host.cancel(self._request)
            self._end_request()
        self._queued = False
        self.conversation = Conversation()
        self.cleared.emit()

    # What the engine says

    @Slot(object)
    def receive(self, event: object) -> None:
        """Take an event of the engine's thread."""
        if isinstance(event, LoadProgress):
            if self._loading and len(self._asked) == 1:
                self._set(replace(self.state, progress=event))
        elif isinstance(event, MemoryFigures):
            self.figures_changed.emit(event if event.weights or event.cache else None)
        elif isinstance(event, Loaded | Unloaded) or (isinstance(event, Failed) and not event.request_id):
            self._answered(event)
        elif isinstance(event, PrefillProgress | TextChunk | Finished | Failed):
            self._answer(event)
        elif isinstance(event, EngineLost):
            self._lost(event)

    def _answered(self, event: Loaded | Unloaded | Failed) -> None:
        """Take the end of a load or unload; what was asked later decides how the model stands."""
        asked = self._asked.popleft() if self._asked else _Asked(None)
        if self._asked:
            return
        if isinstance(event, Loaded):
            self._set(ModelState(Phase.READY, asked.record, info=event.info))
            self._start_queued()
            return
        self.figures_changed.emit(None)
        record = asked.record or self.state.record
        if isinstance(event, Failed):
            self._set(ModelState(Phase.FAILED, record, reason=event.message))
            name = words.model_name(record.name) if record else "The model"
            self.problem.emit(Problem(f"{name} could not be loaded", event.message, event.details, retry=True))
        else:
            self._set(ModelState(Phase.FOUND if record else Phase.ABSENT, record))
        self._give_back()

    def _answer(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        if self._greeting_request and event.request_id == self._greeting_request:
            self._greet(event)
        elif event.request_id != self._request or not self._request:
            return
        elif isinstance(event, PrefillProgress):
            self.prefilled.emit(event)
        elif isinstance(event, TextChunk):
            self._partial.append(event.text)
            self.answer_grew.emit(event.text)
        elif isinstance(event, Finished):
            self._finish(event)
        else:
            self._fail(event)

    def _finish(self, event: Finished) -> None:
        said = "".join(self._partial)
        if len(event.text) > len(said) and event.text.startswith(said):
            self.answer_grew.emit(event.text[len(said) :])
        if event.text:
            self._keep(event.text)
        self.answer_ended.emit(words.answer_line(event))
        self._end_request()

    def _fail(self, event: Failed) -> None:
        said = "".join(self._partial)
        self._end_request()
        if said:
            self._keep(said)
            self.answer_ended.emit("Broke off")
        else:
            self._retract()
        self.problem.emit(Problem("No answer", event.message, event.details))

    def _lost(self, event: EngineLost) -> None:
        self._asked.clear()
        record = self.state.record
        waiting = self._request
        self._greeting_request = ""
        self._set(ModelState(Phase.FAILED, record, reason=event.message))
        self.figures_changed.emit(None)
        if waiting:
            self._fail(Failed(waiting, event.message, bug=True, details=event.details))
        else:
            self._give_back()
        if record is not None:
            self._retry = lambda: self.load(record)
        self.problem.emit(Problem("The engine stopped", event.message, event.details, retry=record is not None))

    # Conversation

    def _take(self, text: str) -> None:
        self.conversation = self.conversation.with_message(Message("user", text))
        self.question_added.emit(text)

    def _keep(self, text: str) -> None:
        answer = Message("assistant", text, self.state.record.name if self.state.record else "")
        self.conversation = self.conversation.with_message(answer)

    def _retract(self) -> None:
        text = self.conversation.messages[-1].content
        self.conversation = self.conversation.without_last()
        self.retracted.emit(text)

    def _give_back(self) -> None:
        """Hand a question that waits for a model back to its writer."""
        if self._queued:
            self._queued = False
            self._retract()

    def _start_queued(self) -> None:
        if self._queued:
            self._queued = False
            self._generate()
        elif self.state.record is not None and self.state.record.builtin and not self.conversation.messages:
            self._ask_greeting()

    def _generate(self) -> None:
        if self._greeting_request:
            self.host.cancel(self._greeting_request)
            self._greeting_request = ""
        self._request = f"answer {next(self._numbers)}"
        self._partial = []
        turns = tuple(engine.Message(turn.role, turn.content) for turn in self.conversation.to_answer())
        self.host.generate(
            GenerateRequest(
                self._request,
                messages=turns,
                sampling=self.settings.sampling,
                num_predict=self.settings.num_predict,
                ignore_eos=self.settings.ignore_eos,
                overflow=Overflow.SHIFT,
            )
        )
        self._set(replace(self.state, phase=Phase.GENERATING))

    def _end_request(self) -> None:
        self._request = ""
        self._partial = []
        if self.state.phase is Phase.GENERATING:
            self._set(replace(self.state, phase=Phase.READY))

    def _ask_greeting(self) -> None:
        """Let the built-in model say hello; it costs a moment, and a question goes before it."""
        self._greeting_request, self._greeting = f"greeting {next(self._numbers)}", ""
        self.host.generate(
            GenerateRequest(
                self._greeting_request,
                messages=(engine.Message("user", _GREETING),),
                sampling=SamplingOptions(temperature=0.0),
                num_predict=_GREETING_TOKENS,
            )
        )

    def _greet(self, event: PrefillProgress | TextChunk | Finished | Failed) -> None:
        if isinstance(event, TextChunk):
            self._greeting += event.text
            self.greeted.emit(self._greeting)
        elif isinstance(event, Finished | Failed):
            self._greeting_request = ""
            if isinstance(event, Finished) and event.done_reason is DoneReason.STOP:
                self.greeted.emit(event.text)

    # Flows

    async def _begin(self, paths: tuple[Path, ...]) -> None:
        await self._search()
        if paths:
            await self._open(Dropped(paths, ()))
        waiting, self._before_flows = self._before_flows, []
        for later in waiting:
            later()
        if paths or waiting or self.state.phase is not Phase.ABSENT:
            return
        builtin = next((record for record in self.models if record.builtin and record.runnable), None)
        if builtin is not None:
            self.load(builtin)
        else:
            self._give_back()

    async def _search(self) -> None:
        assert self._flows is not None
        self.searching = True
        try:
            listing = await self._flows.call(self._store.find)
        except Exception as error:
            # The window stays of use without the list: models can still be opened and dropped.
            details = "".join(traceback.format_exception(error))
            self.problem.emit(Problem("The models could not be listed", f"{type(error).__name__}: {error}", details))
            return
        finally:
            self.searching = False
        self._list.set_found(listing.records)
        self.models_changed.emit(self.models)

    async def _open(self, what: Dropped) -> None:
        assert self._flows is not None
        good: list[ModelRecord] = []
        problems = [
            Problem("Not on this machine", f"{address} is elsewhere: download the model first, then drop its folder.")
            for address in what.elsewhere
        ]
        for path in what.paths:
            try:
                record = await self._flows.call(self._store.open, path)
            except SottoError as error:
                problems.append(Problem(f"{described([path])} could not be loaded", error.message))
                continue
            if not any(same(record, other) for other in good):
                good.append(record)
        if good:
            record, *others = good
            known = self._list.known(record)
            if known is None:
                self._list.add_opened(record)
                self.models_changed.emit(self.models)
            self.load(known or record)
            if others:
                names = words.listed([words.model_name(other.name) for other in others])
                why = f"{names} waits in the list: only one model can be loaded at a time."
                problems.append(Problem("Only one model was loaded", why))
                for other in others:
                    self._list.add_opened(other)
                self.models_changed.emit(self.models)
        if len(problems) > 1:
            self.problem.emit(Problem("Not everything was loaded", " ".join(problem.message for problem in problems)))
        elif problems:
            self.problem.emit(problems[0])

    @property
    def _loading(self) -> bool:
        return self.state.phase is Phase.LOADING

    @property
    def _model_name(self) -> str:
        return words.model_name(self.state.record.name) if self.state.record else "the model"

    def _set(self, state: ModelState) -> None:
        self.state = state
        self.state_changed.emit(state)
