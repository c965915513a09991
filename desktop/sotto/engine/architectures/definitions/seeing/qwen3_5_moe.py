"""Qwen 3.5 with experts, also with images, and Qwen3-Next, as GGUF files hold them."""

from typing import Any

import mlx.core as mx
from mlx_lm.models import qwen3_5_moe

from sotto.engine.architectures.definitions.seeing.qwen2_vl import Seeing
from sotto.engine.architectures.definitions.seeing.qwen3_5 import give_sight, tile

ModelArgs = qwen3_5_moe.ModelArgs

_BOTH = ".linear_attn.in_proj_ba."


class Model(Seeing, qwen3_5_moe.Model):  # type: ignore[misc]
    """A causal language model that takes images."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        tile(self, args.text_config)
        give_sight(self, args.text_config)

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Convert weights to the names and shapes of the layers."""
        keys = self.language_model.args.linear_num_key_heads
        # Qwen3-Next has the rows of both projections for the values of one key, and then those for the next.
        for name in [name for name in weights if _BOTH in name]:
            array = weights.pop(name)
            rows = array.reshape(keys, 2, -1, *array.shape[1:])
            for number, part in enumerate(("in_proj_b", "in_proj_a")):
                weights[name.replace("in_proj_ba", part)] = rows[:, number].reshape(-1, *array.shape[1:])
        sanitized: dict[str, mx.array] = super().sanitize(weights)
        return sanitized
