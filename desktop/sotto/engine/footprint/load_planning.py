"""Planning of loads: whether a model fits, with which context length, and on which device its layers go."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import mlx.core as mx

from sotto.engine.config.supported_models import is_encoder
from sotto.engine.contract.options import request_options
from sotto.engine.footprint.layout_search import Answer, place_on_one
from sotto.engine.footprint.model_needs import needs_with_draft
from sotto.engine.footprint.placement import Device, Host, LayerSize, Layout, Needs
from sotto.engine.kernels import native
from sotto.engine.kernels.device import compute_dtype, device
from sotto.engine.memory.memory_needs import ModelNeeds
from sotto.engine.memory.memory_plan import (
    CHUNKS,
    COMFORTABLE,
    PREFIX_BUDGET,
    Limits,
    Plan,
    Verdict,
    offered_context,
    plan,
)
from sotto.engine.memory.shape_needs import shape_needs
from sotto.engine.weights.loader import LoadedModel
from sotto.errors import NoRoomError
from sotto.store.records import ModelSource

# A model whose context would be shorter than this is not loaded unless that was requested.
_LEAST_CONTEXT = 1024
# Beside other models, a context of so many tokens is enough, and as much stays reserved for each of them.
SHARED_CONTEXT = 8192
# Weights this many times smaller than the available memory need no plan.
_SMALL = 50
# What fits into this share of the available memory by a rough estimate needs no exact plan.
_ROOMY = 0.5
_WIDENED = 2
_UNLIMITED = 1 << 62
# Contexts to try if memory runs out unexpectedly.
_LESS = (32_768, 4096, 1024)


@dataclass(frozen=True, slots=True)
class Fitting:
    """The decision how to load a model.

    Attributes:
        limits: The memory that was available before the load.
        plan: Its memory plan; None if it is so small that it needs none.
        note: Why its context is shorter than possible, in a sentence; empty if it is not.
        anyway: Whether to load it even though it does not fit.
        shared: Its memory plan with its share beside other models; None if it needs none.
    """

    limits: Limits
    plan: Plan | None = None
    note: str = ""
    anyway: bool = False
    shared: Plan | None = None

    @property
    def room(self) -> int | None:
        """Maximum context length to use for the sake of memory, in tokens; None if unknown or irrelevant."""
        if self.plan is None or self.anyway:
            return None
        return self.plan.context if self.note else self.plan.largest_context

    @property
    def largest_image(self) -> int | None:
        """Pixels of the largest image that memory has room for; None if unknown or irrelevant."""
        return None if self.plan is None or self.anyway else self.plan.largest_image

    @property
    def shared_cache(self) -> int:
        """Bytes that its caches may take while other models are loaded."""
        if self.shared is not None and self.shared.cache is not None:
            return self.shared.cache
        return PREFIX_BUDGET if self.limits.budget is None else self.limits.budget // _SMALL

    @property
    def shared_work(self) -> int:
        """Bytes that computing needs in addition while other models are loaded."""
        return (self.shared.work if self.shared else None) or 0

    def prefix_budget(self, weights: int) -> int:
        """Return the budget of the prefix cache in bytes, including the caches of running answers.

        Args:
            weights: Bytes of all weights.
        """
        if self.limits.budget is None:
            return PREFIX_BUDGET
        work = (self.plan.work if self.plan else None) or 0
        return max(0, min(PREFIX_BUDGET, int(self.limits.budget * COMFORTABLE) - weights - work))


def plan_load(
    source: ModelSource,
    num_ctx: int | None,
    limits: Limits,
    kv_bits: int | None = None,
    draft: ModelSource | None = None,
    *,
    anyway: bool = False,
    roomy: bool = False,
) -> Fitting:
    """Plan the load of a model, with the largest context that fits unless one is requested.

    Args:
        source: An opened model.
        num_ctx: Requested context length in tokens; None for the manifest's or, without one, the largest that fits.
        limits: The available memory.
        kv_bits: Bits of keys and values; None leaves them as computed.
        draft: An opened draft model to load with it; None for none.
        anyway: Load it with the requested context even if it does not fit.
        roomy: Whether a context shorter than `SHARED_CONTEXT` for lack of memory is not acceptable.

    Raises:
        NoRoomError: It does not fit, or not with the requested context.
    """
    weights = source.weight_bytes + (draft.weight_bytes if draft else 0)
    if limits.budget is not None and weights * _SMALL < limits.budget:
        return Fitting(limits)
    asked = num_ctx or usual_context(source)
    needs = _estimated(source, asked, limits) if draft is None else None
    if needs is None:
        needs = needs_with_draft(source, draft, limits, native.kernels(), kv_bits)
    made = plan(needs, limits, asked)
    shared = made if asked else plan(needs, limits, min(made.context, SHARED_CONTEXT))
    if made.verdict is not Verdict.WILL_NOT_FIT:
        return Fitting(limits, made, shared=shared)
    if anyway:
        return Fitting(limits, made, anyway=True, shared=shared)
    offered = offered_context(needs, limits.budget or 0)
    least = min(made.context, SHARED_CONTEXT if roomy else _LEAST_CONTEXT)
    if num_ctx or offered < least:
        least_needed = made if num_ctx else plan(needs, limits, least)
        raise NoRoomError(made.sentence, _missing(least_needed))
    fits = plan(needs, limits, offered)
    return Fitting(limits, fits, made.sentence, shared=fits if asked or offered < SHARED_CONTEXT else shared)


def _estimated(source: ModelSource, asked: int | None, limits: Limits) -> ModelNeeds | None:
    """Return the needs of a model as its config tells them, if these leave so much memory that they suffice.

    Tracing its computation takes more than a second, during which nothing else can begin.
    """
    if limits.budget is None or is_encoder(source.config) or "vision_config" in source.config or source.adapters:
        return None
    size = (compute_dtype() or mx.float16).size
    needs = shape_needs(source.config, source.weight_bytes, size)
    # Weights may be widened.
    most = replace(needs, weight_bytes=_WIDENED * source.weight_bytes)
    made = plan(most, replace(limits, budget=int(limits.budget * _ROOMY)), asked)
    return needs if made.verdict is Verdict.FITS and made.chunk == CHUNKS[0] else None


def less_context(source: ModelSource, tried: Fitting) -> int | None:
    """Return the context length to try after memory ran out with the planned one; None if there is none left."""
    planned = tried.plan.context if tried.plan else usual_context(source) or source.record.context_length
    return next((tokens for tokens in _LESS if planned is None or tokens < planned), None)


def _missing(made: Plan) -> int:
    """Return the bytes that a plan lacks, as far as its needs are known."""
    needed = made.weights + made.loading if made.needed is None else made.needed
    return max(0, needed - (made.limits.budget or 0))


def usual_context(source: ModelSource) -> int | None:
    """Return the context length of a model's own options, in tokens; None if they have none."""
    return request_options(source.params, {}).num_ctx


