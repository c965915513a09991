"""Which models are loaded, who leaves for whom, and whose turn it is: decisions, without threads, engines or waiting.

Whoever hosts engines tells what is wished for and what has happened, and carries out what is decided; time comes from a
clock that is given. What holds:

- A model that is loaded as it is wished for is entered at once. Others are loaded one at a time, those that a person
  waits for first, the rest first come, first served; loaded models serve meanwhile.
- Whether a model fits beside the others is what its load says, before it reads anything. Where it does not, the idle
  model that was used least recently leaves; where all are busy, the one whose last use began longest ago takes in
  nobody else until it is idle, and leaves then. Pinned models stay, and the one that a person has chosen goes last.
- What is left alone in the end, beside nobody or pinned models only, is loaded with what context there is room for.
  What is to be loaded whether it fits or not is left alone first.
- A model that is idle leaves when its time is over: it begins when the last visit ends, and how long it is holds until
  a wish says otherwise.
- Each wish is answered once, by `Admit` or `Refuse`, unless it is taken back before.
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
MOST_WISHES = 512


class Rank(IntEnum):
    """Who goes first."""

    CHAT = 0
    BACKGROUND = 1


class Stage(IntEnum):
    """Where a resident stands."""

    LOADING = 0
    READY = 1
    LEAVING = 2


@dataclass(frozen=True, slots=True)
class Wish:
    """A model that somebody wants to ask.

    Attributes:
        record: The model.
        num_ctx: The context that it is to be loaded with; None for what suits it.
        keep_alive: Seconds that it is to stay afterwards; None as was said last, or as usual.
        rank: Who waits for it.
        anyway: Load it even where it is known not to fit.
        as_it_is: Whether one that is loaded will do with whatever context it has.
    """

    record: ModelRecord
    num_ctx: int | None = None
    keep_alive: float | None = None
    rank: Rank = Rank.BACKGROUND
    anyway: bool = False
    as_it_is: bool = False


@dataclass(frozen=True, slots=True)
class Resident:
    """A model that is loaded, on its way, or about to leave.

    Attributes:
        seat: The name of its place; no other ever has the same.
        wish: What it was loaded for.
        keep_alive: Seconds that it stays when nobody asks it anything; None as usual.
        stage: Where it stands.
        info: What is known of it since it was loaded.
        visits: Those who may ask it now.
        used: When somebody last came or went.
        dismissed: Whether it leaves as soon as nobody asks it anything, and takes in nobody.
        roomy: Whether it is loaded only with a context of some length, as others could leave for it.
        outdated: Whether whoever wishes for it next has it loaded anew.
    """

    seat: str
    wish: Wish
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
        return self.wish.record

    @property
    def idle(self) -> bool:
        """Whether it is loaded and nobody asks it anything."""
        return self.stage is Stage.READY and not self.visits

    def serves(self, wish: Wish) -> bool:
        """Return whether it is loaded as it is wished for."""
        if self.stage is not Stage.READY or self.info is None or self.outdated:
            return False
        given, asked, limit = self.info.context_length, wish.num_ctx, self.record.context_length
        if wish.as_it_is or asked in (self.wish.num_ctx, given):
            return True
        # More than the model was made for would not be given, however often it is loaded.
        return asked is not None and limit is not None and asked > limit == given


@dataclass(frozen=True, slots=True)
class Admit:
    """Let a wish be served."""

    visit: int
    resident: Resident


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell that a wish cannot be served.

    Attributes:
        visit: Which one.
        failed: Why; None where its load was stopped.
        busy: Whether there are just too many.
    """

    visit: int
    failed: Failed | None = None
    busy: bool = False


Decision = Load | CancelLoad | Unload | Admit | Refuse


def same(one: ModelRecord, other: ModelRecord) -> bool:
    """Return whether two records are the same model."""
    return one.path == other.path or (bool(one.digest) and one.digest == other.digest)


