"""What became of one input, as a worker tells it: plain values, so that they cross a pipe as JSON."""

import re
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "desktop" / "sotto"

WHOLE, REFUSED, FINDING = "whole", "refused", "finding"
_FRAME = re.compile(r'File "([^"]+)", line (\d+),? in (\S+)')
# What differs from one sentence to the next that says the same.
_VARIES = re.compile(r"'[^']*'|/\S+|[-+]?\d[\d.,]*|\[[^\]]*\]")


@dataclass(slots=True)
class Outcome:
    """What became of one input.

    Attributes:
        result: `whole`, `refused` or `finding`.
        stages: Those that it reached.
        message: The sentence that refused it, or what was found.
        kind: Of a finding: `exception`, `crash`, `hang`, `slow`, `memory` or `sentence`.
        where: Of a finding: where it was raised, by which it is known again.
        details: Of a finding: a traceback, or what the worker said last.
    """

    result: str = WHOLE
    stages: list[str] = field(default_factory=list)
    message: str = ""
    kind: str = ""
    where: str = ""
    details: str = ""


def found(outcome: Outcome, kind: str, where: str, message: str, details: str = "") -> Outcome:
    """Make an outcome a finding."""
    outcome.result, outcome.kind, outcome.where = FINDING, kind, where
    outcome.message, outcome.details = message, details
    return outcome


def raised(outcome: Outcome, error: BaseException) -> Outcome:
    """Make a finding of an error that nobody should see."""
    kind = "memory" if isinstance(error, MemoryError) else "exception"
    # What is told of elsewhere says itself where it was raised there.
    where = getattr(error, "where", "") or f"{type(error).__name__} at {place_of(error.__traceback__)}"
    # All of a recursion would be thousands of lines.
    lines = traceback.format_exception(error, limit=-30)
    return found(outcome, kind, where, f"{type(error).__name__}: {error}"[:500], "".join(lines)[-6000:])


def place_of(trace: TracebackType | None) -> str:
    """Return the last place of our own that a traceback goes through, else its last one."""
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(SOURCE)]
    if not frames:
        return "nowhere"
    frame = (own or frames)[-1]
    return f"{_short(frame.filename)}:{frame.lineno} ({frame.name})"


def place_in(dump: str) -> str:
    """Return the first place of our own in what faulthandler wrote, else its first one."""
    _, _, current = dump.rpartition("Current thread")
    frames = _FRAME.findall(current or dump) or _FRAME.findall(dump)
    own = [frame for frame in frames if Path(frame[0]).is_relative_to(SOURCE)]
    if not frames:
        return "nowhere known"
    name, line, function = (own or frames)[0]
    return f"{_short(name)}:{line} ({function})"


def shape_of(sentence: str) -> str:
    """Return what is the same in sentences that say the same of different values."""
    return _VARIES.sub("#", sentence)


def place_told(trace: str) -> str:
    """Return the last place of our own in the text of a traceback."""
    own = [frame for frame in _FRAME.findall(trace) if Path(frame[0]).is_relative_to(SOURCE)]
    return f"{_short(own[-1][0])}:{own[-1][1]} ({own[-1][2]})" if own else "nowhere known"


def _short(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(SOURCE.parent)) if path.is_relative_to(SOURCE) else "/".join(path.parts[-3:])
