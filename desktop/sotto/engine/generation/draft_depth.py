"""How many drafts to feed in a round of speculation: as many as measured acceptance and cost say, down to none.

The value of n drafts is the expected number of tokens that a round gives, one and as many drafts as are accepted,
divided by the seconds that it takes. Both are learnt while answers are made, and kept from one answer to the next:

- Cost, by the number of drafts that were really fed: a moving average that no single stall can move far. A depth is
  tried a few times before it has a cost, and starts with the median, because the first round of a shape builds kernels.
  Between depths that were measured it is interpolated, and flat beyond them: there, the one that then promises most is
  tried next.
- Acceptance, by position: how often a draft is right when all in front of it are. A position is trusted after some
  samples, of drafts that were not fed as well; the next one behind the trusted ones counts as good as the last of
  them, and none beyond it is considered.
- Now and then one draft more than is best is fed, to notice when that begins to pay; ever more rarely while it changes
  nothing.

A round without any proposal says what a step without drafts costs, and nothing about acceptance: acceptance is that
of a draft which was proposed. Nothing here reads a clock.
"""

from itertools import accumulate, pairwise
from operator import mul
from statistics import median

_COST_WEIGHT = 0.3
_COST_CLAMP = 0.25
_COST_SAMPLES = 3
_ACCEPTANCE_WEIGHT = 0.1
_TRUSTED = 10
_PROBE_FIRST, _PROBE_LAST = 4, 512
# A depth of unknown cost is tried only where it would be this much better if it cost nothing more.
_WORTH = 1.02


class Costs:
    """Seconds that a round takes, by the number of drafts fed in it; the same for all that draft for one model."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self._first: dict[int, list[float]] = {}
        self._known: dict[int, float] = {}
        self._previous = 0

    def took(self, drafts: int, seconds: float | None) -> None:
        """Learn what a round took, from its start to the start of the next.

        Args:
            drafts: How many were fed; 0 for an ordinary step.
            seconds: None where other work ran meanwhile, so that the time says nothing.
        """
        # An ordinary step that follows a round with drafts has not been computed ahead, as those that follow it are.
        steady = drafts > 0 or self._previous == 0
        self._previous = drafts
        if seconds is None or not steady:
            return
        known = self._known.get(drafts)
        if known is not None:
            most = _COST_CLAMP * known
            self._known[drafts] = known + _COST_WEIGHT * min(max(seconds - known, -most), most)
            return
        first = self._first.setdefault(drafts, [])
        first.append(seconds)
        if len(first) == _COST_SAMPLES:
            self._known[drafts] = median(self._first.pop(drafts))

    @property
    def measured(self) -> tuple[int, ...]:
        """Numbers of drafts with a known cost, ascending."""
        return tuple(sorted(self._known))

    def up_to(self, drafts: int) -> list[float]:
        """Return seconds for rounds with 0, 1, ... `drafts` drafts; at least one number of them must be measured."""
        points = self.measured
        seconds = [self._known[points[0]]] * points[0]
        for below, above in pairwise(points):
            first, slope = self._known[below], (self._known[above] - self._known[below]) / (above - below)
            seconds += [first + slope * step for step in range(above - below)]
        seconds += [self._known[points[-1]]] * (drafts + 1 - len(seconds))
        return seconds[: drafts + 1]


class DraftDepth:
    """Chooses how many drafts to feed, for drafts of one kind."""

    def __init__(self, limit: int, costs: Costs | None = None) -> None:
        """Start with no drafts.

        Args:
            limit: Never more than so many.
            costs: What rounds take; None for ones of its own.
        """
        self.limit = limit
        self.costs = costs or Costs()
        # By position, from the first draft on.
        self._rates = [0.0] * limit
        self._samples = [0] * limit
        self._best = 0
        self._rounds = 0
        self._interval = _PROBE_FIRST

    @property
    def acceptance(self) -> tuple[float, ...]:
        """How often a draft is right when all in front of it are, for each trusted position from the first on."""
        trusted = next((index for index, count in enumerate(self._samples) if count < _TRUSTED), self.limit)
        return tuple(self._rates[:trusted])

    def observed(self, judged: int, accepted: int) -> None:
        """Learn how a proposal fared, whether or not it was fed.

        Args:
            judged: How many of its tokens have been judged, up to and with the first wrong one.
            accepted: How many of these were right.
        """
        for index in range(min(judged, self.limit)):
            right = float(index < accepted)
            self._samples[index] += 1
            weight = 1.0 if self._samples[index] == 1 else _ACCEPTANCE_WEIGHT
            self._rates[index] += weight * (right - self._rates[index])

    def planned(self, available: int) -> int:
        """Return what `choose` would, and count nothing.

        Args:
            available: How many tokens are proposed.
        """
        return self._planned(available, self._values())

    def _planned(self, available: int, values: list[float]) -> int:
        most = min(available, self.limit)
        if most <= 0 or not values:
            return 0  # an ordinary step is measured first
        unknown = self._worth_measuring(values)
        if unknown is not None:
            return min(unknown, most)
        best = self._best_of(values)
        if best == self._best and best < most and self._rounds + 1 >= self._interval:
            return best + 1
        return best if best <= most else self._best_of(values[: most + 1])

    def gain(self, available: int) -> float:
        """Return how many times as many tokens a second `planned` gives as no drafts do; 1 where it is none.

        Args:
            available: How many tokens are proposed.
        """
        values = self._values()
        planned = self._planned(available, values)
        return values[min(planned, len(values) - 1)] / values[0] if planned else 1.0

    def choose(self, available: int) -> int:
        """Return how many drafts to feed in a round, and count the round if anything is proposed.

        Args:
            available: How many tokens are proposed.
        """
        values = self._values()
        chosen = self._planned(available, values)
        if available <= 0 or not values or self._worth_measuring(values) is not None:
            return chosen
        best = self._best_of(values)
        if best != self._best:
            self._best, self._rounds, self._interval = best, 0, _PROBE_FIRST
        elif chosen > best:
            self._rounds, self._interval = 0, min(2 * self._interval, _PROBE_LAST)
        else:
            # A proposal that is too short for a probe leaves it to the next one.
            self._rounds += 1
        return chosen

    def _values(self) -> list[float]:
        """Return tokens a second for 0, 1, ... drafts, as far as something is known; empty before the first cost."""
        if 0 not in self.costs.measured:
            return []
        trusted = self.acceptance
        rates = [*trusted, trusted[-1] if trusted else 1.0][: self.limit]
        tokens = accumulate(accumulate(rates, mul), initial=1.0)
        return [expected / seconds for expected, seconds in zip(tokens, self.costs.up_to(len(rates)), strict=True)]

    def _best_of(self, values: list[float]) -> int:
        """Return the fewest drafts of the best value, no more of them than were measured."""
        known = values[: self.costs.measured[-1] + 1]
        return known.index(max(known))

    def _worth_measuring(self, values: list[float]) -> int | None:
        """Return the most promising number of drafts beyond those that were measured, if it may be better than them.

        A few more drafts seldom make up for what a round costs besides, so that going one step at a time could end
        before depth begins to pay. What lies between two depths that were measured is interpolated.
        """
        measured = self.costs.measured
        beyond = range(measured[-1] + 1, len(values))
        if not beyond:
            return None
        known = max(values[drafts] for drafts in measured if drafts < len(values))
        promising = max(beyond, key=lambda drafts: values[drafts])
        return promising if values[promising] > known * _WORTH else None
