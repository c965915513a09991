"""From what a person types for a model to what the engine loads."""

from sotto.errors import UnsupportedModelError
from sotto.runner.catalogue import find
from sotto.store.opening import open_model
from sotto.store.records import ModelSource


def opened(target: str) -> ModelSource:
    """Find and open a model, which must be one that can run.

    Args:
        target: A name, a manifest file or a folder.

    Raises:
        SottoError: There is no such model, it is damaged, or it cannot run here.
    """
    record = find(target)
    if not record.runnable:
        raise UnsupportedModelError(record.reason)
    return open_model(record)


def opened_draft(target: str | None) -> ModelSource | None:
    """Find and open a model that is to propose tokens to another one; None where none is named.

    Raises:
        SottoError: There is no such model, it is damaged, or it cannot run here.
    """
    return None if target is None else opened(target)
