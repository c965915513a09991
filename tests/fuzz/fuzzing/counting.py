"""Counts of how far inputs got, as a table for people and as values for tests."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fuzzing.outcomes import REFUSED, WHOLE, Outcome, shape_of
from fuzzing.target import Target

_MAX_SHAPES = 100_000


@dataclass(slots=True)
class Count:
    """The outcomes of the inputs of one target."""

    target: Target
    inputs: int = 0
    whole: int = 0
    refused: int = 0
    found: int = 0
    seconds: float = 0.0
    reached: Counter[str] = field(default_factory=Counter)
    shapes: set[str] = field(default_factory=set)

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self.inputs += 1
        self.reached.update(outcome.stages)
        if outcome.result == WHOLE:
            self.whole += 1
        elif outcome.result == REFUSED:
            self.refused += 1
            if len(self.shapes) < _MAX_SHAPES:
                self.shapes.add(shape_of(outcome.message))
        else:
            self.found += 1

    def shallow(self) -> str:
        """Return why the run was too shallow, or an empty text."""
        first, last = self.target.stages[0], self.target.stages[-1]
        for stage, share in ((first, self.target.first_share), (last, self.target.last_share)):
            if self.reached[stage] * 100 < share * self.inputs:
                return f"{self.reached[stage]} of {self.inputs} inputs reached '{stage}'; {share} % should"
        return next((f"no input reached '{stage}'" for stage in self.target.stages if not self.reached[stage]), "")

    def values(self) -> dict[str, Any]:
        """Return the counts as values for JSON."""
        return {
            "inputs": self.inputs,
            "reached": {stage: self.reached[stage] for stage in self.target.stages},
            "whole": self.whole,
            "refused": self.refused,
            "sentences": len(self.shapes),
            "found": self.found,
            "shallow": self.shallow(),
        }


def table(name: str, count: Count) -> str:
    """Return a readable table for a target."""
    rate = count.inputs / count.seconds if count.seconds else 0.0
    lines = [f"{name}: {count.inputs:,} inputs, {rate:.1f} per second"]
    lines += [_line(stage, count.reached[stage], count.inputs) for stage in count.target.stages]
    lines.append(_line("= whole", count.whole, count.inputs))
    lines.append(f"{_line('= refused', count.refused, count.inputs)}, {len(count.shapes):,} different messages")
    lines.append(_line("= findings", count.found, count.inputs))
    if shallow := count.shallow():
        lines.append(f"  too shallow: {shallow}")
    return "\n".join(lines)


def _line(label: str, part: int, whole: int) -> str:
    return f"  {label:<20} {part:>9,}  {100 * part / max(1, whole):5.1f} %"
