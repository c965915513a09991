"""The names of the tensors of a head for multi-token prediction. Does not import MLX."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sotto.engine.config.architecture import Prediction
from sotto.engine.config.architecture_table import architecture
from sotto.engine.config.tower_names import without_tower
from sotto.store.records import ModelSource, TensorFile

HEAD = "mtp."
"""How the names of the head's parameters begin."""
_NAMED = re.compile(r"(?:model\.)?(?:language_model\.)?(?:model\.)?mtp\.(?P<part>.+)")
_LAYER = re.compile(r"(?:model\.)?(?:language_model\.)?(?:model\.)?layers\.(?P<number>\d+)\.(?P<part>.+)")
# The names of DeepSeek's checkpoints and those that followed, by Qwen's.
_PARTS: Mapping[str, str] = {
    "eh_proj": "fc",
    "enorm": "pre_fc_norm_embedding",
    "hnorm": "pre_fc_norm_hidden",
    "shared_head.norm": "norm",
}
# Copies of the model's own embeddings and output layer: see `README_WEIGHTS.md` of DeepSeek-V3.
_COPIES = ("embed_tokens.", "shared_head.head.")
# A checkpoint that lacks one of these, perhaps because it was converted by another program, has no head.
_NEEDED = frozenset(
    f"{HEAD}{part}.weight"
    for part in ("fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm", "layers.0.input_layernorm")
)


def naming(config: Mapping[str, Any]) -> Callable[[str], str | None]:
    """Return a function that gives a tensor's name as a parameter of the head.

    It returns None for tensors of the model itself, and an empty text for those of heads that have no use.

    Args:
        config: The contents of `config.json`.
    """
    kind = architecture(config).prediction
    if kind is Prediction.NAMED:
        return _named
    inner = config.get("text_config")
    layers = (inner if isinstance(inner, Mapping) else config).get("num_hidden_layers")
    if kind is Prediction.LAYER and isinstance(layers, int):
        return lambda name: _of_layer(name, layers)
    return lambda name: None


def has_head(config: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Return whether a model has a head that can be used.

    Args:
        config: The contents of `config.json`.
        names: The names of its tensors.
    """
    name_of = naming(config)
    return {name_of(name) for name in names} >= _NEEDED


def without_head(source: ModelSource) -> ModelSource:
    """Return a model without the tensors of its head."""
    name_of = naming(source.config)

    def rest(file: TensorFile) -> TensorFile:
        return replace(file, tensors={name: info for name, info in file.tensors.items() if name_of(name) is None})

    return replace(source, tensor_files=tuple(part for file in source.tensor_files if (part := rest(file)).tensors))


def as_used(
    source: ModelSource, draft: ModelSource | None, *, prediction: bool
) -> tuple[ModelSource, ModelSource | None]:
    """Return a model and its draft model as they are loaded.

    Heads have no use beside a draft model, nor in one. A draft model sees no images either.

    Args:
        source: The model.
        draft: The draft model; None for none.
        prediction: Whether the model's head may be used.
    """
    if draft is None and prediction:
        return source, None
    return without_head(source), without_tower(without_head(draft)) if draft is not None else None


def _named(name: str) -> str | None:
    match = _NAMED.fullmatch(name)
    return None if match is None else _own(match["part"])


def _of_layer(name: str, layers: int) -> str | None:
    match = _LAYER.fullmatch(name)
    if match is None or (number := int(match["number"])) < layers:
        return None
    part: str = match["part"]
    if number > layers or part.startswith(_COPIES):
        return ""
    for old, new in _PARTS.items():
        if part == old or part.startswith(f"{old}."):
            return HEAD + new + part.removeprefix(old)
    return f"{HEAD}layers.0.{part}"


def _own(part: str) -> str:
    """Return the name of a part, or an empty text for the further layers of a head, as only the first is used."""
    return "" if re.match(r"layers\.[1-9]", part) or part.startswith(_COPIES) else HEAD + part
