"""How far each kind of device lets MLX dispatch operations ahead of their computation, which decides what is in memory.

Operations are dispatched in tasks: ten operations on a CPU, a command buffer on Metal, a graph on CUDA. MLX waits
once more than ten tasks are under way (`MAX_ACTIVE_TASKS` in its `transforms.cpp`). The sizes of tasks are from
`backend/metal/device.cpp` and `backend/cuda/device.cpp`; check them at upgrades.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from sotto.engine.kernels import device

TASKS_AHEAD = 10
_MIB = 2**20
# Operations, and millions of elements of inputs, after which a task ends: by the last letter of Metal's name for a
# chip (phone, base and Pro, Max, Ultra), and by CUDA's for the generation.
_METAL = {"p": (20, 40), "g": (40, 40), "s": (50, 50), "d": (50, 50)}
_METAL_OTHER = _METAL["g"]
_CUDA = {"sm_80": (20, 400), "sm_90": (100, 1000), "sm_100": (100, 1000), "sm_120": (100, 1000), "sm_121": (20, 25)}
_CUDA_OTHER = (20, 100)


@dataclass(frozen=True, slots=True)
class Pace:
    """When a task ends.

    Attributes:
        steps: Its steps: most operations take one, views none.
        elements: Elements of all inputs, with which it ends even if it has fewer steps; None for no such limit.
        overhead: Further steps of every operation.
    """

    steps: int
    elements: int | None = None
    overhead: int = 0


CPU = Pace(10, overhead=1)


def pace_here() -> Pace:
    """Return the pace of the device that computes."""
    return pace_of(device.device(), mx.device_info())


def pace_of(kind: str, info: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Pace:
    """Return the pace of a device.

    Args:
        kind: `metal`, `cuda` or `cpu`.
        info: The result of `mlx.core.device_info()`.
        environment: Its variables can change the sizes.
    """
    if kind == "cpu":
        return CPU
    name = str(info.get("architecture", ""))
    steps, millions = _METAL.get(name[-1:], _METAL_OTHER) if kind == "metal" else _CUDA.get(name, _CUDA_OTHER)
    steps = _number(environment.get("MLX_MAX_OPS_PER_BUFFER"), steps)
    millions = _number(environment.get("MLX_MAX_MB_PER_BUFFER"), millions)
    # A task ends once it has exceeded either.
    return Pace(steps + 1, (millions + 1) * _MIB)


def _number(text: str | None, usual: int) -> int:
    return int(text) if text is not None and text.isdecimal() else usual
