"""The engines and models of the window, for those who ask by the API."""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sotto.runner.commands import Ask, Cancel, Count
from sotto.runner.host import HeardAnswer, HeardWish, Standing, Visit, not_loaded, standing
from sotto.runner.residents import Wish
from sotto.store.records import ModelRecord
from sotto.ui.session.session import Session


class ApiHost(QObject):
    """Implements `sotto.runner.host.Host` over the window's session.

    Models are loaded beside the one that a person uses where memory has room, and in its place where it has not, once
    that is idle; nobody is interrupted. The context is as the person chose it.

    Others call on their own thread; what they ask for is done on the window's, and answers come to them straight from
    the engine's.
    """

    _asked = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Share what `session` has."""
        super().__init__(parent)
        self._session = session
        self._models = _there(session.library.models)
        self._standing: tuple[tuple[Standing, float], ...] = ()
        self._numbers = itertools.count(1)
        self._visits: dict[Visit, Visit] = {}
        self._asked.connect(self._do, Qt.ConnectionType.QueuedConnection)
        session.library.changed.connect(self._take_models)
        session.residents_changed.connect(self._follow)
        session.figures_changed.connect(self._follow)
        self._follow()

    # Any thread

    @property
    def slots(self) -> int:
        """All but one, which is the person's."""
        from sotto.runner.loop import SLOTS

        return SLOTS - 1

    @property
    def standing(self) -> Sequence[Standing]:
        """The models that are loaded now."""
        now = time.monotonic()
        return [replace(one, stays=max(0.0, expires - now)) for one, expires in self._standing]

    def models(self) -> Sequence[ModelRecord]:
        """Return the models of the list."""
        return self._models

    def want(self, wish: Wish, heard: HeardWish) -> Visit:
        """Have a model loaded, and keep it until the visit is left."""
        visit = next(self._numbers)
        self._asked.emit(lambda: self._want(visit, wish, heard))
        return visit

    def leave(self, visit: Visit) -> None:
        """End a visit, or take the wish back that it began with."""
        self._asked.emit(lambda: self._session.keeper.leave(self._visits.pop(visit)))

    def dismiss(self, record: ModelRecord, heard: Callable[[], None]) -> None:
        """Unload a model as soon as nobody asks it anything."""
        self._asked.emit(lambda: self._session.keeper.dismiss_model(record, heard))

    def ask(self, command: Ask, heard: HeardAnswer) -> None:
        """Have a request answered by the model in a seat, if it is still loaded; a count waits for no answer."""
        self._asked.emit(lambda: self._ask(command, heard))

    def cancel(self, request_id: str) -> None:
        """End an answer as cancelled; an id that is not known is ignored."""
        self._asked.emit(lambda: self._session.host.send(Cancel(request_id)))

    # The window's thread

    @Slot(object)
    def _do(self, action: Callable[[], None]) -> None:
        action()

    @Slot(object)
    def _take_models(self, models: tuple[ModelRecord, ...]) -> None:
        self._models = _there(models)

    @Slot()
    def _follow(self) -> None:
        residents = self._session.keeper.residents
        loaded = standing(residents, self._session.figures)
        self._standing = tuple((one, time.monotonic() + one.stays) for one in loaded)

    def _want(self, visit: Visit, wish: Wish, heard: HeardWish) -> None:
        meant = replace(wish, num_ctx=self._session.context_for(wish.record), as_it_is=True)
        self._visits[visit] = self._session.keeper.want(meant, heard)

    def _ask(self, command: Ask, heard: HeardAnswer) -> None:
        if not self._session.keeper.residents.is_ready(command.seat):
            heard(not_loaded(command))
        elif isinstance(command, Count):
            self._session.host.send(command, heard)
        else:
            self._session.host.send(replace(command, background=True), heard)


def _there(models: Sequence[ModelRecord]) -> tuple[ModelRecord, ...]:
    """Return the models whose disk is not away."""
    return tuple(model for model in models if model.present)
