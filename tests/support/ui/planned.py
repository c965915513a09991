"""A model with round numbers as memory needs, and machines to plan it for."""

from sotto.engine.memory.memory_figures import Measured
from sotto.engine.memory.memory_needs import CacheKind, CacheNeed, ModelNeeds, WorkPoint
from sotto.ui.state.memory_estimate import MachineMemory, MemorySample

GB = 10**9
NEEDS = ModelNeeds(
    weight_bytes=4 * GB,
    loading_bytes=0,
    layers=(CacheNeed(CacheKind.FULL, 100_000),),
    work=(WorkPoint(1, 1, 1000), WorkPoint(2048, 2048, 1000)),
    longest_context=40_000,
)


def measured(needs=NEEDS, **more):
    """Return the engine's measurement of a model."""
    return Measured("d" * 64, needs, **more)


def machine_with(total, available, held=0, reserve=0):
    """Return the memory of a machine, in gigabytes."""
    return MachineMemory(MemorySample(total * GB, available * GB, reserve), held)
