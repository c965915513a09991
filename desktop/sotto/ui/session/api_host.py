"""Shares the window's engine and models with the API server."""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.runner.commands import Ask, Cancel, Count
from sotto.runner.host import AnswerCallback, ModelCallback, ResidentStatus, Visit, not_loaded, resident_models
from sotto.runner.residents import ModelRequest
from sotto.store.records import ModelRecord
from sotto.ui.session.session import Session


class ApiHost(QObject):
    """Implements `sotto.runner.host.Host` on top of the window's session.

    A model is loaded in addition to the user's if there is enough memory, otherwise in place of it as soon as it is
    idle; no answer is interrupted. The context length is the one that the user chose.

    The methods may be called on any thread. The work is done on the window's thread, except that events come straight
    from the engine's thread.
    """

    _action_queued = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Share the models of `session`."""
        super().__init__(parent)
        self._session = session
        self._models = _present(session.library.models)
        self._resident_models: tuple[tuple[ResidentStatus, float], ...] = ()
        self._numbers = itertools.count(1)
        self._visits: dict[Visit, Visit] = {}
        self._action_queued.connect(self._do, Qt.ConnectionType.QueuedConnection)
        session.library.changed.connect(self._take_models)
        session.residents_changed.connect(self._follow)
        session.figures_changed.connect(self._follow)
        self._follow()

    # Any thread

    @property
    def slots(self) -> int:
        """The number of answers at a time: all of the engine's but one, which is kept for the user."""
        from sotto.runner.loop import SLOTS

        return SLOTS - 1

    @property
    def resident_models(self) -> Sequence[ResidentStatus]:
        """The models that are loaded now."""
        now = time.monotonic()
        return [replace(model, stays=max(0.0, expires - now)) for model, expires in self._resident_models]

    def models(self) -> Sequence[ModelRecord]:
        """Return the models of the library whose disks are present."""
        return self._models

    def want(self, request: ModelRequest, heard: ModelCallback) -> Visit:
        """Have a model loaded, and keep it until the visit is left."""
        visit = next(self._numbers)
        self._action_queued.emit(lambda: self._want(visit, request, heard))
        return visit

    def leave(self, visit: Visit) -> None:
        """End a visit, or withdraw the request with which it began."""
        self._action_queued.emit(lambda: self._session.keeper.leave(self._visits.pop(visit)))

    def dismiss(self, record: ModelRecord, heard: Callable[[], None]) -> None:
        """Unload a model as soon as it is idle."""
        self._action_queued.emit(lambda: self._session.keeper.dismiss_model(record, heard))

    def ask(self, command: Ask, heard: AnswerCallback) -> None:
        """Have a request answered by the model in a seat, if it is still loaded; counts do not wait for answers."""
        self._action_queued.emit(lambda: self._ask(command, heard))

    def cancel(self, request_id: str) -> None:
        """Cancel an answer; an unknown id is ignored."""
        self._action_queued.emit(lambda: self._session.host.send(Cancel(request_id)))

    # The window's thread

    @Slot(object)
    def _do(self, action: Callable[[], None]) -> None:
        action()

    @Slot(object)
    def _take_models(self, models: tuple[ModelRecord, ...]) -> None:
        self._models = _present(models)

    @Slot()
    def _follow(self) -> None:
        residents = self._session.keeper.residents
        loaded = resident_models(residents, self._session.figures)
        self._resident_models = tuple((model, time.monotonic() + model.stays) for model in loaded)

    def _want(self, visit: Visit, request: ModelRequest, heard: ModelCallback) -> None:
        adjusted = replace(request, num_ctx=self._session.context_for(request.record), as_it_is=True)
        self._visits[visit] = self._session.keeper.want(adjusted, heard)

    def _ask(self, command: Ask, heard: AnswerCallback) -> None:
        residents = self._session.keeper.residents
        resident = residents.resident(command.seat)
        if resident is None or not residents.is_ready(command.seat):
            heard(not_loaded(command))
        elif isinstance(command, Count):
            self._session.host.send(command, heard)
        else:
            self._session.record_use(resident.record.name, coarsely=True)
            self._session.host.send(replace(command, background=True), heard)


def _present(models: Sequence[ModelRecord]) -> tuple[ModelRecord, ...]:
    return tuple(model for model in models if model.present)
