"""The memory that this process takes, and its limit."""

import contextlib
import re
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"
# Additional address space: threads and arenas reserve much memory that they never touch.
_RESERVED = 4 << 30


def limit(input_bytes: int) -> None:
    """Limit this process's address space to its current size, what an input may take, and a reserve, if supported."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        if size := _field("VmSize"):
            resource.setrlimit(resource.RLIMIT_AS, (size + input_bytes + _RESERVED,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def begin() -> int | None:
    """Reset the peak, and return the bytes in use now; None if the system does not report them."""
    try:
        _CLEAR.write_text(_RESET_PEAK)
    except OSError:
        return None
    return _field("VmRSS")


def peak_since(begun: int | None) -> int:
    """Return by how many bytes the peak since `begin` exceeds its result; 0 if the system does not report it."""
    return _field("VmHWM") - begun if begun is not None else 0


def _field(name: str) -> int:
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) << 10 if match else 0
