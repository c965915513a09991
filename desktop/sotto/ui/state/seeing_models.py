"""Which models see images."""

from collections.abc import Callable, Sequence

from sotto.engine.contract.events import ModelInfo
from sotto.runner.residents import is_same_model
from sotto.store.records import ModelRecord


def sees(record: ModelRecord) -> bool:
    """Return whether a model can be given images."""
    return "vision" in record.capabilities


def blindness(record: ModelRecord, info: ModelInfo | None) -> str:
    """Return why images are not shown to a model although its files hold a tower, in a sentence; else empty.

    Args:
        record: The model.
        info: What is known of it once it is loaded; None before.
    """
    return record.vision_reason if info is None else info.vision_note


def seeing_models(
    models: Sequence[ModelRecord], in_use: ModelRecord, is_loaded: Callable[[ModelRecord], bool], most: int
) -> tuple[ModelRecord, ...]:
    """Return models that can be used instead of one that does not see: those that are loaded first, then small ones."""
    usable = (model for model in models if model.runnable and model.present and not is_same_model(model, in_use))
    able = filter(sees, usable)
    return tuple(sorted(able, key=lambda model: (not is_loaded(model), model.size))[:most])
