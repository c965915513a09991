"""Whether a model fits into memory, how long a context it can have there, and what would help: a pure calculation.

Nothing is guessed: what is not known of a model's needs makes the verdict unknown. Imports nothing of MLX.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sotto.engine.memory.memory_needs import ModelNeeds

GIB = 2**30
PREFIX_BUDGET = 8 * GIB
CHUNKS = (2048, 1024, 512, 256, 128, 64, 32)
# Up to this share of the budget nobody notices; above the next one, something else the machine does will be paged out.
COMFORTABLE, FULL = 0.85, 0.95
_SMALLEST_CONTEXT = 4
_LONGEST_CONTEXT = 2**31
_WORTH_OFFERING = 256


class Verdict(StrEnum):
    """Whether a model fits."""

    FITS = "fits"
    TIGHT = "tight"
    WILL_NOT_FIT = "will not fit"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Limits:
    """What memory there is for models, in bytes; None where the system does not tell.

    Attributes:
        budget: What may be taken from now on, beside what is taken already.
        total: What there would be if nothing else ran.
        source: Where the numbers come from, in a few words.
    """

    budget: int | None
    total: int | None
    source: str

    def within(self, most: int | None) -> "Limits":
        """Return what is left of this where a person allows `most` bytes; None for all of it."""
        if most is None:
            return self
        total = most if self.total is None else min(self.total, most)
        if self.budget is not None and self.budget <= most:
            return replace(self, total=total)
        return Limits(most, total, "the limit in Settings")


@dataclass(frozen=True, slots=True)
class Relief:
    """Something that would free memory.

    Attributes:
        what: Name of it: a key of what can be reclaimed, `smaller context`, or `other programs`.
        nbytes: How much it would free, or has to; of a smaller context, what it needs less.
        context: The context that would fit then, in tokens.
        enough: Whether that alone lets the model fit.
    """

    what: str
    nbytes: int
    context: int
    enough: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model would lie in memory.

    Attributes:
        verdict: Whether it fits with `context` tokens.
        sentence: The same for people, in one sentence.
        context: Tokens of context that were planned for.
        chunk: Prompt tokens to feed at a time.
        weights: Bytes of the weights.
        cache: Bytes of the caches of a full context; None when not known.
        work: Bytes beside these while computing; None when not known.
        loading: Bytes beside the weights while loading.
        needed: The most of all this that is held at once; None when not known.
        prefix_budget: Bytes left for keeping what was computed before.
        largest_context: Most tokens that fit; 0 when not even the weights do, None when not known.
        reliefs: What would free enough, or some of it, each by itself; empty unless it will not fit.
        limits: What it was held against.
        repacked: How the types of a GGUF file are held, for people; empty where weights stay as they are stored.
    """

    verdict: Verdict
    sentence: str
    context: int
    chunk: int
    weights: int
    cache: int | None
    work: int | None
    loading: int
    needed: int | None
    prefix_budget: int
    largest_context: int | None
    reliefs: tuple[Relief, ...]
    limits: Limits
    repacked: str = ""


def plan(
    needs: ModelNeeds,
    limits: Limits,
    num_ctx: int | None = None,
    chunk: int = CHUNKS[0],
    prefix_budget: int = PREFIX_BUDGET,
    reclaimable: Mapping[str, int] | None = None,
) -> Plan:
    """Plan a model.

    Args:
        needs: What it needs.
        limits: What there is.
        num_ctx: Tokens of context that are wanted; None as many as the model was made for.
        chunk: The most prompt tokens to feed at a time.
        prefix_budget: The most to keep of what was computed before.
        reclaimable: Bytes that could be freed, by what they are now.
    """
    longest = needs.longest_context or _LONGEST_CONTEXT
    context = max(_SMALLEST_CONTEXT, min(num_ctx or needs.longest_context or _SMALLEST_CONTEXT, longest))
    chunks = tuple(size for size in CHUNKS if size < chunk) if chunk > CHUNKS[-1] else ()
    chunks = (chunk, *chunks)
    budget = limits.budget
    used = _chunk(needs, context, chunks, budget)
    needed = _peak_bytes(needs, context, used)
    largest = None if budget is None else _largest(needs, budget, chunks[-1], longest)
    verdict = _verdict(needs, needed, budget)
    left = 0
    # An encoder has no caches, so that nothing is kept for later.
    caches = needs.layers != ()
    if caches and verdict in (Verdict.FITS, Verdict.TIGHT) and needed is not None and budget is not None:
        left = max(0, min(prefix_budget, int(budget * COMFORTABLE) - needed))
    reliefs: tuple[Relief, ...] = ()
    if verdict is Verdict.WILL_NOT_FIT and budget is not None:
        reliefs = tuple(_reliefs(needs, limits, budget, context, chunks[-1], longest, largest, reclaimable or {}))
    return Plan(
        verdict=verdict,
        sentence=_sentence(verdict, needs, limits, context, used, needed, largest, reliefs),
        context=context,
        chunk=used,
        weights=needs.weight_bytes,
        cache=needs.cache_bytes(context),
        work=needs.work_bytes(context, min(used, context)),
        loading=needs.loading_bytes,
        needed=needed,
        prefix_budget=left,
        largest_context=largest,
        reliefs=reliefs,
        limits=limits,
        repacked=needs.repacked,
    )


