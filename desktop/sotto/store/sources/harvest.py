"""What the readers of the different stores have in common: how they report what they found."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.records import Format, ModelRecord, Problem, Source

Judge = Callable[[Mapping[str, Any]], str]


def everything_runs(config: Mapping[str, Any]) -> str:
    """Judge that nothing keeps a configuration from running, whatever the engine says later."""
    return ""


@dataclass(slots=True)
class Facts:
    """What is known of one model so far; filled step by step, so that a broken one is shown with what was read."""

    name: str
    source: Source
    path: Path
    digest: str
    size: int = 0
    format: Format | None = None
    architecture: str = ""
    parameters: int | None = None
    quantization: str = ""
    context_length: int | None = None
    capabilities: tuple[str, ...] = ()

    def record(self, reason: str) -> ModelRecord:
        """Return the row, which can run iff there is no reason against it."""
        return ModelRecord(
            name=self.name,
            digest=self.digest,
            size=self.size,
            format=self.format,
            architecture=self.architecture,
            parameters=self.parameters,
            quantization=self.quantization,
            context_length=self.context_length,
            source=self.source,
            path=self.path,
            runnable=not reason,
            reason=reason,
            capabilities=self.capabilities,
        )


@dataclass(slots=True)
class Harvest:
    """Models and problems in the order in which they were found."""

    judge: Judge = everything_runs
    records: list[ModelRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, facts: Facts, read: Callable[[Facts], str]) -> None:
        """Add one model: `read` fills in the facts and returns why it cannot run, or raises BrokenModelError."""
        try:
            reason = read(facts)
        except BrokenModelError as error:
            reason = error.message
            self.add_problem(facts.path, reason)
        self.records.append(facts.record(reason))

    def add_problem(self, path: Path, message: str) -> None:
        """Add something that is no whole model."""
        self.problems.append(Problem(path, message))


def path_digest(path: Path) -> str:
    """Return 64 hex digits that stand for a model of which nothing but its place could be read."""
    return hashlib.sha256(b"place\0" + str(path).encode(errors="surrogateescape")).hexdigest()
