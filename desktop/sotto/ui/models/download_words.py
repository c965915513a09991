"""What is said of downloads: how far they are, what they do, and from where a model comes."""

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

# A state by what is said of it where nothing more is known.
_DOING = {
    PullState.WAITING: "Waiting for its turn",
    PullState.CHECKING: "Asking what there is",
    PullState.DOWNLOADING: "Downloading",
    PullState.STALLED: "Stalled",
    PullState.RETRYING: "Trying again",
    PullState.PAUSED: "Paused",
    PullState.VERIFYING: "Checking what came",
    PullState.DONE: "Done",
    PullState.FAILED: "Failed",
}


def amounts(done: int, total: int | None) -> str:
    """Return how much of how much is here, in one unit and rounded down: `1.2 of 4.1 GB`; empty when none is known."""
    if total is None:
        return wording.size(done) if done else ""
    whole, unit = wording.size(total).split()
    digits = len(whole.partition(".")[2])
    here = math.floor(done / 1000 ** _UNITS.index(unit) * 10**digits) / 10**digits
    # What is rounded up in the whole is not to make a part of it look like more.
    return f"{min(here, float(whole)):.{digits}f} of {whole} {unit}"


def percent(progress: PullProgress) -> int | None:
    """Return how many whole hundredths are here; None when that is not known."""
    return min(100, 100 * progress.done // progress.total) if progress.total else None


def time_left(seconds: float) -> str:
    """Return how long a download takes yet: `2 min left`."""
    return "more than a day left" if seconds > _DAY else f"{wording.duration(seconds)} left"


def doing(progress: PullProgress, *, known: bool = False) -> str:
    """Return what a download is doing, in one line: `34 MB/s · 2 min left`, `Stalled`.

    Args:
        progress: How far it is.
        known: Whether the model is on the disk already, in an earlier version.
    """
    if progress.state is not PullState.DOWNLOADING:
        return _DOING[progress.state]
    parts = [f"{wording.size(round(progress.speed))}/s"] if progress.speed else []
    parts += [time_left(progress.seconds_left)] if parts and progress.seconds_left is not None else []
    return " · ".join(parts) or ("Updating" if known else _DOING[progress.state])


def spoken(progress: PullProgress, *, known: bool = False) -> str:
    """Return all that is shown of a download, as a screen reader says it."""
    reached = percent(progress)
    state = _DOING[progress.state].lower()
    if progress.state is PullState.DOWNLOADING and known:
        state = "updating"
    line = doing(progress, known=known)
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
    """Return from where a model will come, and where it is already among `models`."""
    line = f"From {name.host}, where {name.namespace} publishes it."
    if (name.host, name.namespace) == (DEFAULT_HOST, DEFAULT_NAMESPACE):
        line = f"From Ollama’s library, at {DEFAULT_HOST}."
    wanted = model_name(name.short)
    here = next((one for one in models if one.present and model_name(one.name) == wanted), None)
    return f"{line} It is here already: {join_names(source_names(here))}." if here else line


def begun(name: str) -> str:
    """Return that a download begins, in a sentence."""
    return f"{model_name(name)} is being downloaded."


def ended(progress: PullProgress) -> tuple[str, str]:
    """Return what came of a download, in a few words, and what there is to say about it."""
    name = model_name(progress.name)
    if progress.state is PullState.FAILED:
        return f"{name} could not be downloaded", progress.note
    return f"{name} is here", f"{wording.size(progress.total or progress.done)} were downloaded and checked."
