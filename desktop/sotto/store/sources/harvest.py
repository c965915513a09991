"""Collecting the models and problems that the readers of the different layouts find."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.records import Format, ModelRecord, Problem, Source

# Given a model's configuration, returns an empty string, or one sentence saying why the engine cannot run it.
Judge = Callable[[Mapping[str, Any]], str]


def everything_runs(config: Mapping[str, Any]) -> str:
    """Return an empty string, so that every configuration counts as runnable."""
    return ""


@dataclass(slots=True)
class Facts:
    """The facts about one model, filled in step by step so that a broken model is listed with those that were read."""

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
    vision_reason: str = ""

    def record(self, reason: str) -> ModelRecord:
        """Return the record; the model is runnable if `reason` is empty."""
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
            vision_reason=self.vision_reason,
        )


@dataclass(slots=True)
class Harvest:
    """Models and problems in the order of discovery."""

    judge: Judge = everything_runs
    records: list[ModelRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, facts: Facts, read: Callable[[Facts], str]) -> None:
        """Add one model.

        Args:
            facts: What is known before its files are read.
            read: Fills in the facts, and returns a reason why the model cannot run or an empty string; may raise
                BrokenModelError, which is recorded as a problem.
        """
        try:
            reason = read(facts)
        except BrokenModelError as error:
            reason = error.message
            self.add_problem(facts.path, reason)
        self.records.append(facts.record(reason))

    def add_problem(self, path: Path, message: str) -> None:
        """Add a file or folder that is not a complete model, with a message that names it."""
        self.problems.append(Problem(path, message))


def path_digest(path: Path) -> str:
    """Return 64 hex digits that identify a model by its path, for one whose files cannot be read."""
    return hashlib.sha256(b"place\0" + str(path).encode(errors="surrogateescape")).hexdigest()
