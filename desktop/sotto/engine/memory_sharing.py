"""Several loaded models beside each other: what is left to each, and what all of them hold.

Alone, a model keeps as much for later prompts as memory has room for. Beside others each keeps no more than one
conversation of `SHARED_CONTEXT` tokens takes (or of the context that was asked for), and so much is left to it when
another one is planned. Everything here belongs to the thread that owns MLX.
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
    """One of several engines, as far as memory is concerned."""

    @property
    def info(self) -> ModelInfo | None:
        """The loaded model, or None."""

    @property
    def held(self) -> int:
        """Bytes of the weights, and of everything computed for contexts."""

    @property
    def reserve(self) -> int:
        """Bytes that are left to this model while others are loaded as well, beside what it holds."""

    def share(self, *, alone: bool) -> None:
        """Keep as much for later prompts as memory has room for, or no more than is left to one of several models."""

    def memory(self) -> MemoryFigures:
        """Return what MLX holds now."""


def beside(limits: Limits, most: int | None, others: Iterable[SharesMemory]) -> Limits:
    """Return what there is for a model beside others, once each of these has what is left to it.

    Args:
        limits: What may be taken from now on.
        most: Bytes that people allow for all models together; None for all there is.
        others: Engines with what is loaded now.
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
    """Give each of all engines what is left to it now that there is one more or less."""
    loaded = [engine for engine in engines if engine.info is not None]
    for engine in loaded:
        engine.share(alone=len(loaded) == 1)
    wire(sum(engine.memory().weights for engine in loaded))


def is_shortage(error: BaseException, others: Iterable[SharesMemory]) -> bool:
    """Return whether a load failed for want of memory, and there is enough once others have left."""
    theirs = sum(other.held + other.reserve for other in others)
    if isinstance(error, NoRoomError):
        return 0 < error.missing <= theirs
    return theirs > 0 and is_out_of_memory(error)


def figures(engines: Mapping[str, SharesMemory]) -> MemoryFigures:
    """Return what MLX holds now for engines by their seats."""
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
