"""The outcome of one input, in plain values that workers send as JSON."""

import re
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "desktop" / "sotto"

WHOLE, REFUSED, FINDING = "whole", "refused", "finding"
_FRAME = re.compile(r'File "([^"]+)", line (\d+),? in (\S+)')
# The parts that differ between two messages of the same kind.
_VARIES = re.compile(r"'[^']*'|/\S+|[-+]?\d[\d.,]*|\[[^\]]*\]")


@dataclass(slots=True)
class Outcome:
    """The outcome of one input.

    Attributes:
        result: `whole`, `refused` or `finding`.
        stages: The stages that it reached.
        message: The message of the refusal or the finding.
        kind: The kind of a finding: `exception`, `crash`, `hang`, `slow`, `memory` or `sentence`.
        where: The place where a finding was raised, which identifies it.
        details: The traceback of a finding, or the worker's last output.
    """

    result: str = WHOLE
    stages: list[str] = field(default_factory=list)
    message: str = ""
    kind: str = ""
    where: str = ""
    details: str = ""


def found(outcome: Outcome, kind: str, where: str, message: str, details: str = "") -> Outcome:
    """Turn an outcome into a finding."""
    outcome.result, outcome.kind, outcome.where = FINDING, kind, where
    outcome.message, outcome.details = message, details
    return outcome


def raised(outcome: Outcome, error: BaseException) -> Outcome:
    """Turn an outcome into a finding because of an error that nobody should see."""
    kind = "memory" if isinstance(error, MemoryError) else "exception"
    # Errors that are reported in another place than they were raised in have their own `where`.
    where = getattr(error, "where", "") or f"{type(error).__name__} at {place_of(error.__traceback__)}"
    # A full traceback of a recursion would have thousands of lines.
    lines = traceback.format_exception(error, limit=-30)
    return found(outcome, kind, where, f"{type(error).__name__}: {error}"[:500], "".join(lines)[-6000:])


def place_of(trace: TracebackType | None) -> str:
    """Return the innermost place in our own code in a traceback, or else its innermost place."""
    frames = traceback.extract_tb(trace)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(SOURCE)]
    if not frames:
        return "nowhere"
    frame = (ours or frames)[-1]
    return f"{_short(frame.filename)}:{frame.lineno} ({frame.name})"


def place_in(dump: str) -> str:
    """Return the first place in our own code in a dump of faulthandler, or else its first place."""
    _, _, current = dump.rpartition("Current thread")
    frames = _FRAME.findall(current or dump) or _FRAME.findall(dump)
    ours = [frame for frame in frames if Path(frame[0]).is_relative_to(SOURCE)]
    if not frames:
        return "nowhere known"
    name, line, function = (ours or frames)[0]
    return f"{_short(name)}:{line} ({function})"


def shape_of(sentence: str) -> str:
    """Return the part of a message that is the same for all values."""
    return _VARIES.sub("#", sentence)


def place_in_traceback(trace: str) -> str:
    """Return the innermost place in our own code in the text of a traceback."""
    ours = [frame for frame in _FRAME.findall(trace) if Path(frame[0]).is_relative_to(SOURCE)]
    return f"{_short(ours[-1][0])}:{ours[-1][1]} ({ours[-1][2]})" if ours else "nowhere known"


def _short(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(SOURCE.parent)) if path.is_relative_to(SOURCE) else "/".join(path.parts[-3:])
