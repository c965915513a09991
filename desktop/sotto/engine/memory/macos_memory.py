"""Memory of macOS from its system functions; no program is started, so it can be asked every second."""

import ctypes
import ctypes.util
import functools
import os
from collections.abc import Mapping
from typing import Any

import psutil

_HOST_VM_INFO64 = 4
_LEVELS = {1: 0, 2: 1, 4: 2}
_COUNT = ctypes.c_uint32
_LONG = ctypes.c_uint64


class VmStatistics(ctypes.Structure):
    """`vm_statistics64` of macOS's `mach/vm_statistics.h`: numbers of pages and of events."""

    _fields_ = (
        ("free_count", _COUNT),
        ("active_count", _COUNT),
        ("inactive_count", _COUNT),
        ("wire_count", _COUNT),
        ("zero_fill_count", _LONG),
        ("reactivations", _LONG),
        ("pageins", _LONG),
        ("pageouts", _LONG),
        ("faults", _LONG),
        ("cow_faults", _LONG),
        ("lookups", _LONG),
        ("hits", _LONG),
        ("purges", _LONG),
        ("purgeable_count", _COUNT),
        ("speculative_count", _COUNT),
        ("decompressions", _LONG),
        ("compressions", _LONG),
        ("swapins", _LONG),
        ("swapouts", _LONG),
        ("compressor_page_count", _COUNT),
        ("throttled_count", _COUNT),
        ("external_page_count", _COUNT),
        ("internal_page_count", _COUNT),
        ("total_uncompressed_pages_in_compressor", _LONG),
    )


def free_memory() -> int:
    """Return the free bytes, which no program needs.

    Raises:
        OSError: The system does not answer.
    """
    statistics = VmStatistics()
    count = _COUNT(ctypes.sizeof(statistics) // ctypes.sizeof(ctypes.c_int32))
    library = _library()
    failed = library.host_statistics64(_host(), _HOST_VM_INFO64, ctypes.byref(statistics), ctypes.byref(count))
    if failed:
        raise OSError(failed, "host_statistics64 failed")
    pages = {name: int(getattr(statistics, name)) for name, _ in VmStatistics._fields_}
    return free_of(pages, os.sysconf("SC_PAGE_SIZE"), psutil.virtual_memory().total)


def free_of(pages: Mapping[str, int], page_size: int, physical: int) -> int:
    """Return the free bytes: neither in use nor wired nor compressed; file caches count as free.

    Args:
        pages: Fields of `vm_statistics64`.
        page_size: Bytes of a page.
        physical: Bytes of all memory.
    """
    used = sum(
        pages[name]
        for name in ("active_count", "inactive_count", "speculative_count", "wire_count", "compressor_page_count")
    )
    used -= pages["purgeable_count"] + pages["external_page_count"]
    return min(physical, max(0, physical - used * page_size))


def pressure_level() -> int:
    """Return 0, 1 or 2: the system's own level, normal, warning or critical.

    Raises:
        OSError: The system does not answer.
    """
    level, size = ctypes.c_int(0), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
    name = b"kern.memorystatus_vm_pressure_level"
    if _library().sysctlbyname(name, ctypes.byref(level), ctypes.byref(size), None, ctypes.c_size_t(0)):
        raise OSError(ctypes.get_errno(), "sysctlbyname failed")
    return _LEVELS.get(level.value, 0)


@functools.cache
def _library() -> Any:
    library = ctypes.CDLL(ctypes.util.find_library("System"), use_errno=True)
    library.mach_host_self.restype = ctypes.c_uint32
    library.host_statistics64.argtypes = [ctypes.c_uint32, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    return library


@functools.cache
def _host() -> int:
    # Each call would take another right to the port, which would have to be released.
    return int(_library().mach_host_self())
