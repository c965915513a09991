"""The policy of which models are loaded and unloaded: decisions only, without threads, engines or waiting.

A host reports requests for models and what has happened, and carries out the decisions; time comes from an injected
clock. The rules:

- A request for a model that is loaded as requested is admitted at once. Other models are loaded one at a time, those
  that a person waits for first, otherwise in order of arrival; loaded models serve meanwhile.
- Whether a model fits beside the others is known from its load, before it reads any weights. If it does not, the least
  recently used idle model is unloaded; if all are busy, the least recently used one admits no further requests until it
  is idle, and is unloaded then. Pinned models stay, and the one that the user has chosen goes last.
- A model left alone, or beside pinned models only, is loaded with as much context as fits. A model that will be loaded
  even if it does not fit has the others unloaded first.
- An idle model is unloaded when its time is over. The time starts when the last visit ends; its length stays the same
  until a request sets another.
- Each request is answered once, by `Admit` or `Refuse`, unless it is withdrawn first.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from sotto.engine.contract.events import Failed, ModelInfo
from sotto.runner.commands import CancelLoad, Load, Unload
from sotto.store.records import ModelRecord

FOREVER = math.inf
KEEP_ALIVE = 300.0
MAX_REQUESTS = 512


class Rank(IntEnum):
    """The priority of a request."""

    CHAT = 0
    BACKGROUND = 1


class Stage(IntEnum):
    """The stage of a resident's life."""

    LOADING = 0
    READY = 1
    LEAVING = 2


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A caller's request to use a model.

    Attributes:
        record: The model.
        num_ctx: Context length in tokens; None for the default of the model.
        keep_alive: Seconds that the model stays loaded when idle; None for the last value, or the default.
        rank: Its priority.
        anyway: Load it even if it is known not to fit.
        as_it_is: Whether a loaded model is accepted with any context length.
    """

    record: ModelRecord
    num_ctx: int | None = None
    keep_alive: float | None = None
    rank: Rank = Rank.BACKGROUND
    anyway: bool = False
    as_it_is: bool = False


@dataclass(frozen=True, slots=True)
class Resident:
    """A model that is loaded, loading, or being unloaded.

    Attributes:
        seat: The name of its seat; never reused for another model.
        request: The request that it was loaded for.
        keep_alive: Seconds that it stays loaded when idle; None for the default.
        stage: Its stage.
        info: What loading it revealed.
        visits: The visits under way.
        used: When a visit last began or ended.
        dismissed: Whether it will be unloaded once idle, and admits no more visits.
        roomy: Whether its load fails without room for a useful context, because others could be unloaded.
        outdated: Whether the next request reloads it.
    """

    seat: str
    request: ModelRequest
    keep_alive: float | None
    stage: Stage = Stage.LOADING
    info: ModelInfo | None = None
    visits: frozenset[int] = frozenset()
    used: float = 0.0
    dismissed: bool = False
    roomy: bool = False
    outdated: bool = False

    @property
    def record(self) -> ModelRecord:
        """The model."""
        return self.request.record

    @property
    def idle(self) -> bool:
        """Whether it is loaded and has no visits."""
        return self.stage is Stage.READY and not self.visits

    def serves(self, request: ModelRequest) -> bool:
        """Return whether it is loaded as a request asks."""
        if self.stage is not Stage.READY or self.info is None or self.outdated:
            return False
        given, asked, limit = self.info.context_length, request.num_ctx, self.record.context_length
        if request.as_it_is or asked in (self.request.num_ctx, given):
            return True
        # Reloading would not give a longer context than the model supports.
        return asked is not None and limit is not None and asked > limit == given


@dataclass(frozen=True, slots=True)
class Admit:
    """Grant a request: the visit has begun."""

    visit: int
    resident: Resident


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse a request.

    Attributes:
        visit: Its number.
        failed: Why; None if its load was cancelled.
        busy: Whether too many requests are open.
    """

    visit: int
    failed: Failed | None = None
    busy: bool = False


