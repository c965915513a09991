"""Estimates whether a model fits into the machine's memory, and with how long a context."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from sotto.engine.memory.memory_figures import Measured, MemoryFigures
from sotto.engine.memory.memory_needs import ModelNeeds
from sotto.engine.memory.memory_plan import Limits, Plan, Verdict, plan
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

# Fractions of memory in use from which it counts as tight, and from which a load must be confirmed.
TIGHT_FROM, FULL_FROM = 0.75, 0.85
_CRITICAL = 2
# A model this many times smaller than the available memory fits, however full memory is.
_SMALL = 50
_SHORTEST_CONTEXT = 1024
# A shorter context is never suggested, only used if the user chooses it.
_USEFUL_CONTEXT = 4096
# The longest context to choose from if a model does not state its own.
_DEFAULT_LONGEST_CONTEXT = 131_072


@dataclass(frozen=True, slots=True)
class MemorySample:
    """A measurement of the machine's memory, in bytes.

    Attributes:
        total: All of the memory.
        available: What can be allocated without paging anything out.
        reserve: How much of the available memory is left to other programs.
        shortage: The system's own rating of memory pressure, from 0 for none to 2 for critical.
        allowed: The limit for models that the user has set; None for no limit.
    """

    total: int
    available: int
    reserve: int = 0
    shortage: int = 0
    allowed: int | None = None

    @property
    def known(self) -> bool:
        """Whether the numbers are plausible; they are not if one of them is NaN."""
        return self.total > 0 and 0 <= self.available <= self.total


def sample_memory() -> MemorySample:
    """Measure the machine's memory and read the user's limit; too slow for the window's thread.

    Raises:
        OSError: The system does not report its memory.
    """
    from sotto.engine.contract.engine_settings import chosen_settings
    from sotto.engine.memory.system_memory import SystemMemory

    memory = SystemMemory()
    whole, unreserved = memory.limits(reserve=0), memory.limits()
    total, available = whole.total or 0, whole.budget or 0
    reserve, allowed = total - (unreserved.total or 0), chosen_settings().get("memory_limit")
    return MemorySample(total, available, reserve, int(memory.pressure()), allowed)


class Pressure(Enum):
    """How scarce memory is."""

    NONE = auto()
    TIGHT = auto()
    FULL = auto()
    CRITICAL = auto()


def pressure(sample: MemorySample) -> Pressure:
    """Return how scarce memory is."""
    used = 1 - sample.available / sample.total
    if sample.shortage >= _CRITICAL:
        return Pressure.CRITICAL
    return Pressure.FULL if used >= FULL_FROM else Pressure.TIGHT if used >= TIGHT_FROM else Pressure.NONE


class Fit(StrEnum):
    """Whether a model fits into the memory that is available now; the values are marked for translation."""

    FITS = QT_TR_NOOP("Fits")
    TIGHT = QT_TR_NOOP("Tight")
    NO = QT_TR_NOOP("Does not fit")
    UNKNOWN = QT_TR_NOOP("Unknown")


@dataclass(frozen=True, slots=True)
class MachineMemory:
    """The memory for which a load is planned.

    Attributes:
        sample: The latest measurement; None if there is none.
        held: Bytes held by the engine, which it frees before it loads another model.
    """

    sample: MemorySample | None = None
    held: int = 0

    @property
    def others(self) -> int:
        """Bytes used by other programs."""
        sample = self.sample
        return max(0, sample.total - sample.available - self.held) if sample else 0

    def limits(self, measured: Measured) -> Limits:
        """Return the memory available to a model that replaces the loaded one."""
        sample = self.sample
        if sample is None or not sample.known:
            return Limits(None, None, "")
        budget, total, source = sample.available + self.held, sample.total, "free memory"
        if measured.device_total > 0:
            total = min(total, measured.device_total) if measured.device == "metal" else measured.device_total
            if total < budget or measured.device != "metal":
                budget, source = total, "the memory of the graphics processor"
        limits = Limits(max(0, budget - sample.reserve), max(0, total - sample.reserve), source)
        return limits.within(sample.allowed)


def machine_memory(sample: MemorySample | None, figures: MemoryFigures | None) -> MachineMemory:
    """Combine a measurement of the machine's memory with the engine's own figures."""
    held = max(figures.active + figures.pool, figures.weights + figures.cache) if figures else 0
    return MachineMemory(sample, held)


@dataclass(frozen=True, slots=True)
class Projection:
    """The estimated memory use of a model.

    Attributes:
        fit: Whether the model fits.
        plan: The numbers; None if nothing is known.
        share: The fraction of the machine's memory that would then be in use; None if unknown.
        others: Bytes used by other programs.
        unknown: Why the fit is unknown, in one sentence of English; empty if it is known.
    """

    fit: Fit
    plan: Plan | None = None
    share: float | None = None
    others: int = 0
    unknown: str = ""

    @property
    def reason(self) -> str:
        """Why the fit is unknown, in the user's language as far as Sotto's window says it; empty if it is known."""
        return tr(self.unknown) if self.unknown else ""

    @property
    def needs_confirmation(self) -> bool:
        """Whether the user must see the numbers and confirm before the model is loaded."""
        return self.fit is Fit.NO or (self.fit is Fit.TIGHT and (self.share or 0) >= FULL_FROM)


def project(measured: Measured | None, memory: MachineMemory, context: int | None = None) -> Projection:
    """Estimate the memory use of a model.

    Args:
        measured: What the model needs; None if not known yet.
        memory: The machine's memory.
        context: The chosen context length in tokens; None for the longest that fits well.
    """
    if measured is None or measured.needs is None or measured.needs.weight_bytes <= 0:
        unknown = measured.reason if measured else QT_TR_NOOP("It has not been checked yet.")
        return Projection(Fit.UNKNOWN, unknown=unknown or QT_TR_NOOP("Its size is unknown."))
    needs, limits = measured.needs, memory.limits(measured)
    longest = longest_context(needs)
    if context is not None:
        return _project_context(needs, limits, memory, min(context, longest))
    usual = min(measured.usual_context or longest, longest)
    best = _project_context(needs, limits, memory, usual)
    if best.fit in (Fit.FITS, Fit.UNKNOWN):
        return best
    shorter = (tokens for tokens in reversed(context_steps(needs)) if tokens < usual)
    projections = (best, *(_project_context(needs, limits, memory, tokens) for tokens in shorter))
    shortest = min(_USEFUL_CONTEXT, longest)
    useful = [projection for projection in projections if projection.plan and projection.plan.context >= shortest]
    # The longest context that meets the first criterion that any of them meets.
    criteria: tuple[Callable[[Projection], bool], ...] = (
        lambda projection: projection.fit is Fit.FITS,
        lambda projection: not projection.needs_confirmation,
        lambda projection: projection.fit is Fit.TIGHT,
    )
    return next((projection for meets in criteria for projection in useful if meets(projection)), useful[-1])


def _project_context(needs: ModelNeeds, limits: Limits, memory: MachineMemory, context: int) -> Projection:
    planned = plan(needs, limits, context)
    if planned.verdict is Verdict.UNKNOWN:
        unknown = needs.unknown or QT_TR_NOOP("The amount of memory is unknown.")
        return Projection(Fit.UNKNOWN, planned, None, memory.others, unknown)
    needed = planned.weights + bytes_beside_weights(planned)
    total = memory.sample.total if memory.sample else 0
    share = (memory.others + needed) / total if total else None
    if planned.verdict is Verdict.WILL_NOT_FIT:
        fit = Fit.NO
    elif needed * _SMALL < (limits.budget or 0) or (planned.verdict is Verdict.FITS and (share or 0) < TIGHT_FROM):
        fit = Fit.FITS
    else:
        fit = Fit.TIGHT
    return Projection(fit, planned, share, memory.others)


def bytes_beside_weights(planned: Plan) -> int:
    """Return the bytes that a model would take besides its weights, as far as they are known."""
    return planned.loading if planned.needed is None else max(0, planned.needed - planned.weights)


def longest_context(needs: ModelNeeds) -> int:
    """Return the longest context that can be chosen for a model, in tokens."""
    return needs.longest_context or _DEFAULT_LONGEST_CONTEXT


def context_steps(needs: ModelNeeds) -> tuple[int, ...]:
    """Return the context lengths to choose from: two for each doubling, and the longest."""
    longest, steps, length = longest_context(needs), [], _SHORTEST_CONTEXT
    while length < longest:
        steps += [length, length * 3 // 2]
        length *= 2
    return (*(step for step in steps if step < longest), longest)
