"""Faults in steps that several answers shared, kept for `sotto doctor` and for bug reports.

Such a fault costs time and no answer (see `sotto.engine.generation.scheduler`), so nobody would hear of it otherwise. A
file holds one line of JSON for each answer that had to go on by itself; lines are only ever appended, so that several
processes may do so.
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

# No more is written then: what fails so often is not told better by more of it.
_MOST_BYTES = 256 << 10
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that went on by itself.

    Attributes:
        when: Seconds since the epoch.
        model: The name of the model.
        reason: What went wrong in the step.
    """

    when: float
    model: str
    reason: str


def file() -> Path:
    """Return where faults are kept; the file may not exist."""
    return paths.state_dir() / "shared-faults.jsonl"


def record(model: str, reason: str) -> None:
    """Keep a fault; where that is not possible, it is logged alone."""
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
    """Return the faults that were kept, the oldest first; lines that cannot be read are left out."""
    try:
        lines = file().read_bytes().splitlines()
    except FileNotFoundError:
        return []
    faults = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError):
            faults.append(Fault(**json.loads(line)))
    return faults
