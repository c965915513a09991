"""The memory available to this process, and the memory pressure of the machine. Does not import MLX.

Three things limit a process: the memory that other programs leave free, the limit of a control group (a container, a
systemd slice), and the memory of the graphics processor. `SystemMemory` looks up once where the system reports these,
and then reads only a few small files or makes a few system calls, so it can be asked every second from any thread.
"""

import ctypes
import functools
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from sotto.engine.memory import macos_memory
from sotto.engine.memory.control_groups import ControlGroup, own_groups
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.memory.physical_memory import physical_memory

RESERVE = 512 * 2**20
# On a small machine the reserve is this share of it.
_RESERVE_SHARE = 16
# Percent of the last ten seconds in which some, or all, processes waited for memory.
_SOME_WAITING, _MANY_WAITING, _ALL_WAITING = 5.0, 40.0, 10.0
# Shares of a limit that are still free.
_LITTLE_LEFT, _NOTHING_LEFT = 0.1, 0.04
# The generations of NVIDIA's chips that share the machine's memory: Jetson from TX1 to Thor, and DGX Spark.
_SHARING = frozenset(("sm_53", "sm_62", "sm_72", "sm_87", "sm_101", "sm_110", "sm_121"))
_PRESSURE = re.compile(r"^(some|full) avg10=([0-9.]+)", re.MULTILINE)


class Pressure(IntEnum):
    """The degree of memory pressure."""

    NONE = 0
    SOME = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True)
class Accelerator:
    """The memory of a graphics processor as reported by MLX, in bytes.

    Attributes:
        kind: `metal` or `cuda`.
        total: Metal's recommended working set, or the memory of a graphics card.
        free: Free memory; None if it is not reported, or without what file caches give back.
        held: Memory that MLX holds there.
        shared: Whether it is the machine's memory.
    """

    kind: str
    total: int
    free: int | None
    held: int
    shared: bool

    @classmethod
    def of(cls, kind: str, info: Mapping[str, Any], held: int) -> "Accelerator | None":
        """Return the memory reported by `mlx.core.device_info()`, or None on a CPU.

        Args:
            kind: `metal`, `cuda` or `cpu`.
            info: The result of `device_info()`.
            held: Sum of `mlx.core.get_active_memory()` and `get_cache_memory()`.
        """
        total = info.get("max_recommended_working_set_size" if kind == "metal" else "total_memory")
        if kind == "cpu" or total is None:
            return None
        shared = kind == "metal" or info.get("architecture") in _SHARING
        free = None if shared else info.get("free_memory")
        return cls(kind, int(total), None if free is None else int(free), held, shared)


class SystemMemory:
    """The memory of this machine that this process can use.

    Attributes:
        accelerator: The graphics processor that MLX computes on; None for the CPU.
    """

    def __init__(self, proc: Path = Path("/proc"), accelerator: Accelerator | None = None) -> None:
        """Look up where the system reports memory.

        Args:
            proc: The mount point of Linux's `/proc`.
            accelerator: The graphics processor that MLX computes on; None for the CPU.
        """
        self.accelerator = accelerator
        self._groups: tuple[ControlGroup, ...] = own_groups("memory", proc) if sys.platform == "linux" else ()
        waits = [group.pressure for group in self._groups if group.pressure is not None]
        # The innermost group reflects this process best; not every group has such a file.
        self._waits = [path for path in (*waits, proc / "pressure" / "memory") if path.is_file()][:1]

    def limits(self, reserve: int | None = None) -> Limits:
        """Return the memory that may be taken now.

        Args:
            reserve: Bytes to leave to other programs; None for 512 MiB, or less on a small machine.
        """
        memory = physical_memory()
        total, left = memory.total, memory.available
        source = (
            "what other programs leave free" if memory.exact else "what is free; /proc is missing, which tells more"
        )
        for group in self._groups:
            if (limit := group.limit()) is None:
                continue
            total = min(total, limit)
            if (room := group.room()) is not None and room < left:
                left, source = room, f"limit of the control group {group.name}"
        if (chip := self.accelerator) is not None:
            free = chip.total - chip.held if chip.free is None else chip.free
            if not chip.shared:
                total, left, source = chip.total, free, "free memory of the graphics card"
            elif free < left:
                what = "Metal recommends to hold" if chip.kind == "metal" else "the graphics processor can hold"
                left, source = free, f"what {what}"
            total = min(total, chip.total)
        kept = min(RESERVE, total // _RESERVE_SHARE) if reserve is None else reserve
        return Limits(max(0, left - kept), max(0, total - kept), source)

    def pressure(self) -> Pressure:
        """Return the present memory pressure."""
        if sys.platform == "darwin":
            return Pressure(macos_memory.pressure_level())
        return max(self._shortage(), self._waiting())

    def _shortage(self) -> Pressure:
        memory = physical_memory()
        # Where it is not known what file caches would give back, a small rest is no shortage.
        shares = [memory.available / memory.total] if memory.exact else [1.0]
        for group in self._groups:
            limit, room = group.limit(), group.room()
            if limit and room is not None:
                shares.append(room / limit)
        if min(shares) < _NOTHING_LEFT:
            return Pressure.CRITICAL
        return Pressure.SOME if min(shares) < _LITTLE_LEFT else Pressure.NONE

    def _waiting(self) -> Pressure:
        for path in self._waits:
            try:
                text = path.read_text(encoding="ascii")
            except OSError:
                # A kernel can have the file but refuse to read it.
                return Pressure.NONE
            waited = {kind: float(share) for kind, share in _PRESSURE.findall(text)}
            if waited.get("full", 0.0) >= _ALL_WAITING or waited.get("some", 0.0) >= _MANY_WAITING:
                return Pressure.CRITICAL
            return Pressure.SOME if waited.get("some", 0.0) >= _SOME_WAITING else Pressure.NONE
        return Pressure.NONE


def give_back() -> None:
    """Have the C library return freed memory to the system.

    glibc keeps freed blocks below a size that grows to 32 MB as larger ones are freed; after a model, that can be all
    of its weights. Other systems return memory by themselves.
    """
    if (trim := _malloc_trim()) is not None:
        trim(0)


@functools.cache
def _malloc_trim() -> Any:
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
