"""The engine and the model of the window, for those who ask by the API."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.engine.memory_figures import MemoryFigures
from sotto.engine.types import EmbedRequest, Failed, GenerateRequest, Loaded, Unloaded
from sotto.runner.host import HeardAnswer, HeardLoad, Standing, not_loaded, same
from sotto.store.records import ModelRecord
from sotto.ui.session import Session
from sotto.ui.states import ModelState, Phase

_ELSEWHERE = (Phase.LOADING, Phase.GENERATING, Phase.UNLOADING)


@dataclass(frozen=True, slots=True)
class _Wish:
    """A load that somebody waits for; an unload where there is no record."""

    heard: HeardLoad
    record: ModelRecord | None = None


class ApiHost(QObject):
    """Implements `sotto.runner.host.Host` over the window's session.

    The window shows what is loaded for others as it shows everything. Nobody is interrupted: what a person has
    answered comes to its end first, and a model that a person loaded or talks with stays until somebody needs another.
    The context is as the person chose it.

    Others call on their own thread; what they ask for is done on the window's, and answers come to them straight from
    the engine's.
    """

    _asked = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Share what `session` has."""
        super().__init__(parent)
        self._session = session
        self._models = _there(session.models)
        self._standing = Standing()
        self._lent: ModelRecord | None = None
        self._wishes: deque[_Wish] = deque()
        self._under_way: _Wish | None = None
        self._asked.connect(self._do, Qt.ConnectionType.QueuedConnection)
        session.models_changed.connect(self._take_models)
        session.state_changed.connect(self._follow)
        session.figures_changed.connect(self._take_figures)
        self._follow(session.state)

    # Any thread

    @property
    def keep_alive(self) -> float | None:
        """For as long as it may: people unload models themselves."""
        return None

    @property
    def slots(self) -> int:
        """All but one, which is the person's."""
        from sotto.runner.loop import SLOTS

        return SLOTS - 1

    @property
    def standing(self) -> Standing:
        """The model that is loaded now."""
        return self._standing

    def models(self) -> Sequence[ModelRecord]:
        """Return the models of the list."""
        return self._models

    def serves(self, record: ModelRecord, num_ctx: int | None) -> bool:
        """Tell whether a model is loaded."""
        standing = self._standing
        return standing.record is not None and same(standing.record, record)

    def load(self, record: ModelRecord, num_ctx: int | None, heard: HeardLoad) -> None:
        """Load a model in place of what is loaded, once nobody else is at that."""
        self._asked.emit(lambda: self._wish(_Wish(heard, record)))

    def unload(self, heard: HeardLoad) -> None:
        """Give the model's memory back, once nobody else is at it."""
        self._asked.emit(lambda: self._wish(_Wish(heard)))

    def generate(self, record: ModelRecord, request: GenerateRequest, heard: HeardAnswer) -> None:
        """Let a model answer, if it is still loaded."""
        self._asked.emit(lambda: self._generate(record, request, heard))

    def embed(self, record: ModelRecord, request: EmbedRequest, heard: HeardAnswer) -> None:
        """Let a model make vectors of texts, if it is still loaded."""
        self._asked.emit(lambda: self._embed(record, request, heard))

    def cancel(self, request_id: str) -> None:
        """End an answer as cancelled; an id that is not known is ignored."""
        self._asked.emit(lambda: self._session.host.cancel(request_id))

    # The window's thread

    @Slot(object)
    def _do(self, action: Callable[[], None]) -> None:
        action()

    @Slot(object)
    def _take_models(self, models: tuple[ModelRecord, ...]) -> None:
        self._models = _there(models)

    @Slot(object)
    def _take_figures(self, figures: MemoryFigures | None) -> None:
        self._standing = replace(self._standing, figures=figures)

    @Slot(object)
    def _follow(self, state: ModelState) -> None:
        if self._lent and (
            state.record is None or not same(state.record, self._lent) or state.phase is Phase.GENERATING
        ):
            self._lent = None  # a person has taken to it, or to another one
        if state.loaded:
            lent = self._lent is not None
            self._standing = Standing(state.record, state.info, self._standing.figures, lent=lent)
        else:
            self._standing = Standing()
        self._end(state)
        if self._wishes:
            # Later: whoever else follows the session is told of this state first, and a person goes first.
            self._asked.emit(self._next)

    def _end(self, state: ModelState) -> None:
        """Tell whoever has waited for the wish that is under way, if it has come to its end."""
        wish = self._under_way
        if wish is None:
            return
        if wish.record is None:
            ended = not state.loaded and state.phase is not Phase.UNLOADING
            event: Loaded | Unloaded | Failed = Unloaded()
        elif state.record is None or not same(state.record, wish.record):
            ended, event = True, Unloaded()
        else:
            ended = state.phase is not Phase.LOADING
            event = Failed("", state.reason) if state.phase is Phase.FAILED else Unloaded()
            if state.info is not None:
                event = Loaded(state.info)
        if ended:
            self._under_way = None
            wish.heard(event)

    def _wish(self, wish: _Wish) -> None:
        self._wishes.append(wish)
        self._next()

    def _next(self) -> None:
        """Do what is wished for first, if nobody is at something else."""
        state = self._session.state
        if not self._wishes or self._under_way or state.phase in _ELSEWHERE:
            return
        wish = self._under_way = self._wishes.popleft()
        if wish.record is None:
            self._session.eject()
        elif not (state.loaded and state.record and same(state.record, wish.record)):
            self._lent = wish.record
            self._session.load(wish.record)
        if self._session.state is state:  # it is as it was wished to be
            self._follow(state)

    def _generate(self, record: ModelRecord, request: GenerateRequest, heard: HeardAnswer) -> None:
        # A load that is asked for after this ends the request, so it never goes to another model.
        if self._session.state.loaded and self.serves(record, None):
            self._session.host.generate(request, heard)
        else:
            heard(not_loaded(request))

    def _embed(self, record: ModelRecord, request: EmbedRequest, heard: HeardAnswer) -> None:
        if self._session.state.loaded and self.serves(record, None):
            self._session.host.embed(request, heard)
        else:
            heard(not_loaded(request))


def _there(models: Sequence[ModelRecord]) -> tuple[ModelRecord, ...]:
    """Return the models whose disk is not away."""
    return tuple(model for model in models if model.present)
