"""The combined memory needs of a model and its draft model; a pure calculation.

Both hold all their weights, and each has its own caches of the context. They compute in turn, except that a step of the
draft model may still run when the main model begins. Only the main model sees images.
"""

from dataclasses import replace

from sotto.engine.memory.memory_needs import CacheNeed, ModelNeeds, WorkPoint
from sotto.engine.memory.memory_plan import Limits

# Maximum tokens of a chunk of a draft model that catches up; never more than that of the main model.
LARGEST_CHUNK = 512
_DECODE = 1


def beside(limits: Limits, nbytes: int) -> Limits:
    """Return the limits reduced by `nbytes` of another model."""
    return replace(limits, budget=None if limits.budget is None else max(0, limits.budget - nbytes))


def with_draft(needs: ModelNeeds, draft: ModelNeeds) -> ModelNeeds:
    """Return the needs of a model together with its draft model, which is loaded after it.

    Args:
        needs: Needs of the main model, which determines the longest context.
        draft: Needs of the draft model, which does not follow contexts beyond its own maximum.
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
        sight=needs.sight,
    )


def _ending(layer: CacheNeed, longest: int | None) -> CacheNeed:
    """Limit a cache to `longest` tokens."""
    if longest is None:
        return layer
    most = -(-longest // layer.step) * layer.step
    return replace(layer, window=most if layer.window is None else min(layer.window, most))


def _work(needs: ModelNeeds, draft: ModelNeeds) -> tuple[WorkPoint, ...]:
    """Return samples of the work memory at all sizes at which either model was sampled."""
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
    return needs.text_work_bytes(context, chunk) or 0
