"""Whether a model may be loaded, with how long a context, and the loading itself in the stages of a placement."""

from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx

from sotto.engine.contract.options import request_options
from sotto.engine.footprint.layout_search import Answer, place_on_one
from sotto.engine.footprint.model_needs import needs_with_draft
from sotto.engine.footprint.placement import Device, Host, LayerSize, Layout, Needs
from sotto.engine.kernels import native
from sotto.engine.kernels.device import device
from sotto.engine.memory.memory_plan import COMFORTABLE, PREFIX_BUDGET, Limits, Plan, Verdict, plan
from sotto.engine.weights.loader import LoadedModel
from sotto.errors import NoRoomError
from sotto.store.records import ModelSource

# A model that has room for less than this in one conversation is not loaded unless that is what was asked for.
_LEAST_CONTEXT = 1024
# Beside other models one is content with a context of so many tokens, and so much is left to each of them.
SHARED_CONTEXT = 8192
# Weights that are this many times smaller than what there is leave room for anything the model does.
_SMALL = 50
_UNLIMITED = 1 << 62
# What is tried where memory runs out although it seemed to be enough.
_LESS = (32_768, 4096, 1024)


@dataclass(frozen=True, slots=True)
class Fitting:
    """How to load a model.

    Attributes:
        limits: What memory there was before anything was loaded.
        plan: How it will lie in memory; None where it is so small that there is nothing to plan.
        note: Why its context is shorter than it could be, in a sentence; empty where it is not.
        anyway: Whether to load it even though it does not fit.
        shared: How it lies in memory with what is left to it beside others; None where there is nothing to plan.
    """

    limits: Limits
    plan: Plan | None = None
    note: str = ""
    anyway: bool = False
    shared: Plan | None = None

    @property
    def room(self) -> int | None:
        """Most tokens of context that memory has room for; None when that is not known, or does not matter."""
        return self.plan.largest_context if self.plan and not self.anyway else None

    @property
    def shared_cache(self) -> int:
        """Bytes that everything computed for contexts may take while other models are loaded as well."""
        if self.shared is not None and self.shared.cache is not None:
            return self.shared.cache
        return PREFIX_BUDGET if self.limits.budget is None else self.limits.budget // _SMALL

    @property
    def shared_work(self) -> int:
        """Bytes that computing takes then beside that."""
        return (self.shared.work if self.shared else None) or 0

    def prefix_budget(self, weights: int) -> int:
        """Return the bytes for everything that is kept for later prompts, those of running answers included.

        Args:
            weights: Bytes that all weights take.
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
    """Plan the load of a model, with the largest context that fits where none is asked for.

    Args:
        source: An opened model.
        num_ctx: Tokens of context that are asked for; None as the manifest says, or else as many as fit.
        limits: What memory there is.
        kv_bits: Hold keys and values in so many bits; None as they come.
        draft: An opened second model that will be loaded with it; None for none.
        anyway: Load it with the context that is asked for, whether that fits or not.
        roomy: Whether a context that is shorter than `SHARED_CONTEXT` for want of memory is no good.

    Raises:
        NoRoomError: It will not fit, or not with the context that is asked for.
    """
    weights = source.weight_bytes + (draft.weight_bytes if draft else 0)
    if limits.budget is not None and weights * _SMALL < limits.budget:
        return Fitting(limits)
    needs = needs_with_draft(source, draft, limits, native.kernels(), kv_bits)
    asked = num_ctx or usual_context(source)
    made = plan(needs, limits, asked)
    shared = made if asked else plan(needs, limits, min(made.context, SHARED_CONTEXT))
    if made.verdict is not Verdict.WILL_NOT_FIT:
        return Fitting(limits, made, shared=shared)
    if anyway:
        return Fitting(limits, made, anyway=True, shared=shared)
    largest = made.largest_context or 0
    least = min(made.context, SHARED_CONTEXT if roomy else _LEAST_CONTEXT)
    if num_ctx or largest < least:
        least_needed = made if num_ctx else plan(needs, limits, least)
        raise NoRoomError(made.sentence, _missing(least_needed))
    fits = plan(needs, limits, largest)
    return Fitting(limits, fits, made.sentence, shared=fits if asked or largest < SHARED_CONTEXT else shared)


def less_context(source: ModelSource, tried: Fitting) -> int | None:
    """Return the tokens of context to try where memory ran out with those that were planned; None for no fewer."""
    planned = tried.plan.context if tried.plan else usual_context(source) or source.record.context_length
    return next((tokens for tokens in _LESS if planned is None or tokens < planned), None)


def _missing(made: Plan) -> int:
    """Return the bytes that are missing for a plan, as far as its needs are known."""
    needed = made.weights + made.loading if made.needed is None else made.needed
    return max(0, needed - (made.limits.budget or 0))


def usual_context(source: ModelSource) -> int | None:
    """Return the tokens of context that a model's own options ask for; None when they do not."""
    return request_options(source.params, {}).num_ctx


def place_on_one_device(source: ModelSource, fitting: Fitting, load: Callable[[], LoadedModel]) -> LoadedModel:
    """Load a model on the one device there is.

    The whole model counts as one layer: a single device holds all of it, and what is loaded after it as well.

    Args:
        source: An opened model.
        fitting: What was planned for it.
        load: Reads the weights.

    Raises:
        EngineError: It does not fit there.
        SottoError: `load` failed.
    """
    limits = fitting.limits
    free = _UNLIMITED if limits.budget is None or fitting.anyway else limits.budget
    weights, cache, work = source.weight_bytes, 0, 0
    if fitting.plan is not None and fitting.plan.needed is not None:
        weights, cache, work = fitting.plan.weights, fitting.plan.cache or 0, fitting.plan.work or 0
    loaded: list[LoadedModel] = []

    def accept(_: Layout) -> Answer:
        # The plan has counted everything, and MLX takes memory only when it computes.
        return Answer(success=True)

    def commit(_: Layout) -> Answer:
        loaded.append(load())
        return Answer(success=True)

    kind = device()
    chip = None if kind == "cpu" else Device(kind, kind, free, integrated=kind == "metal", graph=work)
    needs = Needs((LayerSize(weights, cache),), LayerSize(0), processor_graph=0 if chip else work)
    total = _UNLIMITED if limits.total is None or fitting.anyway else limits.total
    host = Host(free, total, macos=kind == "metal")
    # The limits leave to others already what a device's usual overhead stands for.
    place_on_one(chip, needs, host, accept, accept, commit, mx.clear_cache, overhead=0)
    return loaded[0]
