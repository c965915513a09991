"""Memory sharing between loaded models: what each may use, and what all of them hold.

A model that is alone keeps as much for later prompts as memory has room for. Beside others, each keeps at most what one
conversation of `SHARED_CONTEXT` tokens (or of the requested context) takes, and that much stays reserved for it when
another model is planned. Everything here must run on the thread that owns MLX.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

import mlx.core as mx

from sotto.engine.contract.events import ModelInfo
from sotto.engine.contract.failure_events import is_out_of_memory
from sotto.engine.kernels.device import wire
from sotto.engine.memory.memory_figures import MemoryFigures, ModelFigures
from sotto.engine.memory.memory_plan import Limits
from sotto.errors import NoRoomError


class SharesMemory(Protocol):
    """An engine that shares memory with others."""

    @property
    def info(self) -> ModelInfo | None:
        """The loaded model, or None."""

    @property
    def held(self) -> int:
        """Bytes of the weights, and of everything computed for contexts."""

    @property
    def reserve(self) -> int:
        """Bytes reserved for this model while others are loaded, beyond what it holds."""

    def share(self, *, alone: bool) -> None:
        """Set the prefix cache's budget: all that memory has room for if alone, else one model's share."""

    def memory(self) -> MemoryFigures:
        """Return what MLX holds now."""


def beside(limits: Limits, most: int | None, others: Iterable[SharesMemory]) -> Limits:
    """Return the limits for one more model, after shrinking the others to their shares.

    Args:
        limits: The memory that is available now.
        most: Bytes the user allows for all models together; None for no such limit.
        others: The engines with models loaded now.
    """
    taken = reserved = 0
    for other in others:
        other.share(alone=False)
        taken += other.held + other.reserve
        reserved += other.reserve
    if limits.budget is not None:
        limits = replace(limits, budget=max(0, limits.budget - reserved))
    return limits.within(None if most is None else max(0, most - taken))


def settle(engines: Iterable[SharesMemory]) -> None:
    """Set each engine's share of memory after a model was loaded or unloaded."""
    loaded = [engine for engine in engines if engine.info is not None]
    for engine in loaded:
        engine.share(alone=len(loaded) == 1)
    wire(sum(engine.memory().weights for engine in loaded))


def is_shortage(error: BaseException, others: Iterable[SharesMemory]) -> bool:
    """Return whether a load failed for lack of memory and unloading others may free enough."""
    theirs = sum(other.held + other.reserve for other in others)
    if isinstance(error, NoRoomError):
        return 0 < error.missing <= theirs
    return theirs > 0 and is_out_of_memory(error)


def figures(engines: Mapping[str, SharesMemory]) -> MemoryFigures:
    """Return what MLX holds now, in all and for each engine by its seat."""
    each = {seat: engine.memory() for seat, engine in engines.items() if engine.info is not None}
    return MemoryFigures(
        weights=sum(held.weights for held in each.values()),
        cache=sum(held.cache for held in each.values()),
        active=mx.get_active_memory(),
        pool=mx.get_cache_memory(),
        peak=mx.get_peak_memory(),
        budget=sum(held.budget for held in each.values()),
        live=sum(held.live for held in each.values()),
        models=tuple(ModelFigures(seat, held.weights, held.cache, held.live) for seat, held in each.items()),
    )
