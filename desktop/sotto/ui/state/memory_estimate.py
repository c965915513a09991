"""The machine's memory as the window knows it, and how a model would lie in it: values, and nothing that draws."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.engine.memory.memory_needs import ModelNeeds
from sotto.engine.memory.memory_plan import Limits, Plan, Verdict, plan

# Shares of memory from which it is called tight, and from which a load is asked about.
TIGHT_FROM, FULL_FROM = 0.75, 0.85
_CRITICAL = 2
# A model that is this many times smaller than what there is changes nothing.
_SMALL = 50
_SHORTEST = 1024
# A context that is shorter than this is not offered unless somebody chooses it.
_USEFUL = 4096
_UNTOLD = 131_072


@dataclass(frozen=True, slots=True)
class Sample:
    """The machine's memory, in bytes.

    Attributes:
        total: What there is.
        available: What can be taken without paging anything out.
        reserve: How much of that is left to others.
        shortage: How short memory is by the system's own account: 0 is not at all, 2 is critically.
        allowed: What models may be planned with at most, as chosen in the settings; None for all of it.
    """

    total: int
    available: int
    reserve: int = 0
    shortage: int = 0
    allowed: int | None = None

    @property
    def known(self) -> bool:
        """Whether these numbers make sense; also false for one that is no number."""
        return self.total > 0 and 0 <= self.available <= self.total


def sample() -> Sample:
    """Ask the system, and the settings. Slow enough to be called off the window's thread.

    Raises:
        OSError: It does not tell.
    """
    from sotto.engine.contract.engine_settings import chosen_settings
    from sotto.engine.memory.system_memory import SystemMemory

    memory = SystemMemory()
    there, free = memory.limits(reserve=0), memory.limits()
    total, available = there.total or 0, there.budget or 0
    reserve, allowed = total - (free.total or 0), chosen_settings().get("memory_limit")
    return Sample(total, available, reserve, int(memory.pressure()), allowed)


def pressure(of: Sample) -> str:
    """Return in words how tight memory is."""
    used = 1 - of.available / of.total
    if of.shortage >= _CRITICAL:
        return "critical"
    return "nearly full" if used >= FULL_FROM else "getting tight" if used >= TIGHT_FROM else "plenty free"


class Fit(StrEnum):
    """Whether a model fits into the machine as it is now."""

    FITS = "Fits"
    TIGHT = "Tight"
    NO = "Does not fit"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class Memory:
    """What a plan is made for.

    Attributes:
        sample: The machine's memory; None when it could not be read.
        held: Bytes of it that the engine holds, and gives back before it loads another model.
    """

    sample: Sample | None = None
    held: int = 0

    @property
    def others(self) -> int:
        """Bytes that other programs use."""
        taken = self.sample
        return max(0, taken.total - taken.available - self.held) if taken else 0

    def limits(self, measured: Measured) -> Limits:
        """Return what there is for a model in place of the one that is loaded."""
        taken = self.sample
        if taken is None or not taken.known:
            return Limits(None, None, "")
        budget, total, source = taken.available + self.held, taken.total, "what other programs leave free"
        if measured.device_total > 0:
            total = min(total, measured.device_total) if measured.device == "metal" else measured.device_total
            if total < budget or measured.device != "metal":
                budget, source = total, "what the graphics processor can hold"
        there = Limits(max(0, budget - taken.reserve), max(0, total - taken.reserve), source)
        return there.within(taken.allowed)


def memory_of(taken: Sample | None, figures: MemoryFigures | None) -> Memory:
    """Return what there is when the engine holds so much."""
    return Memory(taken, max(figures.active + figures.pool, figures.weights + figures.cache) if figures else 0)


@dataclass(frozen=True, slots=True)
class Projection:
    """How a model would lie in memory.

    Attributes:
        fit: Whether it fits.
        plan: The numbers; None when nothing is known.
        share: The share of the machine's memory that would be in use then; None when not known.
        others: Bytes that other programs use.
        reason: Why it is not known, in one sentence; empty when it is.
    """

    fit: Fit
    plan: Plan | None = None
    share: float | None = None
    others: int = 0
    reason: str = ""

    @property
    def asks(self) -> bool:
        """Whether the model is loaded only after somebody has seen the numbers."""
        return self.fit is Fit.NO or (self.fit is Fit.TIGHT and (self.share or 0) >= FULL_FROM)


def projected(measured: Measured | None, memory: Memory, context: int | None = None) -> Projection:
    """Say how a model would lie in memory.

    Args:
        measured: What it needs; None when that is not known yet.
        memory: What there is.
        context: Tokens of context that were chosen; None for as many as fit well.
    """
    if measured is None or measured.needs is None or measured.needs.weight_bytes <= 0:
        reason = measured.reason if measured else "It has not been looked at yet."
        return Projection(Fit.UNKNOWN, reason=reason or "Its files do not say how large it is.")
    needs, limits = measured.needs, memory.limits(measured)
    longest = longest_context(needs)
    if context is not None:
        return _projected(needs, limits, memory, min(context, longest))
    usual = min(measured.usual_context or longest, longest)
    best = _projected(needs, limits, memory, usual)
    if best.fit in (Fit.FITS, Fit.UNKNOWN):
        return best
    shorter = [_projected(needs, limits, memory, tokens) for tokens in reversed(context_steps(needs)) if tokens < usual]
    useful = [one for one in (best, *shorter) if one.plan and one.plan.context >= min(_USEFUL, longest)]
    wishes: tuple[Callable[[Projection], bool], ...] = (
        lambda one: one.fit is Fit.FITS,
        lambda one: not one.asks,
        lambda one: one.fit is Fit.TIGHT,
    )
    return next((one for wish in wishes for one in useful if wish(one)), useful[-1])


def _projected(needs: ModelNeeds, limits: Limits, memory: Memory, context: int) -> Projection:
    made = plan(needs, limits, context)
    if made.verdict is Verdict.UNKNOWN:
        reason = needs.unknown or "The system does not tell how much memory there is."
        return Projection(Fit.UNKNOWN, made, None, memory.others, reason)
    needed = made.weights + beside_weights(made)
    total = memory.sample.total if memory.sample else 0
    share = (memory.others + needed) / total if total else None
    if made.verdict is Verdict.WILL_NOT_FIT:
        fit = Fit.NO
    elif needed * _SMALL < (limits.budget or 0) or (made.verdict is Verdict.FITS and (share or 0) < TIGHT_FROM):
        fit = Fit.FITS
    else:
        fit = Fit.TIGHT
    return Projection(fit, made, share, memory.others)


def beside_weights(made: Plan) -> int:
    """Return what a model would take beside its weights, as far as that is known."""
    return made.loading if made.needed is None else max(0, made.needed - made.weights)


def longest_context(needs: ModelNeeds) -> int:
    """Return the most tokens that can be chosen for a model."""
    return needs.longest_context or _UNTOLD


def context_steps(needs: ModelNeeds) -> tuple[int, ...]:
    """Return the lengths of context to choose from: two for each doubling, and the longest."""
    longest, steps, length = longest_context(needs), [], _SHORTEST
    while length < longest:
        steps += [length, length * 3 // 2]
        length *= 2
    return (*(step for step in steps if step < longest), longest)
