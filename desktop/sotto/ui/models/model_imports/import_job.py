"""An import as the window shows it, and its wording."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sotto.ui.models import download_words
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts, join_sentences, model_name
from sotto.ui.toolkit.translation import QT_TR_NOOP, format_number, tr


class JobState(StrEnum):
    """What an import is doing."""

    PREPARING = "preparing"
    WRITING = "writing"
    MEASURING = "measuring"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


STOPPED = frozenset((JobState.PAUSED, JobState.FAILED))
"""States that an import leaves only when the user resumes it."""

_STATES = {
    JobState.PREPARING: QT_TR_NOOP("Preparing the import"),
    JobState.WRITING: QT_TR_NOOP("Importing"),
    JobState.MEASURING: QT_TR_NOOP("Measuring the quality"),
    JobState.PAUSED: QT_TR_NOOP("Paused"),
    JobState.FAILED: QT_TR_NOOP("Failed"),
}


@dataclass(frozen=True, slots=True)
class ImportJob:
    """An import and its progress.

    Attributes:
        name: The name of the new model.
        source: The folder or file.
        quantization: The recipe; empty to keep what is there.
        measure: Whether to measure what the quantization costs.
        adapter: The folder or file of an adapter that is fused into the weights.
        state: What it is doing.
        done: Bytes of the source that are dealt with.
        total: All bytes of the source; 0 if unknown.
        size: Bytes of the new model; 0 if unknown.
        note: Why it failed, or why nothing was measured; may be empty.
        quality: What was measured, as `sotto measure --json` prints it; None if nothing was.
    """

    name: str
    source: Path
    quantization: str = ""
    measure: bool = False
    adapter: Path | None = None
    state: JobState = JobState.PREPARING
    done: int = 0
    total: int = 0
    size: int = 0
    note: str = ""
    quality: dict[str, Any] | None = None


def percent(job: ImportJob) -> int | None:
    """Return the progress in whole per cent; None if the total is unknown."""
    return min(100, 100 * job.done // job.total) if job.total else None


def status(job: ImportJob) -> str:
    """Return the state and the amounts in one line."""
    amounts = download_words.amounts(job.done, job.total) if job.total else ""
    return join_facts([text for text in (tr(_STATES[job.state]), amounts) if text])


def accessible_name(job: ImportJob) -> str:
    """Return everything that is shown of an import, for screen readers."""
    parts = (model_name(job.name), status(job).replace(" · ", ", "), job.note.removesuffix("."))
    return ", ".join(part for part in parts if part)


def end_message(job: ImportJob) -> tuple[str, str]:
    """Return the title and the message about an import that has succeeded or failed."""
    name = model_name(job.name)
    if job.state is JobState.FAILED:
        return tr("{name} could not be imported").format(name=name), job.note
    parts = [tr("It takes {size}.").format(size=wording.size(job.size)), quality_line(job), job.note]
    return tr("{name} is here").format(name=name), join_sentences(tuple(part for part in parts if part))


def quality_line(job: ImportJob) -> str:
    """Return what was measured in a sentence; empty if nothing was."""
    if job.quality is None:
        return ""
    line = tr("Perplexity {before} → {after}, KL divergence {divergence}, the same token in {share} %.")
    return line.format(
        before=format_number(job.quality["original_perplexity"]["value"], 2),
        after=format_number(job.quality["perplexity"]["value"], 2),
        divergence=format_number(job.quality["divergence"]["value"], 4),
        share=format_number(100 * job.quality["same_token"]["value"], 1),
    )
