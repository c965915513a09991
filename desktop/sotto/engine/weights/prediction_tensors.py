"""Giving a model the head for multi-token prediction that its files hold."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures import zoo
from sotto.engine.architectures.prediction import predicting
from sotto.engine.config.prediction_names import has_head, naming
from sotto.engine.config.quantization import Declaration
from sotto.store.records import TensorFile


def make_of(config: Mapping[str, Any], files: Iterable[TensorFile]) -> zoo.Make:
    """Return how to make the model of some files, as `weights.of_model` returns them: with a head if they hold one."""
    return predicting if has_head(config, (name for file in files for name in file.tensors)) else zoo.plain


def rename(
    model: nn.Module, config: Mapping[str, Any], weights: dict[str, mx.array], declared: dict[str, Declaration]
) -> None:
    """Give the tensors of a head the names of its parameters, in place.

    Args:
        model: Not yet loaded.
        config: The contents of `config.json`.
        weights: By name.
        declared: What the files declare about quantized weights, by name without `.weight`.
    """
    if "mtp" not in model:
        return
    for entries in (weights, declared):
        _rename_keys(entries, naming(config))


def _rename_keys(entries: dict[str, Any], name_of: Callable[[str], str | None]) -> None:
    for old in list(entries):
        if new := name_of(old):
            entries[new] = entries.pop(old)
