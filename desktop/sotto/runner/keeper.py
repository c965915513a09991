"""Carries out what `sotto.runner.residents` decides: tells the engines' loop, and whoever waits."""

from collections.abc import Callable

from sotto.engine.contract.events import Event, Failed, Loaded, Unloaded
from sotto.runner.commands import CancelLoad, Load, Unload
from sotto.runner.host import CommandSink, HeardWish, Visit
from sotto.runner.residents import FOREVER, Decision, Residents, Stage, Wish
from sotto.store.records import ModelRecord


class Keeper:
    """Has the models of one loop loaded and unloaded. Belongs to one thread, or to whoever holds one lock."""

    def __init__(
        self,
        residents: Residents,
        loop: Callable[[], CommandSink],
        later: Callable[[float], None],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with nothing loaded.

        Args:
            residents: Decides.
            loop: Returns what loads models, and starts it where that is needed.
            later: Has `tick` called in so many seconds, in place of what it was told before; `FOREVER` is never.
            changed: Called when residents may stand otherwise than before.
        """
        self.residents = residents
        self._loop, self._later, self._changed = loop, later, changed
        self._heard: dict[int, HeardWish] = {}
        self._gone: dict[str, list[Callable[[], None]]] = {}
        self._due = FOREVER

    def want(self, wish: Wish, heard: HeardWish) -> Visit:
        """Have a model loaded for somebody; return the number of the visit, which must be left in the end.

        Args:
            wish: What is wanted.
            heard: Takes the one answer, now or later; not once the visit has been left.
        """
        visit, decisions = self.residents.want(wish)
        self._heard[visit] = heard
        self._obey(decisions)
        return visit

    def enter(self, seat: str) -> Visit:
        """Begin a visit of what is loaded, whoever waits for that to be left; return its number."""
        visit = self.residents.enter(seat)
        self._changed()
        return visit

    def leave(self, visit: Visit, *, stop: bool = False) -> None:
        """End a visit, or take a wish back; see `Residents.leave`."""
        self._heard.pop(visit, None)
        self._obey(self.residents.leave(visit, stop=stop))

    def dismiss(self, seat: str, heard: Callable[[], None] | None = None, *, at_once: bool = False) -> None:
        """Unload what is in a seat, as soon as nobody asks it anything or at once.

        Args:
            seat: Which one.
            heard: Called when it is gone; now where there is nothing, or it has still to do.
            at_once: Whether to wait for nobody.
        """
        resident = self.residents.resident(seat)
        decisions = self.residents.dismiss(seat, at_once=at_once)
        has_to_do = resident is not None and (resident.visits or resident.stage is Stage.LOADING) and not at_once
        if heard is not None and (resident is None or has_to_do):
            heard()
        elif heard is not None:
            self._gone.setdefault(seat, []).append(heard)
        self._obey(decisions)

    def dismiss_model(self, record: ModelRecord, heard: Callable[[], None]) -> None:
        """Unload a model, wherever it is, as soon as nobody asks it anything; see `dismiss`."""
        resident = self.residents.of(record)
        self.dismiss(resident.seat if resident else "", heard)

    def choose(self, seat: str) -> None:
        """Take note of which model a person has in view."""
        self._obey(self.residents.choose(seat))

    def tick(self) -> None:
        """Let go what has had its time."""
        self._due = FOREVER
        self._obey(self.residents.tick())

    def hear(self, event: Event) -> None:
        """Take what the loop says about loads and unloads; anything else is nothing to it."""
        if isinstance(event, Loaded):
            self._obey(self.residents.loaded(event.seat, event.info))
        elif isinstance(event, Unloaded):
            self._obey(self.residents.gone(event.seat))
        elif isinstance(event, Failed) and not event.request_id:
            self._obey(self.residents.failed(event.seat, event))

    def crashed(self, failed: Failed, *, for_good: bool = False) -> None:
        """Take note that the loop has ended; where that is for good, nobody waits any more."""
        self._obey(self.residents.crashed(failed, for_good=for_good))

    def _obey(self, decisions: list[Decision]) -> None:
        for one in decisions:
            if isinstance(one, Load | CancelLoad | Unload):
                self._loop().send(one)
            elif (heard := self._heard.pop(one.visit, None)) is not None:
                heard(one)
        for seat in [seat for seat in self._gone if self.residents.resident(seat) is None]:
            for told in self._gone.pop(seat):
                told()
        self._changed()
        due = self.residents.due
        if due == self._due:
            return
        self._due = due
        self._later(due if due == FOREVER else max(0.0, due - self.residents.clock()))