def place_on_one_device(source: ModelSource, fitting: Fitting, load: Callable[[], LoadedModel]) -> LoadedModel:
    """Load a model on the only device.

    The whole model counts as one layer, because a single device holds all of it.

    Args:
        source: An opened model.
        fitting: The plan of its load.
        load: Reads the weights.

    Raises:
        EngineError: It does not fit.
        SottoError: `load` failed.
    """
    limits = fitting.limits
    free = _UNLIMITED if limits.budget is None or fitting.anyway else limits.budget
    weights, cache, work = source.weight_bytes, 0, 0
    if fitting.plan is not None and fitting.plan.needed is not None:
        weights, cache, work = fitting.plan.weights, fitting.plan.cache or 0, fitting.plan.work or 0
    loaded: list[LoadedModel] = []

    def accept(_: Layout) -> Answer:
        # The plan has counted everything, and MLX allocates only when it computes.
        return Answer(success=True)

    def commit(_: Layout) -> Answer:
        loaded.append(load())
        return Answer(success=True)

    kind = device()
    chip = None if kind == "cpu" else Device(kind, kind, free, integrated=kind == "metal", graph=work)
    needs = Needs((LayerSize(weights, cache),), LayerSize(0), processor_graph=0 if chip else work)
    total = _UNLIMITED if limits.total is None or fitting.anyway else limits.total
    host = Host(free, total, macos=kind == "metal")
    # The limits already account for the usual overhead of a device.
    place_on_one(chip, needs, host, accept, accept, commit, mx.clear_cache, overhead=0)
    return loaded[0]
