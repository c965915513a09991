"""Finding and opening the models that are named on the command line."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sotto.engine.contract.engine_settings import EngineSettings, read_settings
from sotto.errors import UnsupportedModelError
from sotto.runner.catalogue import find
from sotto.store.opening import open_model
from sotto.store.own_draft import own_draft
from sotto.store.printable import with_path
from sotto.store.records import ModelRecord, ModelSource

OWN, NONE = "own", "none"


def find_runnable(target: str) -> ModelRecord:
    """Find a model that can run here.

    Args:
        target: A name, a manifest file or a folder.

    Raises:
        SottoError: There is no such model, or it cannot run here.
    """
    record = find(target)
    if not record.runnable:
        raise UnsupportedModelError(with_path(record.path, record.reason))
    return record


def open_target(target: str, adapters: Sequence[str] | None = None) -> ModelSource:
    """Find and open a model that can run here.

    Args:
        target: A name, a manifest file or a folder.
        adapters: Folders or files of adapters, `none` for no adapter; None for the one that was chosen in the window.

    Raises:
        SottoError: There is no such model, it or an adapter is damaged, or it cannot run here.
    """
    if adapters is None:
        return open_model(find_runnable(target))
    return open_model(find_runnable(target), [Path(adapter).expanduser() for adapter in adapters if adapter != NONE])


def settings_with(draft: str | None) -> EngineSettings:
    """Return the settings of the engine; if the draft model is `none`, nothing at all predicts tokens.

    Args:
        draft: What was named as the draft model; None for nothing.
    """
    settings = read_settings()
    return replace(settings, prediction=False) if draft == NONE else settings


def open_draft(target: str | None, source: ModelSource) -> ModelSource | None:
    """Find and open a draft model; return None if none is named.

    Args:
        target: A name, a manifest file or a folder; `own` for the one that came with the main model; `none` or None for
            none.
        source: The main model.

    Raises:
        SottoError: There is no such model, it is damaged, or it cannot run here.
    """
    if target in (None, NONE):
        return None
    return own_draft(source) if target == OWN else open_target(target)
