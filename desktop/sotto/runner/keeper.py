"""Carrying out the decisions of `sotto.runner.residents`: commands to the loop, answers to callers."""

from collections.abc import Callable

from sotto.engine.contract.events import Event, Failed, Loaded, Unloaded
from sotto.runner.commands import CancelLoad, Load, Unload
from sotto.runner.host import CommandSink, ModelCallback, Visit
from sotto.runner.residents import FOREVER, Decision, ModelRequest, Residents, Stage
from sotto.store.records import ModelRecord


class Keeper:
    """Loads and unloads the models of one loop. Not thread-safe: use it on one thread or under one lock."""

    def __init__(
        self,
        residents: Residents,
        loop: Callable[[], CommandSink],
        later: Callable[[float], None],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with nothing loaded.

        Args:
            residents: Decides which models are loaded.
            loop: Returns the loop that loads models, starting it if necessary.
            later: Schedules `tick` in so many seconds, replacing the last schedule; `FOREVER` cancels it.
            changed: Called when residents may have changed.
        """
        self.residents = residents
        self._loop, self._later, self._changed = loop, later, changed
        self._callbacks: dict[int, ModelCallback] = {}
        self._on_unloaded: dict[str, list[Callable[[], None]]] = {}
        self._due = FOREVER

    def want(self, request: ModelRequest, callback: ModelCallback) -> Visit:
        """Have a model loaded; return the number of the visit, which the caller must end with `leave`.

        Args:
            request: The model, and how it should be loaded.
            callback: Receives the only answer, now or later, unless the visit has ended by then.
        """
        visit, decisions = self.residents.want(request)
        self._callbacks[visit] = callback
        self._carry_out(decisions)
        return visit

    def enter(self, seat: str) -> Visit:
        """Begin a visit of a loaded model, ahead of those waiting for it to be left; return its number."""
        visit = self.residents.enter(seat)
        self._changed()
        return visit

    def leave(self, visit: Visit, *, stop: bool = False) -> None:
        """End a visit or withdraw a request; see `Residents.leave`."""
        self._callbacks.pop(visit, None)
        self._carry_out(self.residents.leave(visit, stop=stop))

    def dismiss(self, seat: str, callback: Callable[[], None] | None = None, *, at_once: bool = False) -> None:
        """Unload the model in a seat, once it is idle or at once.

        Args:
            seat: The seat of the model.
            callback: Called once it is unloaded; at once where the seat is empty or its model is still in use.
            at_once: Whether to unload it even if it is in use.
        """
        resident = self.residents.resident(seat)
        decisions = self.residents.dismiss(seat, at_once=at_once)
        stays_for_now = resident is not None and (resident.visits or resident.stage is Stage.LOADING) and not at_once
        if callback is not None and (resident is None or stays_for_now):
            callback()
        elif callback is not None:
            self._on_unloaded.setdefault(seat, []).append(callback)
        self._carry_out(decisions)

    def dismiss_model(self, record: ModelRecord, callback: Callable[[], None]) -> None:
        """Unload a model once it is idle; see `dismiss`."""
        resident = self.residents.of(record)
        self.dismiss(resident.seat if resident else "", callback)

    def choose(self, seat: str) -> None:
        """Record which model the user has in view."""
        self._carry_out(self.residents.choose(seat))

    def set_keep_alive(self, seconds: float) -> None:
        """Change how long models stay loaded when idle, unless a request has said otherwise; `FOREVER` for always."""
        self.residents.keep_alive = seconds
        self._carry_out([])

    def tick(self) -> None:
        """Unload the models whose time is over."""
        self._due = FOREVER
        self._carry_out(self.residents.tick())

    def receive(self, event: Event) -> None:
        """Take an event of the loop; only those about loads and unloads matter."""
        if isinstance(event, Loaded):
            self._carry_out(self.residents.loaded(event.seat, event.info))
        elif isinstance(event, Unloaded):
            self._carry_out(self.residents.gone(event.seat))
        elif isinstance(event, Failed) and not event.request_id:
            self._carry_out(self.residents.failed(event.seat, event))

    def crashed(self, failed: Failed, *, permanently: bool = False) -> None:
        """Record that the loop has ended; if permanently, refuse all waiting requests."""
        self._carry_out(self.residents.crashed(failed, permanently=permanently))

    def _carry_out(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Load | CancelLoad | Unload):
                self._loop().send(decision)
            elif (callback := self._callbacks.pop(decision.visit, None)) is not None:
                callback(decision)
        for seat in [seat for seat in self._on_unloaded if self.residents.resident(seat) is None]:
            for on_unloaded in self._on_unloaded.pop(seat):
                on_unloaded()
        self._changed()
        due = self.residents.due
        if due == self._due:
            return
        self._due = due
        self._later(due if due == FOREVER else max(0.0, due - self.residents.clock()))
