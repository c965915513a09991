"""How much memory this process takes, and how much it may."""

import contextlib
import re
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"
# Address space beside what an input may take: threads and arenas reserve much that they never touch.
_RESERVED = 4 << 30


def limit(most: int) -> None:
    """Let this process reserve no more than what it has, what an input may take, and some; where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        if size := _field("VmSize"):
            resource.setrlimit(resource.RLIMIT_AS, (size + most + _RESERVED,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def begin() -> int | None:
    """Forget the peak so far, and return the bytes that are taken now; None where the system does not tell."""
    try:
        _CLEAR.write_text(_RESET_PEAK)
    except OSError:
        return None
    return _field("VmRSS")


def beyond(begun: int | None) -> int:
    """Return the most bytes that were taken since `begin` beyond what it returned; 0 where the system does not tell."""
    return _field("VmHWM") - begun if begun is not None else 0


def _field(name: str) -> int:
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) << 10 if match else 0
