"""Several loaded models beside each other: what is left to each, and what all of them hold.

Alone, a model keeps for later prompts whatever memory has room for. Beside others each keeps no more than one
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
    for one in others:
        one.share(alone=False)
        taken += one.held + one.reserve
        reserved += one.reserve
    if limits.budget is not None:
        limits = replace(limits, budget=max(0, limits.budget - reserved))
    return limits.within(None if most is None else max(0, most - taken))


def settle(engines: Iterable[SharesMemory]) -> None:
    """Give each of all engines what is left to it now that there is one more or less."""
    loaded = [one for one in engines if one.info is not None]
    for one in loaded:
        one.share(alone=len(loaded) == 1)
    wire(sum(one.memory().weights for one in loaded))


def is_shortage(error: BaseException, others: Iterable[SharesMemory]) -> bool:
    """Return whether a load failed for want of memory, and there is enough once others have left."""
    theirs = sum(one.held + one.reserve for one in others)
    if isinstance(error, NoRoomError):
        return 0 < error.missing <= theirs
    return theirs > 0 and is_out_of_memory(error)


def figures(engines: Mapping[str, SharesMemory]) -> MemoryFigures:
    """Return what MLX holds now for engines by their seats."""
    each = {seat: engine.memory() for seat, engine in engines.items() if engine.info is not None}
    return MemoryFigures(
        weights=sum(one.weights for one in each.values()),
        cache=sum(one.cache for one in each.values()),
        active=mx.get_active_memory(),
        pool=mx.get_cache_memory(),
        peak=mx.get_peak_memory(),
        budget=sum(one.budget for one in each.values()),
        live=sum(one.live for one in each.values()),
        models=tuple(ModelFigures(seat, one.weights, one.cache, one.live) for seat, one in each.items()),
    )
