"""Which model a session begins with, whether it is loaded before it is needed, and when models were last used."""

from collections.abc import Mapping, Sequence

from sotto.store.records import ModelRecord

# A model of at most this many bytes is loaded at the start; a larger one not before the user writes something.
_AT_ONCE_BYTES = 1 << 30
_MOST_RECENT = 500


def first_model(models: Sequence[ModelRecord], path: str) -> ModelRecord | None:
    """Return the model to begin with: the last one in use, or else the built-in one; None if neither can run.

    Args:
        models: The models to choose from.
        path: The path of the model that was in use last; empty if there was none.
    """
    usable = [record for record in models if record.runnable and record.present]
    last = (record for record in usable if any(str(place.path) == path for place in record.places))
    return next(last, next((record for record in usable if record.builtin), None))


def with_use(last_used: Mapping[str, float], name: str, now: float) -> dict[str, float]:
    """Return when models were last used after `name` was used `now`, in seconds since the epoch, the latest first."""
    used = {**last_used, name: now}
    return dict(sorted(used.items(), key=lambda use: use[1], reverse=True)[:_MOST_RECENT])


def loads_at_once(record: ModelRecord) -> bool:
    """Return whether a model is loaded at the start, before the user asks it anything."""
    return record.size <= _AT_ONCE_BYTES
