"""How many tokens a model takes at most: one answer for what is planned and for what is loaded."""

from collections.abc import Mapping
from typing import Any

from mlx import nn

from sotto.engine.config.pooling_config import read_pooling_config
from sotto.engine.config.supported_models import is_encoder
from sotto.store.records import ModelSource


def longest_context(source: ModelSource, model: nn.Module, config: Mapping[str, Any]) -> int | None:
    """Return the tokens of the longest context of a model, or of the longest text of an encoder; None when unknown.

    Args:
        source: An opened model.
        model: What was built of it, loaded or not.
        config: What it was built from.

    Raises:
        UnsupportedModelError: It is an encoder whose vectors cannot be made as its files want it.
        BrokenModelError: What these say of vectors makes no sense.
    """
    if is_encoder(config):
        positions: int = model.args.longest
        return min(positions, read_pooling_config(source).longest or positions)
    return source.record.context_length or config.get("max_position_embeddings")
