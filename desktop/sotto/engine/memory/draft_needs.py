"""What a model and its draft model need in memory together, as if they were one: a pure calculation.

Both hold all their weights, and each holds the context in caches of its own. They compute one after the other, except
that a step of the draft model may not have ended when the other model begins.
"""

from dataclasses import replace

from sotto.engine.memory.memory_needs import CacheNeed, ModelNeeds, WorkPoint
from sotto.engine.memory.memory_plan import Limits

# Most tokens that a draft model is fed at a time while it catches up; never more than the other model is.
LARGEST_CHUNK = 512
_DECODE = 1


def beside(limits: Limits, nbytes: int) -> Limits:
    """Return what memory there is beside `nbytes` of another model."""
    return replace(limits, budget=None if limits.budget is None else max(0, limits.budget - nbytes))


def with_draft(needs: ModelNeeds, draft: ModelNeeds) -> ModelNeeds:
    """Return what a model needs together with the one that drafts for it, which is loaded after it.

    Args:
        needs: Of the model that answers; how long contexts may be is up to it.
        draft: Of the model that proposes. Contexts that it was not made for it does not follow to their end.
    """
    unknown = needs.unknown or (f"of the draft model, {draft.unknown}" if draft.unknown else "")
    layers = None
    if needs.layers is not None and draft.layers is not None:
        layers = (*needs.layers, *(_ending(layer, draft.longest_context) for layer in draft.layers))
    return ModelNeeds(
        weight_bytes=needs.weight_bytes + draft.weight_bytes,
        loading_bytes=max(needs.loading_bytes - draft.weight_bytes, draft.loading_bytes),
        layers=layers,
        work=_work(needs, draft),
        longest_context=needs.longest_context,
        unknown=unknown,
        repacked=needs.repacked,
    )


def _ending(layer: CacheNeed, longest: int | None) -> CacheNeed:
    """Return a cache that never holds more than `longest` tokens."""
    if longest is None:
        return layer
    most = -(-longest // layer.step) * layer.step
    return replace(layer, window=most if layer.window is None else min(layer.window, most))


def _work(needs: ModelNeeds, draft: ModelNeeds) -> tuple[WorkPoint, ...]:
    """Return samples of the memory that computing takes: at each size at which one of the two was sampled."""
    if not needs.work or not draft.work:
        return ()
    points = (*needs.work, *draft.work)
    longest = draft.longest_context
    contexts = {point.context for point in points} | ({longest} if longest else set())
    found = []
    for chunk in {point.chunk for point in points} | {LARGEST_CHUNK}:
        for context in {context for context in contexts if context > chunk} | {chunk}:
            followed = min(context, longest) if longest else context
            own = _bytes(needs, context, chunk) + _bytes(draft, followed, _DECODE)
            catching_up = _bytes(draft, followed, min(chunk, LARGEST_CHUNK))
            found.append(WorkPoint(chunk, context, max(own, catching_up)))
    return tuple(found)


def _bytes(needs: ModelNeeds, context: int, chunk: int) -> int:
    return needs.work_bytes(context, chunk) or 0
