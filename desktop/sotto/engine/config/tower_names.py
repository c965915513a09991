"""The names of the tensors of a vision tower and its projector. Does not import MLX."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sotto.engine.config.architecture_table import architecture
from sotto.store.records import ModelSource, TensorFile

# As transformers 4 and 5, mlx-vlm and Ollama write them.
_ROOTS = (
    "vision_tower.",
    "vision_model.",
    "vision_embedder.",
    "visual.",
    "multi_modal_projector.",
    "connector.",
    "embed_vision.",
    "image_newline",
)
_BEGINNINGS = (*_ROOTS, *(f"model.{root}" for root in _ROOTS))


def is_of_tower(config: Mapping[str, Any]) -> Callable[[str], bool]:
    """Return a function that tells by name whether a tensor belongs to the tower of a model; none does without one.

    Args:
        config: The contents of `config.json`.
    """
    return (lambda name: name.startswith(_BEGINNINGS)) if architecture(config).sees else (lambda name: False)


def has_tower(config: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Return whether a model of a type that sees has tensors of its tower; text-only conversions have none.

    Args:
        config: The contents of `config.json`.
        names: The names of its tensors.
    """
    return any(map(is_of_tower(config), names))


def without_tower(source: ModelSource) -> ModelSource:
    """Return a model without the tensors of its tower."""
    belongs = is_of_tower(source.config)

    def rest(file: TensorFile) -> TensorFile:
        return replace(file, tensors={name: info for name, info in file.tensors.items() if not belongs(name)})

    return replace(source, tensor_files=tuple(part for file in source.tensor_files if (part := rest(file)).tensors))
