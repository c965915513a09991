"""The longest context of a model, computed in the same way when a load is planned and when it is done."""

from collections.abc import Mapping
from typing import Any

from mlx import nn

from sotto.engine.config.pooling_config import read_pooling_config
from sotto.engine.config.supported_models import is_encoder
from sotto.store.records import ModelSource


def longest_context(source: ModelSource, model: nn.Module, config: Mapping[str, Any]) -> int | None:
    """Return the longest context of a model, or the longest text of an encoder, in tokens; None if unknown.

    Args:
        source: An opened model.
        model: The module built from it, with or without its weights.
        config: The config that it was built from.

    Raises:
        UnsupportedModelError: It is an encoder whose pooling is not supported.
        BrokenModelError: It is an encoder whose pooling configuration makes no sense.
    """
    if is_encoder(config):
        positions: int = model.args.longest
        return min(positions, read_pooling_config(source).longest or positions)
    return source.record.context_length or config.get("max_position_embeddings")