class Residents:
    """The models of one engine's host. Every method returns what is to be done now, in order.

    Attributes:
        clock: Returns seconds.
        keep_alive: Seconds that a model stays where no wish has said.
        chosen: The seat of the model that a person has in view, which stays until its memory is needed; or nothing.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        pinned: Callable[[ModelRecord], bool] = lambda record: False,
        most_wishes: int = MOST_WISHES,
        keep_alive: float = KEEP_ALIVE,
    ) -> None:
        """Begin with nothing loaded.

        Args:
            clock: Returns seconds.
            pinned: Tells whether a model is to stay loaded.
            most_wishes: How many wishes may be open; programs beyond that are refused, people never are.
            keep_alive: Seconds that a model stays where no wish has said.
        """
        self.clock, self._pinned = clock, pinned
        self._most_wishes, self.keep_alive = most_wishes, keep_alive
        self.chosen = ""
        self._waiting: dict[int, Wish] = {}
        self._visits: dict[int, str] = {}
        self._residents: dict[str, Resident] = {}
        # What did not fit beside all that is here: whenever something leaves, it may.
        self._unfit: set[tuple[str, int | None]] = set()
        self._numbers = 0

    # What there is

    @property
    def all(self) -> tuple[Resident, ...]:
        """Every resident, in the order they came."""
        return tuple(self._residents.values())

    @property
    def waiting(self) -> int:
        """How many wishes wait."""
        return len(self._waiting)

    def resident(self, seat: str) -> Resident | None:
        """Return what is in a seat."""
        return self._residents.get(seat)

    def is_ready(self, seat: str) -> bool:
        """Return whether what is in a seat can be asked."""
        resident = self._residents.get(seat)
        return resident is not None and resident.stage is Stage.READY

    def of(self, record: ModelRecord) -> Resident | None:
        """Return the resident that is this model."""
        return next((one for one in self._residents.values() if same(one.record, record)), None)

    def expires(self, resident: Resident) -> float:
        """Return when a resident leaves, as things are, on the clock; `FOREVER` where it stays."""
        if resident.seat == self.chosen or self._pinned(resident.record):
            return FOREVER
        stay = self.keep_alive if resident.keep_alive is None else resident.keep_alive
        return (self.clock() if resident.visits else resident.used) + stay

    def stays(self, resident: Resident) -> float:
        """Return the seconds until a resident leaves, as things are."""
        return max(0.0, self.expires(resident) - self.clock())

    @property
    def due(self) -> float:
        """When `tick` has something to do, on the clock."""
        return min((self.expires(one) for one in self._residents.values() if one.idle), default=FOREVER)

    # What people and programs want

    def want(self, wish: Wish) -> tuple[int, list[Decision]]:
        """Take a wish; return its number, and what is to be done now."""
        self._numbers += 1
        if wish.rank is not Rank.CHAT and len(self._waiting) + len(self._visits) >= self._most_wishes:
            return self._numbers, [Refuse(self._numbers, busy=True)]
        self._waiting[self._numbers] = wish
        return self._numbers, self._decide()

    def leave(self, visit: int, *, stop: bool = False) -> list[Decision]:
        """End a visit, or take a wish back.

        Args:
            visit: Its number; one that is over already is ignored.
            stop: Whether the load that only this wish has waited for is stopped as well.
        """
        wish = self._waiting.pop(visit, None)
        stopped: list[Decision] = []
        if wish is not None and stop:
            resident = self.of(wish.record)
            if resident is not None and resident.stage is Stage.LOADING and not self._is_wanted(wish.record):
                stopped.append(self._stop_load(resident))
        resident = self._residents.get(self._visits.pop(visit, ""))
        if resident is not None and visit in resident.visits:
            self._change(resident, visits=resident.visits - {visit}, used=self.clock())
        return [*stopped, *self._decide()]

    def dismiss(self, seat: str, *, at_once: bool = False) -> list[Decision]:
        """Let a resident leave once nobody asks it anything, or at once; those who come later wait for it anew."""
        resident = self._residents.get(seat)
        if resident is None or resident.stage is Stage.LEAVING:
            return self._decide()
        if resident.stage is Stage.LOADING:
            if at_once:
                return [self._stop_load(resident), *self._refuse(resident.wish, None), *self._decide()]
            self._change(resident, dismissed=not self._is_wanted(resident.record))
            return []
        if at_once:
            return [self._unload(resident), *self._decide()]
        self._change(resident, dismissed=True)
        return self._decide()

    def enter(self, seat: str) -> int:
        """Begin a visit of what is loaded, whoever waits for that to be left; return its number."""
        self._numbers += 1
        if self.is_ready(seat):
            resident = self._residents[seat]
            self._visits[self._numbers] = seat
            self._change(resident, visits=resident.visits | {self._numbers}, used=self.clock())
        return self._numbers

    def outdate(self, seat: str) -> None:
        """Have a resident loaded anew for the next wish, because it would be another one then."""
        if (resident := self._residents.get(seat)) is not None:
            self._change(resident, outdated=True)

    def choose(self, seat: str) -> list[Decision]:
        """Take note of which model a person has in view; the one before stays for its time from now on."""
        before = self._residents.get(self.chosen)
        if before is not None and before.seat != seat:
            self._change(before, used=self.clock())
        self.chosen = seat
        return self._decide()

    # What has happened

    def loaded(self, seat: str, info: ModelInfo) -> list[Decision]:
        """Take note that a load ended well."""
        resident = self._residents.get(seat)
        if resident is not None:
            self._change(resident, stage=Stage.READY, info=info, used=self.clock())
        return self._decide()

    def gone(self, seat: str) -> list[Decision]:
        """Take note that nothing is in a seat any more: it has been unloaded, or its load was stopped."""
        resident = self._forget(seat)
        stopped: list[Decision] = []
        if resident is not None and resident.stage is Stage.LOADING and not resident.dismissed:
            stopped += self._refuse(resident.wish, None)
        return [*stopped, *self._decide()]

    def failed(self, seat: str, failed: Failed) -> list[Decision]:
        """Take note that a load failed; where memory was short and others can leave, it is tried again then."""
        resident = self._forget(seat)
        refused: list[Decision] = []
        if resident is not None:
            if failed.shortage and (resident.roomy or self._evictable()):
                self._unfit.add(_wish_key(resident.wish))
            else:
                refused += self._refuse(resident.wish, failed)
        return [*refused, *self._decide()]

    def crashed(self, failed: Failed, *, for_good: bool = False) -> list[Decision]:
        """Take note that the engine is gone with all that was loaded; what was being loaded is not tried again.

        Args:
            failed: Why.
            for_good: Whether nothing else is to be tried either.
        """
        loading = [one.wish for one in self._residents.values() if one.stage is Stage.LOADING]
        loading += list(self._waiting.values()) if for_good else []
        for seat in tuple(self._residents):
            self._forget(seat)
        refused = [refusal for wish in loading for refusal in self._refuse(wish, failed)]
        return [*refused, *self._decide()]

    def tick(self) -> list[Decision]:
        """Let go what has had its time."""
        return self._decide()

    # Deciding

    def _decide(self) -> list[Decision]:
        decisions: list[Decision] = []
        # Seats that take nobody in, because somebody who came before waits for them to be left.
        closed: set[str] = set()
        blocked = any(one.stage is not Stage.READY for one in self._residents.values())
        for visit, wish in sorted(self._waiting.items(), key=lambda item: (item[1].rank, item[0])):
            resident = self.of(wish.record)
            if resident is not None and (resident.stage is not Stage.READY or resident.dismissed):
                continue
            if resident is not None and resident.serves(wish):
                if resident.seat not in closed:
                    decisions.append(self._admit(visit, wish, resident))
                continue
            if resident is not None:
                closed.add(resident.seat)
            if not blocked:
                decisions += self._make_way(wish, resident, closed)
                blocked = True
        decisions += [self._unload(one) for one in self.all if one.idle and (one.dismissed or self._has_expired(one))]
        return decisions

    def _make_way(self, wish: Wish, resident: Resident | None, closed: set[str]) -> list[Decision]:
        """Load a model, or let another one leave for it, or close one that is to; `resident` is loaded otherwise."""
        if resident is not None:
            return [self._begin_load(wish, resident.seat)] if resident.idle else []
        evictable = self._evictable()
        # What is loaded whether it fits or not has all the memory that there can be.
        if wish.anyway or _wish_key(wish) in self._unfit:
            if idle := [one for one in evictable if one.idle]:
                return [self._unload(self._first_to_go(idle))]
            if evictable:
                closed.add(self._first_to_go(evictable).seat)
                return []
        self._numbers += 1
        return [self._begin_load(wish, f"model {self._numbers}")]

    def _evictable(self) -> list[Resident]:
        return [one for one in self._residents.values() if one.stage is Stage.READY and not self._pinned(one.record)]

    def _first_to_go(self, residents: Iterable[Resident]) -> Resident:
        return min(residents, key=lambda one: (one.seat == self.chosen, one.used))

    def _has_expired(self, resident: Resident) -> bool:
        return self.expires(resident) <= self.clock()

    def _begin_load(self, wish: Wish, seat: str) -> Load:
        roomy = any(one.seat != seat for one in self._evictable())
        self._residents[seat] = Resident(seat, wish, wish.keep_alive, used=self.clock(), roomy=roomy)
        return Load(wish.record, wish.num_ctx, wish.anyway, seat, roomy)

    def _is_wanted(self, record: ModelRecord) -> bool:
        return any(same(wish.record, record) for wish in self._waiting.values())

    def _stop_load(self, resident: Resident) -> CancelLoad:
        # Where it comes too late, the model leaves again.
        self._change(resident, dismissed=True)
        return CancelLoad(resident.seat)

    def _unload(self, resident: Resident) -> Unload:
        self._change(resident, stage=Stage.LEAVING)
        return Unload(resident.seat)

    def _admit(self, visit: int, wish: Wish, resident: Resident) -> Admit:
        del self._waiting[visit]
        self._visits[visit] = resident.seat
        visits = resident.visits | {visit}
        stay = resident.keep_alive if wish.keep_alive is None else wish.keep_alive
        now = self._change(resident, visits=visits, used=self.clock(), keep_alive=stay)
        return Admit(visit, now)

    def _refuse(self, wish: Wish, failed: Failed | None) -> list[Decision]:
        """Refuse everybody who waits for just that."""
        alike = [visit for visit, other in self._waiting.items() if _wish_key(other) == _wish_key(wish)]
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


def _wish_key(wish: Wish) -> tuple[str, int | None]:
    return wish.record.digest or str(wish.record.path), wish.num_ctx
