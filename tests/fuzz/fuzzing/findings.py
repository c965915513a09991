"""Findings, each kept once, with its input and the line that replays it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.outcomes import Outcome
from sotto.store.printable import printable

SUFFIX = ".input"
_LONGEST = 400


@dataclass(slots=True)
class Finding:
    """Something that should not be.

    Attributes:
        target: Whose it is.
        outcome: That of the first input that showed it.
        file: That input.
        count: How many inputs showed it.
    """

    target: str
    outcome: Outcome
    file: Path
    count: int = 1


@dataclass(slots=True)
class Findings:
    """What was found, by where it was raised."""

    folder: Path
    by_place: dict[str, Finding] = field(default_factory=dict)

    def add(self, target: str, outcome: Outcome, data: bytes) -> Finding | None:
        """Keep a finding; return it if it is a new one."""
        place = f"{target} {outcome.kind} {outcome.where}"
        if place in self.by_place:
            self.by_place[place].count += 1
            return None
        mark = hashlib.sha256(place.encode()).hexdigest()[:8]
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{target}.{outcome.kind}.{mark}{SUFFIX}"
        file.write_bytes(data)
        finding = Finding(target, outcome, file)
        file.with_suffix(".txt").write_text(told(finding) + f"\n{outcome.details}\n", encoding="utf-8")
        self.by_place[place] = finding
        return finding


def target_of_file(path: Path) -> str:
    """Return the target whose finding a file is."""
    return path.name.partition(".")[0]


def told(finding: Finding) -> str:
    """Return what was found, and how it is found again."""
    outcome = finding.outcome
    reached = outcome.stages[-1] if outcome.stages else "nothing"
    return (
        f"{finding.target}: {outcome.kind}, {outcome.where}\n"
        f"  {printable(outcome.message, _LONGEST)}\n"
        f"  reached: {reached}\n"
        f"  replay: python tests/fuzz/fuzz.py --replay {finding.file}"
    )