def _peak_bytes(needs: ModelNeeds, context: int, chunk: int) -> int | None:
    """Return the most that is held at once, or None when it is not known; never less for a longer context."""
    cache, work = needs.cache_bytes(context), needs.work_bytes(context, min(chunk, context))
    if cache is None or work is None:
        return None
    return needs.weight_bytes + max(needs.loading_bytes, cache + work)


def _chunk(needs: ModelNeeds, context: int, chunks: Sequence[int], budget: int | None) -> int:
    """Return the largest chunk that leaves some room, else the largest that leaves a little, else the smallest."""
    if budget is None or _peak_bytes(needs, context, chunks[0]) is None:
        return chunks[0]
    for share in (COMFORTABLE, FULL):
        for size in chunks:
            needed = _peak_bytes(needs, context, size)
            if needed is not None and needed <= budget * share:
                return size
    return chunks[-1]


def _verdict(needs: ModelNeeds, needed: int | None, budget: int | None) -> Verdict:
    if budget is None:
        return Verdict.UNKNOWN
    if needed is None:
        # What is known may be too much already.
        known = needs.weight_bytes + needs.loading_bytes
        return Verdict.WILL_NOT_FIT if known > budget else Verdict.UNKNOWN
    if needed > budget:
        return Verdict.WILL_NOT_FIT
    return Verdict.FITS if needed <= budget * COMFORTABLE else Verdict.TIGHT


def _largest(needs: ModelNeeds, budget: int, chunk: int, longest: int) -> int | None:
    """Return the most tokens whose need is within `budget`; 0 when there are none."""
    fewest = min(_SMALLEST_CONTEXT, longest)
    if (least := _peak_bytes(needs, fewest, chunk)) is None:
        return 0 if needs.weight_bytes + needs.loading_bytes > budget else None
    if least > budget:
        return 0

    def too_much(context: int) -> bool:
        needed = _peak_bytes(needs, context, chunk)
        return needed is None or needed > budget

    # The need never falls, so what fits is everything before some length.
    return bisect_right(range(fewest, longest + 1), False, key=too_much) + fewest - 1


def _reliefs(
    needs: ModelNeeds,
    limits: Limits,
    budget: int,
    context: int,
    chunk: int,
    longest: int,
    largest: int | None,
    reclaimable: Mapping[str, int],
) -> Iterable[Relief]:
    needed = _peak_bytes(needs, context, chunk)
    least = needs.weight_bytes + needs.loading_bytes if needed is None else needed

    def of(what: str, nbytes: int) -> Relief:
        reached = _largest(needs, budget + nbytes, chunk, longest) or 0
        return Relief(what, nbytes, min(reached, longest), needed is not None and needed <= budget + nbytes)

    for what, nbytes in sorted(reclaimable.items(), key=lambda item: -item[1]):
        if nbytes > 0:
            yield of(what, nbytes)
    if largest is not None and _WORTH_OFFERING <= largest < context and needed is not None:
        yield Relief("smaller context", needed - (_peak_bytes(needs, largest, chunk) or 0), largest, True)
    missing = least - budget
    if missing > 0 and limits.total is not None and least <= limits.total:
        yield of("other programs", missing)


def _sentence(
    verdict: Verdict,
    needs: ModelNeeds,
    limits: Limits,
    context: int,
    chunk: int,
    needed: int | None,
    largest: int | None,
    reliefs: Sequence[Relief],
) -> str:
    tokens = f"{context:,} tokens"
    if verdict is Verdict.UNKNOWN:
        why = needs.unknown or "the system does not tell how much memory there is."
        return f"Whether it fits is not known: {why}"
    assert limits.budget is not None
    there = f"{_size(limits.budget)} can be used ({limits.source})"
    if needed is None or verdict is Verdict.WILL_NOT_FIT:
        least = needs.weight_bytes + needs.loading_bytes if needed is None else needed
        loading = needs.weight_bytes + needs.loading_bytes
        what = "The weights alone take" if loading > limits.budget else f"With {tokens} it takes"
        least = loading if loading > limits.budget else least
        return f"{what} {_size(least)} and only {there}{_help(reliefs, largest)}."
    if verdict is Verdict.TIGHT:
        return f"It fits, but barely: with {tokens} it takes {_size(needed)} and {there}."
    slower = "" if chunk >= min(CHUNKS[0], context) else f", reading prompts {chunk} tokens at a time"
    return f"It fits: with {tokens} it takes {_size(needed)}{slower}, and {there}."


def _help(reliefs: Sequence[Relief], largest: int | None) -> str:
    """Return what to do, as the end of a sentence."""
    for relief in reliefs:
        if relief.what == "smaller context":
            return f"; a context of {relief.context:,} tokens would fit"
        if relief.enough and relief.what == "other programs":
            return f"; close other programs that hold {_size(relief.nbytes)}"
        if relief.enough:
            return f"; freeing {relief.what} ({_size(relief.nbytes)}) would be enough"
    return "" if largest else "; choose a smaller model or one with fewer bits"


def _size(nbytes: int) -> str:
    return f"{nbytes / 1e9:.1f} GB" if nbytes >= 999_500_000 else f"{nbytes / 1e6:.0f} MB"
