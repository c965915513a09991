"""A log of faults in steps shared by several answers, for `sotto doctor` and bug reports.

Such a fault costs time but no answer (see `sotto.engine.generation.scheduler`), so it would go unnoticed otherwise. The
file holds one line of JSON for each answer that had to continue alone; lines are only appended, so that several
processes can write to it.
"""

import contextlib
import json
import logging
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from sotto import paths
from sotto.store.printable import printable

_log = logging.getLogger(__name__)

# Nothing is added to a file of this size: more entries would not say more.
_MOST_BYTES = 256 << 10
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that had to continue alone.

    Attributes:
        when: Seconds since the epoch.
        model: The name of the model.
        reason: What went wrong in the step.
    """

    when: float
    model: str
    reason: str


def file() -> Path:
    """Return the path of the log; the file may not exist."""
    return paths.state_dir() / "shared-faults.jsonl"


def record(model: str, reason: str) -> None:
    """Append a fault; if that fails, only log it."""
    line = json.dumps(asdict(Fault(time.time(), printable(model, _LONGEST), printable(reason, _LONGEST)))) + "\n"
    try:
        paths.make_folder(file().parent)
        handle = os.open(file(), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(handle).st_size < _MOST_BYTES:
                os.write(handle, line.encode())
        finally:
            os.close(handle)
    except OSError as error:
        _log.warning("The fault %r cannot be kept in %s: %s", reason, file(), error.strerror)


def recorded() -> list[Fault]:
    """Return the logged faults, oldest first, without unreadable lines."""
    try:
        lines = file().read_bytes().splitlines()
    except FileNotFoundError:
        return []
    faults = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError):
            faults.append(Fault(**json.loads(line)))
    return faults
