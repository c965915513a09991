"""How much memory this process may take, and how short of it the machine is. Imports nothing of MLX.

Three things limit a process: what the machine has and other programs leave, what a control group (a container, a
systemd slice) allows, and what the graphics processor can hold. `SystemMemory` finds out once where the system tells
these, and then reads a few small files or makes a few system calls each time, so it can be asked every second from any
thread.
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

import psutil

from sotto.engine.memory import macos_memory
from sotto.engine.memory.control_groups import ControlGroup, own_groups
from sotto.engine.memory.memory_plan import Limits

RESERVE = 512 * 2**20
# On a small machine the reserve is this share of it.
_RESERVE_SHARE = 16
# Percent of the time of the last ten seconds in which somebody, or everybody, waited for memory.
_SOME_WAITING, _MANY_WAITING, _ALL_WAITING = 5.0, 40.0, 10.0
# Shares of a limit that are left.
_LITTLE_LEFT, _NOTHING_LEFT = 0.1, 0.04
_PRESSURE = re.compile(r"^(some|full) avg10=([0-9.]+)", re.MULTILINE)


class Pressure(IntEnum):
    """How short memory is."""

    NONE = 0
    SOME = 1
    CRITICAL = 2


@dataclass(frozen=True, slots=True)
class Accelerator:
    """What MLX tells of a graphics processor, in bytes.

    Attributes:
        kind: `metal` or `cuda`.
        total: What it can work with at most: Metal's recommended working set, or a graphics card's memory.
        free: What nobody holds; None where that is not told.
        held: What MLX holds there itself.
    """

    kind: str
    total: int
    free: int | None
    held: int

    @classmethod
    def of(cls, kind: str, info: Mapping[str, Any], held: int) -> "Accelerator | None":
        """Return what `mlx.core.device_info()` tells, or None on a CPU.

        Args:
            kind: `metal`, `cuda` or `cpu`.
            info: What MLX tells.
            held: `mlx.core.get_active_memory()` and `get_cache_memory()` together.
        """
        total = info.get("max_recommended_working_set_size" if kind == "metal" else "total_memory")
        if kind == "cpu" or total is None:
            return None
        free = info.get("free_memory")
        return cls(kind, int(total), None if free is None else int(free), held)


class SystemMemory:
    """The memory of this machine, as far as this process can have it.

    Attributes:
        accelerator: What MLX computes on; None for the processor itself.
    """

    def __init__(self, proc: Path = Path("/proc"), accelerator: Accelerator | None = None) -> None:
        """Find out where the system tells what there is.

        Args:
            proc: Where Linux tells about processes.
            accelerator: What MLX computes on; None for the processor itself.
        """
        self.accelerator = accelerator
        self._groups: tuple[ControlGroup, ...] = own_groups("memory", proc) if sys.platform == "linux" else ()
        waits = [group.pressure for group in self._groups if group.pressure is not None]
        # The innermost group sees the waits of this process first; not every one has such a file.
        self._waits = [path for path in (*waits, proc / "pressure" / "memory") if path.is_file()][:1]

    def limits(self, reserve: int | None = None) -> Limits:
        """Return what may be taken now.

        Args:
            reserve: Bytes to leave to others; None for 512 MiB, or less on a small machine.
        """
        memory = psutil.virtual_memory()
        total = memory.total
        left, source = _available(memory), "what other programs leave free"
        for group in self._groups:
            if (limit := group.limit()) is None:
                continue
            total = min(total, limit)
            if (room := group.room()) is not None and room < left:
                left, source = room, f"limit of the control group {group.name}"
        if (chip := self.accelerator) is not None:
            # Apple's chips share the machine's memory; a card has its own.
            free = chip.total - chip.held if chip.free is None else chip.free
            if chip.kind == "cuda":
                total, left, source = chip.total, free, "free memory of the graphics card"
            elif free < left:
                left, source = free, "what Metal recommends to hold"
            total = min(total, chip.total)
        kept = min(RESERVE, total // _RESERVE_SHARE) if reserve is None else reserve
        return Limits(max(0, left - kept), max(0, total - kept), source)

    def pressure(self) -> Pressure:
        """Return how short memory is now."""
        if sys.platform == "darwin":
            return Pressure(macos_memory.pressure_level())
        return max(self._shortage(), self._waiting())

    def _shortage(self) -> Pressure:
        memory = psutil.virtual_memory()
        shares = [memory.available / memory.total]
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
                # A kernel can have the file and refuse to fill it.
                return Pressure.NONE
            waited = {kind: float(share) for kind, share in _PRESSURE.findall(text)}
            if waited.get("full", 0.0) >= _ALL_WAITING or waited.get("some", 0.0) >= _MANY_WAITING:
                return Pressure.CRITICAL
            return Pressure.SOME if waited.get("some", 0.0) >= _SOME_WAITING else Pressure.NONE
        return Pressure.NONE


def give_back() -> None:
    """Let the C library give memory that was freed back to the system.

    glibc keeps freed blocks below a size that grows to 32 MB as larger ones are freed; after a model that can be all of
    its weights. Other systems give back by themselves.
    """
    if (trim := _malloc_trim()) is not None:
        trim(0)


@functools.cache
def _malloc_trim() -> Any:
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def _available(memory: Any) -> int:
    """Return the bytes that can be taken without paging anything out."""
    return macos_memory.free_memory() if sys.platform == "darwin" else int(memory.available)
