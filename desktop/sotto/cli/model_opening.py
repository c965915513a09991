"""From what a person types for a model to what the engine loads."""

from sotto.errors import UnsupportedModelError
from sotto.runner.catalogue import find
from sotto.store.opening import open_model
from sotto.store.own_draft import own_draft
from sotto.store.printable import with_path
from sotto.store.records import ModelRecord, ModelSource

OWN = "own"


def runnable(target: str) -> ModelRecord:
    """Find a model, which must be one that can run.

    Args:
        target: A name, a manifest file or a folder.

    Raises:
        SottoError: There is no such model, or it cannot run here.
    """
    record = find(target)
    if not record.runnable:
        raise UnsupportedModelError(with_path(record.path, record.reason))
    return record


def opened(target: str) -> ModelSource:
    """Find and open a model, which must be one that can run.

    Args:
        target: A name, a manifest file or a folder.

    Raises:
        SottoError: There is no such model, it is damaged, or it cannot run here.
    """
    return open_model(runnable(target))


def opened_draft(target: str | None, source: ModelSource) -> ModelSource | None:
    """Find and open a model that is to propose tokens to another one; None where none is named.

    Args:
        target: A name, a manifest file or a folder; `own` for the one that the other model brought along.
        source: The other model.

    Raises:
        SottoError: There is no such model, it is damaged, or it cannot run here.
    """
    if target is None:
        return None
    return own_draft(source) if target == OWN else opened(target)
