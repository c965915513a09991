"""The wording of downloads: amounts, states, remaining time, and where a model comes from."""

import math
from collections.abc import Sequence

from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.records import ModelRecord
from sotto.store.sources.model_names import DEFAULT_HOST, DEFAULT_NAMESPACE, ModelName
from sotto.ui.models.model_description import source_names
from sotto.ui.state import wording
from sotto.ui.state.names import join_names, model_name

_UNITS = ("B", "KB", "MB", "GB", "TB")
_DAY = 24 * 3600

_STATES = {
    PullState.WAITING: "Queued",
    PullState.CHECKING: "Contacting the registry",
    PullState.DOWNLOADING: "Downloading",
    PullState.STALLED: "Stalled",
    PullState.RETRYING: "Retrying",
    PullState.PAUSED: "Paused",
    PullState.VERIFYING: "Verifying",
    PullState.DONE: "Done",
    PullState.FAILED: "Failed",
}


def amounts(done: int, total: int | None) -> str:
    """Return the downloaded and total amount in one unit, rounded down: `1.2 of 4.1 GB`; empty if nothing is known."""
    if total is None:
        return wording.size(done) if done else ""
    whole, unit = wording.size(total).split()
    digits = len(whole.partition(".")[2])
    here = math.floor(done / 1000 ** _UNITS.index(unit) * 10**digits) / 10**digits
    # Rounded down, so that a part never looks like the whole.
    return f"{min(here, float(whole)):.{digits}f} of {whole} {unit}"


def percent(progress: PullProgress) -> int | None:
    """Return the progress in whole per cent; None if the total is unknown."""
    return min(100, 100 * progress.done // progress.total) if progress.total else None


def time_left(seconds: float) -> str:
    """Return the remaining time: `2 min left`."""
    return "more than a day left" if seconds > _DAY else f"{wording.duration(seconds)} left"


def status(progress: PullProgress, *, known: bool = False) -> str:
    """Return the status of a download in one line: `34 MB/s · 2 min left`, `Stalled`.

    Args:
        progress: The download's progress.
        known: Whether an earlier version of the model is on the disk.
    """
    if progress.state is not PullState.DOWNLOADING:
        return _STATES[progress.state]
    parts = [f"{wording.size(round(progress.speed))}/s"] if progress.speed else []
    parts += [time_left(progress.seconds_left)] if parts and progress.seconds_left is not None else []
    return " · ".join(parts) or ("Updating" if known else _STATES[progress.state])


def accessible_name(progress: PullProgress, *, known: bool = False) -> str:
    """Return everything that is shown of a download, for screen readers; see `status` for the arguments."""
    reached = percent(progress)
    state = _STATES[progress.state].lower()
    if progress.state is PullState.DOWNLOADING and known:
        state = "updating"
    line = status(progress, known=known)
    parts = (
        model_name(progress.name),
        state,
        amounts(progress.done, progress.total),
        f"{reached} %" if reached is not None else "",
        line.replace(" · ", ", ") if line.lower() != state else "",
        progress.note.removesuffix("."),
    )
    return ", ".join(part for part in parts if part)


def origin(name: ModelName, models: Sequence[ModelRecord] = ()) -> str:
    """Return a line on where a model will come from, and on where it is among `models` already."""
    line = f"From {name.host}, where {name.namespace} publishes it."
    if (name.host, name.namespace) == (DEFAULT_HOST, DEFAULT_NAMESPACE):
        line = f"From Ollama’s library, at {DEFAULT_HOST}."
    wanted = model_name(name.short)
    here = next((record for record in models if record.present and model_name(record.name) == wanted), None)
    return f"{line} You already have it: {join_names(source_names(here))}." if here else line


def start_message(name: str) -> str:
    """Return the announcement that a download has started."""
    return f"{model_name(name)} is being downloaded."


def end_message(progress: PullProgress) -> tuple[str, str]:
    """Return the title and the message about a download that is complete or has failed."""
    name = model_name(progress.name)
    if progress.state is PullState.FAILED:
        return f"{name} could not be downloaded", progress.note
    return f"{name} is here", f"{wording.size(progress.total or progress.done)} were downloaded and checked."
