"""The memory limit of an engine's process, and how much it holds.

Only the process's own memory counts, in RAM or swapped out, not file pages, which the system reclaims when necessary.
The parent checks it, and kills a process that holds too much. The system's limits are not used: under `RLIMIT_AS` and
`RLIMIT_DATA` an allocation fails somewhere in native code, which then crashes, continues or hangs, and creating a
control group takes rights that desktop programs do not have.
"""

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

from sotto.engine.contract.engine_settings import LEAST_MEMORY, EngineSettings, size_of
from sotto.errors import InvalidRequestError
from sotto.store.printable import format_size

VARIABLE = "SOTTO_ENGINE_MEMORY"
# Held by Python, its libraries and their threads, without models.
_ITSELF = 100 * 10**6
_HELD = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB$", re.MULTILINE)


def can_be_limited() -> bool:
    """Return whether the memory of another process can be measured on this system."""
    return sys.platform == "linux" and Path("/proc/self/status").is_file()


def most_memory(settings: EngineSettings) -> int | None:
    """Return the bytes that an engine's process may hold, by the environment or the settings; None for no limit.

    Raises:
        InvalidRequestError: The environment variable is not a valid size.
    """
    if not can_be_limited():
        return None
    text = os.environ.get(VARIABLE, "")
    if not text:
        return settings.process_memory
    try:
        most = size_of(text)
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{VARIABLE}: {error.message}") from error
    if most < LEAST_MEMORY:
        raise InvalidRequestError(f"{VARIABLE} must be at least {format_size(LEAST_MEMORY)}, not {text!r}.")
    return most


def planned_within(settings: EngineSettings) -> EngineSettings:
    """Return settings whose memory limit makes models fit into the process."""
    most = most_memory(settings)
    if most is None:
        return settings
    room = max(0, most - _ITSELF)
    return replace(settings, memory_limit=room if settings.memory_limit is None else min(room, settings.memory_limit))


def held_bytes(process: int) -> int:
    """Return the bytes that a process holds; 0 if it has just ended."""
    try:
        status = Path(f"/proc/{process}/status").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(kilobytes) << 10 for kilobytes in _HELD.findall(status))


def limit_message(most: int) -> str:
    """Return the error message for a process that held more than `most` bytes."""
    return (
        f"The engine's process reached its memory limit of {format_size(most)} and was ended: choose a smaller model "
        f"or a shorter context, or raise the limit in the settings (Engine) or by {VARIABLE}."
    )
