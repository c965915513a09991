"""Limits processes to some of the machine's cores, one thread to each, to see how speed grows with them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.engine.kernels.native import thread_count

_TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def thread_counts(wanted: tuple[int, ...]) -> list[int]:
    """Return those of the wanted numbers of threads that this machine has cores for."""
    if sys.platform != "linux":
        return [count for count in wanted if count == thread_count()]
    return [count for count in wanted if count <= thread_count()]


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Have processes that are started meanwhile use only `count` cores; with all of them nothing changes."""
    if count >= thread_count():
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _separate(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _separate(processors: set[int]) -> list[int]:
    """Return the processors in an order in which those that share a core with an earlier one are last."""
    firsts: dict[str, int] = {}
    for processor in sorted(processors):
        path = Path(_TOPOLOGY.format(processor))
        firsts.setdefault(path.read_text() if path.exists() else str(processor), processor)
    return [*firsts.values(), *sorted(processors - set(firsts.values()))]
