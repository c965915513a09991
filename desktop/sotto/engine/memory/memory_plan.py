"""The memory plan of a model: whether it fits, with how long a context, and what would help; a pure calculation.

Nothing is guessed: if any of a model's needs is unknown, so is the verdict. Does not import MLX.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sotto.engine.memory.memory_needs import USUAL_IMAGE, ModelNeeds

GIB = 2**30
PREFIX_BUDGET = 8 * GIB
CHUNKS = (2048, 1024, 512, 256, 128, 64, 32)
# Up to the first share of the budget, other programs are unaffected; above the second, some will be paged out.
COMFORTABLE, FULL = 0.85, 0.95
_SMALLEST_CONTEXT = 4
_LONGEST_CONTEXT = 2**31
_WORTH_OFFERING = 256
# The share of the longest context that is kept where a shorter one leaves room to read prompts in larger chunks. Small
# chunks read all weights more often, which makes prompts several times slower on a GPU.
_WORTH_LARGE_CHUNKS = 0.9


class Verdict(StrEnum):
    """Whether a model fits."""

    FITS = "fits"
    TIGHT = "tight"
    WILL_NOT_FIT = "will not fit"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Limits:
    """The memory available for models, in bytes; None if the system does not tell.

    Attributes:
        budget: Memory that may be taken now, in addition to what is taken already.
        total: Memory that could be taken if nothing else ran.
        source: What the numbers are limited by, in a few words.
    """

    budget: int | None
    total: int | None
    source: str

    def within(self, most: int | None) -> "Limits":
        """Return these limits reduced to the `most` bytes that the user allows; None for no such limit."""
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
        what: Its name: a key of the reclaimable memory, `smaller context`, or `other programs`.
        nbytes: Bytes that it would free, or must free; for a smaller context, the bytes saved.
        context: The context that would then fit, in tokens.
        enough: Whether the model fits with this alone.
    """

    what: str
    nbytes: int
    context: int
    enough: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """The memory plan of a model.

    Attributes:
        verdict: Whether it fits with `context` tokens.
        sentence: The verdict for people, in one sentence.
        context: The planned context in tokens.
        chunk: Prompt tokens to feed at a time.
        weights: Bytes of the weights.
        cache: Bytes of the caches of a full context; None if unknown.
        work: Further bytes while computing; None if unknown.
        loading: Further bytes while loading.
        needed: Peak of the sum of these; None if unknown.
        prefix_budget: Bytes left for the prefix cache.
        largest_context: Longest context that fits, in tokens; 0 if not even the weights fit, None if unknown.
        reliefs: Ways to free memory, each by itself; empty unless the model will not fit.
        limits: The limits that it was planned for.
        repacked: How the types of a GGUF file are held, for people; empty if weights stay as they are stored.
        largest_image: Pixels of the largest image that fits beside all that; None for any, for none, or if unknown.
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
    largest_image: int | None = None


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
        needs: Its needs.
        limits: The available memory.
        num_ctx: Requested context length in tokens; None for the longest that it supports.
        chunk: Maximum prompt tokens to feed at a time.
        prefix_budget: Maximum bytes of the prefix cache.
        reclaimable: Bytes that could be freed, by their present use.
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
    # An encoder has no caches, and so no prefix cache.
    caches = needs.layers != ()
    if caches and verdict in (Verdict.FITS, Verdict.TIGHT) and needed is not None and budget is not None:
        left = max(0, min(prefix_budget, int(budget * COMFORTABLE) - needed))
    reliefs: tuple[Relief, ...] = ()
    if verdict is Verdict.WILL_NOT_FIT and budget is not None:
        reliefs = tuple(_reliefs(needs, limits, budget, context, chunks, longest, reclaimable or {}))
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
        largest_image=None if budget is None else _largest_image(needs, budget, context, used),
    )


def _peak_bytes(needs: ModelNeeds, context: int, chunk: int, pixels: int = USUAL_IMAGE) -> int | None:
    """Return the peak bytes, or None if unknown; never less for a longer context, or for a larger image."""
    cache, work = needs.cache_bytes(context), needs.work_bytes(context, min(chunk, context), pixels)
    if cache is None or work is None:
        return None
    return needs.weight_bytes + max(needs.loading_bytes, cache + work)


def _chunk(needs: ModelNeeds, context: int, chunks: Sequence[int], budget: int | None) -> int:
    """Return the largest chunk that fits comfortably, else the largest that fits, else the smallest."""
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
        # The known needs alone may be too much.
        known = needs.weight_bytes + needs.loading_bytes
        return Verdict.WILL_NOT_FIT if known > budget else Verdict.UNKNOWN
    if needed > budget:
        return Verdict.WILL_NOT_FIT
    return Verdict.FITS if needed <= budget * COMFORTABLE else Verdict.TIGHT


def _largest(needs: ModelNeeds, budget: int, chunk: int, longest: int) -> int | None:
    """Return the longest context within `budget`, in tokens; 0 if there is none, None if unknown."""
    fewest = min(_SMALLEST_CONTEXT, longest)
    if (least := _peak_bytes(needs, fewest, chunk)) is None:
        return 0 if needs.weight_bytes + needs.loading_bytes > budget else None
    if least > budget:
        return 0

    def too_much(context: int) -> bool:
        needed = _peak_bytes(needs, context, chunk)
        return needed is None or needed > budget

    # Needs never decrease with the context, so a binary search finds the limit.
    return bisect_right(range(fewest, longest + 1), False, key=too_much) + fewest - 1


def _largest_image(needs: ModelNeeds, budget: int, context: int, chunk: int) -> int | None:
    """Return the pixels of the largest image within `budget`; None if all images are."""
    if not needs.sight:
        return None
    most = needs.sight[-1].pixels

    def too_much(pixels: int) -> bool:
        needed = _peak_bytes(needs, context, chunk, pixels)
        return needed is not None and needed > budget * FULL

    # There is room for those up to the usual size, or the model would not be loaded.
    least = min(USUAL_IMAGE, most)
    if not too_much(most):
        return None
    return max(least, bisect_right(range(least, most), False, key=too_much) + least - 1)


def offered_context(needs: ModelNeeds, budget: int, chunks: Sequence[int] = CHUNKS) -> int:
    """Return the context to use where the requested one does not fit, in tokens; 0 if there is none.

    It leaves a little memory for other programs, and room to read prompts in large chunks if that costs few tokens.

    Args:
        needs: The needs of the model.
        budget: The available bytes.
        chunks: Prompt tokens to feed at a time, the largest first.
    """
    longest = needs.longest_context or _LONGEST_CONTEXT
    least = (_largest(needs, int(budget * FULL), chunks[-1], longest) or 0) * _WORTH_LARGE_CHUNKS
    reached = (_largest(needs, int(budget * FULL), size, longest) or 0 for size in chunks)
    return next(context for context in reached if context >= least)


def _reliefs(
    needs: ModelNeeds,
    limits: Limits,
    budget: int,
    context: int,
    chunks: Sequence[int],
    longest: int,
    reclaimable: Mapping[str, int],
) -> Iterable[Relief]:
    chunk = chunks[-1]
    needed = _peak_bytes(needs, context, chunk)
    least = needs.weight_bytes + needs.loading_bytes if needed is None else needed
    offered = offered_context(needs, budget, chunks)

    def of(what: str, nbytes: int) -> Relief:
        reached = _largest(needs, budget + nbytes, chunk, longest) or 0
        return Relief(what, nbytes, min(reached, longest), needed is not None and needed <= budget + nbytes)

    for what, nbytes in sorted(reclaimable.items(), key=lambda item: -item[1]):
        if nbytes > 0:
            yield of(what, nbytes)
    if _WORTH_OFFERING <= offered < context and needed is not None:
        yield Relief("smaller context", needed - (_peak_bytes(needs, offered, chunk) or 0), offered, True)
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
    """Return the end of the sentence, which says what would help."""
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
