"""What slows a Mac down: a low limit of memory for the graphics processor, saving power, and the wrong Python."""

import ctypes
import ctypes.util
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MB = 2**20
# What the system itself needs at least.
_LEFT = 4 * 2**30
_PMSET_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class Mac:
    """What macOS says.

    Attributes:
        memory: All memory, in bytes.
        working_set: Bytes that Metal recommends to hold; 0 if unknown.
        saves_power: Whether the low power mode is on.
        on_battery: Whether the battery feeds it.
        translated: Whether this process runs translated, on another kind of processor than it was made for.
    """

    memory: int
    working_set: int
    saves_power: bool
    on_battery: bool
    translated: bool

    @classmethod
    def here(cls, working_set: int) -> "Mac":
        """Ask the system.

        Args:
            working_set: Bytes that Metal recommends to hold; 0 if unknown.
        """
        return cls(
            _number("hw.memsize"),
            working_set,
            any(line.split() == ["lowpowermode", "1"] for line in _pmset("-g").splitlines()),
            "'Battery Power'" in _pmset("-g", "ps"),
            _number("sysctl.proc_translated") == 1,
        )


def mac_advice(mac: Mac, sizes: Sequence[int]) -> Iterator[str]:
    """Yield what slows a Mac down, and how that is mended.

    Args:
        mac: What the system says.
        sizes: Bytes of each model on this machine.
    """
    if mac.translated:
        yield "Python was made for Intel's processors and runs translated, without Metal: install one for arm64."
    if mac.saves_power:
        yield "The low power mode is on, which slows answers down: switch it off in the system settings, under Battery."
    elif mac.on_battery:
        yield "The Mac runs on its battery, on which it may be slower: plug it in."
    most = mac.memory - _LEFT
    between = [size for size in sizes if mac.working_set < size <= most]
    if mac.working_set and between:
        yield (
            f"Metal may hold {mac.working_set / 1e9:.1f} GB, and the largest model that memory has room for takes "
            f"{max(between) / 1e9:.1f} GB: sudo sysctl iogpu.wired_limit_mb={most // _MB} (until the next start)."
        )


def _pmset(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["/usr/bin/pmset", *arguments], capture_output=True, text=True, timeout=_PMSET_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        # Nothing is known then, and nothing said.
        return ""
    return done.stdout


def _number(name: str) -> int:
    """Return a number of the system; 0 if it has none of this name."""
    library = ctypes.CDLL(ctypes.util.find_library("System"))
    value, size = ctypes.c_uint64(0), ctypes.c_size_t(8)
    failed = library.sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
    return 0 if failed else int(value.value)
