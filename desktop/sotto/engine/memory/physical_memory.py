"""The memory of the whole machine, also on a Linux that hides `/proc`. Does not import MLX."""

import os
import sys
from dataclasses import dataclass

import psutil

from sotto.engine.memory import macos_memory


@dataclass(frozen=True, slots=True)
class PhysicalMemory:
    """The memory of the machine, in bytes.

    Attributes:
        total: All of it.
        available: What can be allocated without paging anything out.
        exact: Whether `available` includes what file caches give back. If not, there may be much more.
    """

    total: int
    available: int
    exact: bool = True


def physical_memory() -> PhysicalMemory:
    """Return the memory of the machine at this moment."""
    if sys.platform == "darwin":
        return PhysicalMemory(psutil.virtual_memory().total, macos_memory.free_memory())
    try:
        memory = psutil.virtual_memory()
    except OSError:
        # Only `/proc` tells what file caches hold; the C library asks the kernel for the rest.
        page = os.sysconf("SC_PAGE_SIZE")
        return PhysicalMemory(os.sysconf("SC_PHYS_PAGES") * page, os.sysconf("SC_AVPHYS_PAGES") * page, exact=False)
    return PhysicalMemory(memory.total, int(memory.available))
