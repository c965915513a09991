"""Findings, each stored once, with its input and the command that replays it."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.outcomes import Outcome
from sotto.store.printable import printable

SUFFIX = ".input"
_MAX_CHARACTERS = 400


@dataclass(slots=True)
class Finding:
    """A fault that was found.

    Attributes:
        target: The name of the target.
        outcome: The outcome of the first input that triggered it.
        file: The file with that input.
        count: The number of inputs that triggered it.
    """

    target: str
    outcome: Outcome
    file: Path
    count: int = 1


@dataclass(slots=True)
class Findings:
    """All findings, by the place where they were raised."""

    folder: Path
    by_place: dict[str, Finding] = field(default_factory=dict)

    def add(self, target: str, outcome: Outcome, data: bytes) -> Finding | None:
        """Store a finding; return it if it is new."""
        place = f"{target} {outcome.kind} {outcome.where}"
        if place in self.by_place:
            self.by_place[place].count += 1
            return None
        mark = hashlib.sha256(place.encode()).hexdigest()[:8]
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{target}.{outcome.kind}.{mark}{SUFFIX}"
        file.write_bytes(data)
        finding = Finding(target, outcome, file)
        file.with_suffix(".txt").write_text(description_of(finding) + f"\n{outcome.details}\n", encoding="utf-8")
        self.by_place[place] = finding
        return finding


def target_of_file(path: Path) -> str:
    """Return the target of the finding in a file."""
    return path.name.partition(".")[0]


def description_of(finding: Finding) -> str:
    """Return a description of a finding, with the command that replays it."""
    outcome = finding.outcome
    reached = outcome.stages[-1] if outcome.stages else "nothing"
    return (
        f"{finding.target}: {outcome.kind}, {outcome.where}\n"
        f"  {printable(outcome.message, _MAX_CHARACTERS)}\n"
        f"  reached: {reached}\n"
        f"  replay: python tests/fuzz/fuzz.py --replay {finding.file}"
    )
