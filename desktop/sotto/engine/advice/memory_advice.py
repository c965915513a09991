"""What slows memory down: too little of it, swapping, and a single channel."""

import re
from collections.abc import Iterator

from sotto.engine.advice.machine import Machine

# A share of the memory that is free, or that is swapped out, from which it matters.
_LITTLE, _MUCH_SWAPPED = 0.1, 0.05
_CHANNEL = re.compile(r"channel (\d+)")


def memory_advice(machine: Machine) -> Iterator[str]:
    """Yield what slows the machine's memory down, and how that is mended."""
    figures = machine.memory()
    total, free = figures.get("MemTotal", 0), figures.get("MemAvailable")
    swapped = _swapped(machine)
    if total and free is not None and free < _LITTLE * total:
        yield f"Memory is nearly full, only {_gb(free)} of {_gb(total)} are free: close other programs."
    elif total and swapped > _MUCH_SWAPPED * total:
        yield (
            f"{_gb(swapped)} of what programs hold is swapped to the disk, from where it comes back slowly: close "
            "other programs."
        )
    if _channels(machine) == 1:
        yield (
            "Only one channel of memory is in use, which halves the speed of answers: add a second module of the same "
            "kind in a slot of another channel."
        )


def _swapped(machine: Machine) -> int:
    """Return how many bytes are swapped to disks; what is compressed in memory comes back fast enough."""
    lines = [line.split() for line in machine.text("proc/swaps").splitlines()[1:]]
    return sum(int(used) * 1024 for name, _, _, used, *_ in lines if "zram" not in name)


def _channels(machine: Machine) -> int | None:
    """Return how many channels have modules; None where no driver for the memory controller tells."""
    found = set()
    for module in machine.glob("sys/devices/system/edac/mc/mc*/dimm*"):
        channel = _CHANNEL.search(machine.text(f"{module}/dimm_location"))
        if channel is not None and machine.text(f"{module}/size") not in ("", "0"):
            found.add((module.split("/")[-2], channel[1]))
    return len(found) or None


def _gb(nbytes: int) -> str:
    return f"{nbytes / 1e9:.1f} GB"
