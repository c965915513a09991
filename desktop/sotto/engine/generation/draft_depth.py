"""The number of drafts to feed in a round of speculative decoding, from measured acceptance and cost.

The value of n drafts is the expected number of tokens of a round, one plus the accepted drafts, divided by its seconds.
Both are learnt while answers are generated, and kept from one answer to the next:

- Cost, by the number of drafts that were fed: a moving average that no single stall can change much. A depth is
  measured a few times, and starts with the median, because the first round of a shape builds kernels. Costs are
  interpolated between measured depths and constant beyond them; of those beyond, the most promising is tried next.
- Acceptance, by position: how often a draft is right if all before it are. A position is trusted after some samples,
  including drafts that were not fed. The next position is assumed to be as good as the last trusted one, and none
  after it is considered.
- Occasionally one draft more than the best number is fed, to notice when that begins to pay; ever more rarely while it
  changes nothing.

A round without a proposal measures the cost of a step without drafts, but not acceptance, which is that of proposed
drafts. Nothing here reads a clock.
"""

from itertools import accumulate, pairwise
from operator import mul
from statistics import median

_COST_WEIGHT = 0.3
_COST_CLAMP = 0.25
_COST_SAMPLES = 3
# The first samples count alike, so that a few bad ones do not switch drafts off for long.
_ACCEPTANCE_WEIGHT = 0.05
_TRUSTED = 10
_PROBE_FIRST, _PROBE_LAST = 4, 512
# A depth of unknown cost is tried only if it would be this much better at the cost of the last known one.
_MIN_IMPROVEMENT = 1.02


class Costs:
    """Seconds of a round by its number of drafts; shared by all sources of drafts for a model."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self._first: dict[int, list[float]] = {}
        self._known: dict[int, float] = {}
        self._previous = 0

    def took(self, drafts: int, seconds: float | None) -> None:
        """Record the time of a round, from its start to the start of the next.

        Args:
            drafts: Number of drafts fed; 0 for an ordinary step.
            seconds: None if other work ran in the meantime, so that the time says nothing.
        """
        # An ordinary step after a round with drafts is not computed ahead, unlike those after it.
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
        """Return the seconds of rounds with 0, 1, ... `drafts` drafts; at least one must have been measured."""
        points = self.measured
        seconds = [self._known[points[0]]] * points[0]
        for below, above in pairwise(points):
            first, slope = self._known[below], (self._known[above] - self._known[below]) / (above - below)
            seconds += [first + slope * step for step in range(above - below)]
        seconds += [self._known[points[-1]]] * (drafts + 1 - len(seconds))
        return seconds[: drafts + 1]


class DraftDepth:
    """Chooses how many drafts of one source to feed."""

    def __init__(self, limit: int, costs: Costs | None = None) -> None:
        """Start with no drafts.

        Args:
            limit: Maximum number of drafts.
            costs: Costs shared with others; None for new ones.
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
        """How often a draft is right if all before it are, for each trusted position from the first on."""
        trusted = next((index for index, count in enumerate(self._samples) if count < _TRUSTED), self.limit)
        return tuple(self._rates[:trusted])

    def observed(self, judged: int, accepted: int) -> None:
        """Record how many tokens of a proposal were right, whether or not it was fed.

        Args:
            judged: How many of its tokens were compared, up to and including the first wrong one.
            accepted: How many of these were right.
        """
        for index in range(min(judged, self.limit)):
            right = float(index < accepted)
            self._samples[index] += 1
            weight = max(1 / self._samples[index], _ACCEPTANCE_WEIGHT)
            self._rates[index] += weight * (right - self._rates[index])

    def planned(self, available: int) -> int:
        """Return the same as `choose`, without counting a round.

        Args:
            available: Number of proposed tokens.
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
        """Return the expected speed-up of the planned number of drafts over none; 1 if none are planned.

        Args:
            available: Number of proposed tokens.
        """
        values = self._values()
        planned = self._planned(available, values)
        return values[min(planned, len(values) - 1)] / values[0] if planned else 1.0

    def choose(self, available: int) -> int:
        """Return how many drafts to feed in a round, and count the round if any tokens are proposed.

        Args:
            available: Number of proposed tokens.
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
            # A proposal too short for a probe leaves the probe to the next one.
            self._rounds += 1
        return chosen

    def _values(self) -> list[float]:
        """Return tokens per second for 0, 1, ... drafts, as far as known; empty before the first cost is known."""
        if 0 not in self.costs.measured:
            return []
        trusted = self.acceptance
        rates = [*trusted, trusted[-1] if trusted else 1.0][: self.limit]
        tokens = accumulate(accumulate(rates, mul), initial=1.0)
        return [expected / seconds for expected, seconds in zip(tokens, self.costs.up_to(len(rates)), strict=True)]

    def _best_of(self, values: list[float]) -> int:
        """Return the smallest number of drafts with the best value, among those up to the largest measured."""
        known = values[: self.costs.measured[-1] + 1]
        return known.index(max(known))

    def _worth_measuring(self, values: list[float]) -> int | None:
        """Return the most promising number of drafts beyond the measured ones, if it may be better than them.

        A few more drafts rarely make up for the fixed cost of a round, so growing one by one could stop before depth
        begins to pay.
        """
        measured = self.costs.measured
        beyond = range(measured[-1] + 1, len(values))
        if not beyond:
            return None
        known = max(values[drafts] for drafts in measured if drafts < len(values))
        promising = max(beyond, key=lambda drafts: values[drafts])
        return promising if values[promising] > known * _MIN_IMPROVEMENT else None
