"""The wording of downloads: amounts, states, remaining time, and where a model comes from."""

import math
from collections.abc import Sequence

from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.records import ModelRecord
from sotto.store.sources.hugging_face_names import HUGGING_FACE
from sotto.store.sources.model_names import DEFAULT_HOST, DEFAULT_NAMESPACE, ModelName
from sotto.ui.models.model_description import source_names
from sotto.ui.state import wording
from sotto.ui.state.names import join_facts, join_names, join_sentences, model_name
from sotto.ui.toolkit.translation import QT_TR_NOOP, format_number, tr

_UNITS = ("B", "KB", "MB", "GB", "TB")
_DAY = 24 * 3600

# A download that is done is not listed any more.
_STATES = {
    PullState.WAITING: QT_TR_NOOP("Queued"),
    PullState.CHECKING: QT_TR_NOOP("Looking it up"),
    PullState.DOWNLOADING: QT_TR_NOOP("Downloading"),
    PullState.STALLED: QT_TR_NOOP("Stalled"),
    PullState.RETRYING: QT_TR_NOOP("Retrying"),
    PullState.PAUSED: QT_TR_NOOP("Paused"),
    PullState.VERIFYING: QT_TR_NOOP("Verifying"),
    PullState.FAILED: QT_TR_NOOP("Failed"),
}


def amounts(done: int, total: int | None) -> str:
    """Return the downloaded and total amount in one unit, rounded down: `1.2 of 4.1 GB`; empty if nothing is known."""
    if total is None:
        return wording.size(done) if done else ""
    amount, digits, unit = wording.size_parts(total)
    here = math.floor(done / 1000 ** _UNITS.index(unit) * 10**digits) / 10**digits
    # Rounded down, so that a part never looks like the whole.
    part = format_number(min(here, round(amount, digits)), digits)
    return tr("{done} of {total}").format(done=part, total=wording.size(total))


def percent(progress: PullProgress) -> int | None:
    """Return the progress in whole per cent; None if the total is unknown."""
    return min(100, 100 * progress.done // progress.total) if progress.total else None


def time_left(seconds: float) -> str:
    """Return the remaining time: `2 min left`."""
    if seconds > _DAY:
        return tr("more than a day left")
    return tr("{time} left").format(time=wording.duration(seconds))


def status(progress: PullProgress, *, known: bool = False) -> str:
    """Return the status of a download in one line: `34 MB/s · 2 min left`, `Stalled`.

    Args:
        progress: The download's progress.
        known: Whether an earlier version of the model is on the disk.
    """
    if progress.state is not PullState.DOWNLOADING:
        return _state_name(progress, known=known)
    parts = [f"{wording.size(round(progress.speed))}/s"] if progress.speed else []
    parts += [time_left(progress.seconds_left)] if parts and progress.seconds_left is not None else []
    return join_facts(parts) or _state_name(progress, known=known)


def _state_name(progress: PullProgress, *, known: bool) -> str:
    updates = known and progress.state is PullState.DOWNLOADING
    return tr("Updating") if updates else tr(_STATES[progress.state])


def accessible_name(progress: PullProgress, *, known: bool = False) -> str:
    """Return everything that is shown of a download, for screen readers; see `status` for the arguments."""
    reached = percent(progress)
    state, line = _state_name(progress, known=known), status(progress, known=known)
    parts = (
        model_name(progress.name),
        state,
        amounts(progress.done, progress.total),
        f"{reached} %" if reached is not None else "",
        line.replace(" · ", ", ") if line != state else "",
        (progress.note or progress.about).removesuffix("."),
    )
    return ", ".join(part for part in parts if part)


def origin(name: ModelName, models: Sequence[ModelRecord] = ()) -> str:
    """Return a line on where a model will come from, and on where it is among `models` already."""
    if (name.host, name.namespace) == (DEFAULT_HOST, DEFAULT_NAMESPACE):
        line = tr("From Ollama’s library, at {host}.").format(host=DEFAULT_HOST)
    elif name.host == HUGGING_FACE:
        line = tr("From Hugging Face, where {owner} publishes it.").format(owner=name.namespace)
    else:
        line = tr("From {host}, where {owner} publishes it.").format(host=name.host, owner=name.namespace)
    wanted = model_name(name.short)
    here = next((record for record in models if record.present and model_name(record.name) == wanted), None)
    if here is None:
        return line
    places = join_names(source_names(here))
    return join_sentences((line, tr("You already have it: {places}.").format(places=places)))


def start_message(name: str) -> str:
    """Return the announcement that a download has started."""
    return tr("{name} is being downloaded.").format(name=model_name(name))


def end_message(progress: PullProgress) -> tuple[str, str]:
    """Return the title and the message about a download that is complete or has failed."""
    name = model_name(progress.name)
    if progress.state is PullState.FAILED:
        return tr("{name} could not be downloaded").format(name=name), progress.note
    size = wording.size(progress.total or progress.done)
    if progress.unchanged:
        message = tr("Its {size} were checked.").format(size=size)
        return tr("{name} is up to date").format(name=name), join_sentences((message, progress.about))
    message = tr("{size} were downloaded and checked.").format(size=size)
    return tr("{name} is here").format(name=name), join_sentences((message, progress.about))