Decision = Load | CancelLoad | Unload | Admit | Refuse


def is_same_model(first: ModelRecord, second: ModelRecord) -> bool:
    """Return whether two records are the same model."""
    return first.path == second.path or (bool(first.digest) and first.digest == second.digest)


class Residents:
    """The models of one host. Methods return the decisions to carry out, in order.

    Attributes:
        clock: Returns the time in seconds.
        keep_alive: Seconds that an idle model stays loaded by default.
        chosen: The seat of the model that the user has in view, which stays until its memory is needed; else empty.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        pinned: Callable[[ModelRecord], bool] = lambda record: False,
        max_requests: int = MAX_REQUESTS,
        keep_alive: float = KEEP_ALIVE,
    ) -> None:
        """Begin with nothing loaded.

        Args:
            clock: Returns the time in seconds.
            pinned: Returns whether a model stays loaded.
            max_requests: How many requests may be open; further ones are refused, except those of `Rank.CHAT`.
            keep_alive: Seconds that an idle model stays loaded by default.
        """
        self.clock, self._pinned = clock, pinned
        self._max_requests, self.keep_alive = max_requests, keep_alive
        self.chosen = ""
        self._waiting: dict[int, ModelRequest] = {}
        self._visits: dict[int, str] = {}
        self._residents: dict[str, Resident] = {}
        # Requests that did not fit beside the current residents; cleared whenever one is unloaded.
        self._unfit: set[tuple[str, int | None]] = set()
        self._numbers = 0

    # State

    @property
    def all(self) -> tuple[Resident, ...]:
        """Every resident, oldest first."""
        return tuple(self._residents.values())

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def resident(self, seat: str) -> Resident | None:
        """Return the resident of a seat."""
        return self._residents.get(seat)

    def is_ready(self, seat: str) -> bool:
        """Return whether the model in a seat is loaded."""
        resident = self._residents.get(seat)
        return resident is not None and resident.stage is Stage.READY

    def of(self, record: ModelRecord) -> Resident | None:
        """Return the resident of a model."""
        return next((resident for resident in self._residents.values() if is_same_model(resident.record, record)), None)

    def expires(self, resident: Resident) -> float:
        """Return the clock time at which a resident will be unloaded if unused; `FOREVER` if it stays."""
        if resident.seat == self.chosen or self._pinned(resident.record):
            return FOREVER
        stay = self.keep_alive if resident.keep_alive is None else resident.keep_alive
        return (self.clock() if resident.visits else resident.used) + stay

    def stays(self, resident: Resident) -> float:
        """Return the seconds until a resident will be unloaded if unused."""
        return max(0.0, self.expires(resident) - self.clock())

    @property
    def due(self) -> float:
        """The clock time at which `tick` has something to do."""
        return min((self.expires(resident) for resident in self._residents.values() if resident.idle), default=FOREVER)

    # Requests and visits

    def want(self, request: ModelRequest) -> tuple[int, list[Decision]]:
        """Take a request; return the number of its visit, and the decisions."""
        self._numbers += 1
        if request.rank is not Rank.CHAT and len(self._waiting) + len(self._visits) >= self._max_requests:
            return self._numbers, [Refuse(self._numbers, busy=True)]
        self._waiting[self._numbers] = request
        return self._numbers, self._decide()

    def leave(self, visit: int, *, stop: bool = False) -> list[Decision]:
        """End a visit, or withdraw its request.

        Args:
            visit: Its number; a visit that has ended is ignored.
            stop: Whether to cancel the load too, if only this request waits for it.
        """
        request = self._waiting.pop(visit, None)
        stopped: list[Decision] = []
        if request is not None and stop:
            resident = self.of(request.record)
            if resident is not None and resident.stage is Stage.LOADING and not self._is_wanted(request.record):
                stopped.append(self._stop_load(resident))
        resident = self._residents.get(self._visits.pop(visit, ""))
        if resident is not None and visit in resident.visits:
            self._change(resident, visits=resident.visits - {visit}, used=self.clock())
        return [*stopped, *self._decide()]

    def dismiss(self, seat: str, *, at_once: bool = False) -> list[Decision]:
        """Unload a resident once it is idle, or at once; later requests have it loaded again."""
        resident = self._residents.get(seat)
        if resident is None or resident.stage is Stage.LEAVING:
            return self._decide()
        if resident.stage is Stage.LOADING:
            if at_once:
                return [self._stop_load(resident), *self._refuse(resident.request, None), *self._decide()]
            self._change(resident, dismissed=not self._is_wanted(resident.record))
            return []
        if at_once:
            return [self._unload(resident), *self._decide()]
        self._change(resident, dismissed=True)
        return self._decide()

    def enter(self, seat: str) -> int:
        """Begin a visit of a loaded model, ahead of those waiting for it to be left; return its number."""
        self._numbers += 1
        if self.is_ready(seat):
            resident = self._residents[seat]
            self._visits[self._numbers] = seat
            self._change(resident, visits=resident.visits | {self._numbers}, used=self.clock())
        return self._numbers

    def outdate(self, seat: str) -> None:
        """Have the next request reload a resident, even if it would serve that request as it is."""
        if (resident := self._residents.get(seat)) is not None:
            self._change(resident, outdated=True)

    def choose(self, seat: str) -> list[Decision]:
        """Record which model the user has in view; the time of the previous one starts now."""
        before = self._residents.get(self.chosen)
        if before is not None and before.seat != seat:
            self._change(before, used=self.clock())
        self.chosen = seat
        return self._decide()

    # Reports of the host

    def loaded(self, seat: str, info: ModelInfo) -> list[Decision]:
        """Record that a load has succeeded."""
        resident = self._residents.get(seat)
        if resident is not None:
            self._change(resident, stage=Stage.READY, info=info, used=self.clock())
        return self._decide()

    def gone(self, seat: str) -> list[Decision]:
        """Record that a seat is empty: its model was unloaded, or its load cancelled."""
        resident = self._forget(seat)
        stopped: list[Decision] = []
        if resident is not None and resident.stage is Stage.LOADING and not resident.dismissed:
            stopped += self._refuse(resident.request, None)
        return [*stopped, *self._decide()]

    def failed(self, seat: str, failed: Failed) -> list[Decision]:
        """Record that a load has failed; if for want of memory that others can free, it is retried then."""
        resident = self._forget(seat)
        refused: list[Decision] = []
        if resident is not None:
            if failed.shortage and (resident.roomy or self._evictable()):
                self._unfit.add(_request_key(resident.request))
            else:
                refused += self._refuse(resident.request, failed)
        return [*refused, *self._decide()]

    def crashed(self, failed: Failed, *, permanently: bool = False) -> list[Decision]:
        """Record that the engine has ended with all its models; a load under way is not retried.

        Args:
            failed: Why.
            permanently: Whether to refuse all waiting requests too.
        """
        loading = [resident.request for resident in self._residents.values() if resident.stage is Stage.LOADING]
        loading += list(self._waiting.values()) if permanently else []
        for seat in tuple(self._residents):
            self._forget(seat)
        refused = [refusal for request in loading for refusal in self._refuse(request, failed)]
        return [*refused, *self._decide()]

    def tick(self) -> list[Decision]:
        """Unload the models whose time is over."""
        return self._decide()

    # Deciding

    def _decide(self) -> list[Decision]:
        decisions: list[Decision] = []
        # Seats that admit no one, because an earlier request waits for them to be left.
        closed: set[str] = set()
        blocked = any(resident.stage is not Stage.READY for resident in self._residents.values())
        for visit, request in sorted(self._waiting.items(), key=lambda item: (item[1].rank, item[0])):
            resident = self.of(request.record)
            if resident is not None and (resident.stage is not Stage.READY or resident.dismissed):
                continue
            if resident is not None and resident.serves(request):
                if resident.seat not in closed:
                    decisions.append(self._admit(visit, request, resident))
                continue
            if resident is not None:
                closed.add(resident.seat)
            if not blocked:
                decisions += self._make_way(request, resident, closed)
                blocked = True
        decisions += [
            self._unload(resident)
            for resident in self.all
            if resident.idle and (resident.dismissed or self._has_expired(resident))
        ]
        return decisions

    def _make_way(self, request: ModelRequest, resident: Resident | None, closed: set[str]) -> list[Decision]:
        """Load a model, or unload or close another for it; `resident` is the same model, loaded differently."""
        if resident is not None:
            return [self._begin_load(request, resident.seat)] if resident.idle else []
        evictable = self._evictable()
        # A model that is loaded even if it does not fit gets all the memory that can be freed.
        if request.anyway or _request_key(request) in self._unfit:
            if idle := [resident for resident in evictable if resident.idle]:
                return [self._unload(self._first_to_go(idle))]
            if evictable:
                closed.add(self._first_to_go(evictable).seat)
                return []
        self._numbers += 1
        return [self._begin_load(request, f"model {self._numbers}")]

    def _evictable(self) -> list[Resident]:
        return [
            resident
            for resident in self._residents.values()
            if resident.stage is Stage.READY and not self._pinned(resident.record)
        ]

    def _first_to_go(self, residents: Iterable[Resident]) -> Resident:
        return min(residents, key=lambda resident: (resident.seat == self.chosen, resident.used))

    def _has_expired(self, resident: Resident) -> bool:
        return self.expires(resident) <= self.clock()

    def _begin_load(self, request: ModelRequest, seat: str) -> Load:
        roomy = any(resident.seat != seat for resident in self._evictable())
        self._residents[seat] = Resident(seat, request, request.keep_alive, used=self.clock(), roomy=roomy)
        return Load(request.record, request.num_ctx, request.anyway, seat, roomy)

    def _is_wanted(self, record: ModelRecord) -> bool:
        return any(is_same_model(request.record, record) for request in self._waiting.values())

    def _stop_load(self, resident: Resident) -> CancelLoad:
        # If the load succeeds first, the model is unloaded again.
        self._change(resident, dismissed=True)
        return CancelLoad(resident.seat)

    def _unload(self, resident: Resident) -> Unload:
        self._change(resident, stage=Stage.LEAVING)
        return Unload(resident.seat)

    def _admit(self, visit: int, request: ModelRequest, resident: Resident) -> Admit:
        del self._waiting[visit]
        self._visits[visit] = resident.seat
        visits = resident.visits | {visit}
        stay = resident.keep_alive if request.keep_alive is None else request.keep_alive
        now = self._change(resident, visits=visits, used=self.clock(), keep_alive=stay)
        return Admit(visit, now)

    def _refuse(self, request: ModelRequest, failed: Failed | None) -> list[Decision]:
        """Refuse every request for the same model and context."""
        alike = [visit for visit, other in self._waiting.items() if _request_key(other) == _request_key(request)]
        for visit in alike:
            del self._waiting[visit]
        return [Refuse(visit, failed) for visit in alike]

    def _change(self, resident: Resident, **changes: object) -> Resident:
        now = self._residents[resident.seat] = replace(resident, **changes)  # type: ignore[arg-type]
        return now

    def _forget(self, seat: str) -> Resident | None:
        resident = self._residents.pop(seat, None)
        if resident is not None:
            self._unfit.clear()
            self.chosen = "" if seat == self.chosen else self.chosen
        return resident


def _request_key(request: ModelRequest) -> tuple[str, int | None]:
    return request.record.digest or str(request.record.path), request.num_ctx
