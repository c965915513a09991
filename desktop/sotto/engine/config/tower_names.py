"""The tensors of a vision tower and its projector, by name. Does not import MLX."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sotto.engine.config.architecture_table import architecture
from sotto.engine.gguf.gguf_tower_names import PREFIXES
from sotto.store import facts
from sotto.store.records import Adapter, Format, ModelSource, TensorFile

_PEFT_PREFIX = "base_model.model."


def is_of_tower(config: Mapping[str, Any]) -> Callable[[str], bool]:
    """Return a function that tells by name whether a tensor belongs to the tower of a model; none does without one.

    Args:
        config: The contents of `config.json`.
    """
    return facts.is_of_tower if architecture(config).sees else (lambda name: False)


def changes_tower(adapter: Adapter, config: Mapping[str, Any]) -> bool:
    """Return whether an adapter changes the tower of a model with a `config.json`."""
    belongs = is_of_tower(config)
    return any(belongs(name.removeprefix(_PEFT_PREFIX)) for name in adapter.tensor_file.tensors)


def without_tower(source: ModelSource) -> ModelSource:
    """Return a model without the tensors of its tower."""
    belongs = is_of_tower(source.config)

    def rest(file: TensorFile) -> TensorFile:
        aside = (lambda name: name.startswith(PREFIXES)) if file.format is Format.GGUF else belongs
        return replace(file, tensors={name: info for name, info in file.tensors.items() if not aside(name)})

    return replace(source, tensor_files=tuple(part for file in source.tensor_files if (part := rest(file)).tensors))
