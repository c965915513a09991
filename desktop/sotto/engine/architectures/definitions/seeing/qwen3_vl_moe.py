"""Qwen3-VL with experts and images."""

from typing import Any

import mlx.core as mx
from mlx_lm.models import qwen3_moe, qwen3_vl_moe

from sotto.engine.architectures.definitions.seeing.qwen2_vl import AttendingBody, Seeing
from sotto.engine.architectures.definitions.seeing.qwen3_vl import SECTIONS
from sotto.engine.architectures.multi_axis import axes_in_turn, give_axes

ModelArgs = qwen3_vl_moe.ModelArgs


class Qwen3MoeBody(AttendingBody, qwen3_moe.Qwen3MoeModel):  # type: ignore[misc]
    """Qwen3 with experts below the output layer."""


class Model(Seeing, qwen3_vl_moe.Model):  # type: ignore[misc]
    """A causal language model that takes images."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        pairs = self.language_model.args.head_dim // 2
        give_axes(self.language_model.model, Qwen3MoeBody, axes_in_turn(args.text_config, SECTIONS, pairs))

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of this definition.

        The original checkpoints have the products of all experts transposed, those that transformers 5 made do not.
        """
        args = self.language_model.args
        shapes = {
            "experts.down_proj": (args.hidden_size, args.moe_intermediate_size),
            "experts.gate_up_proj": (2 * args.moe_intermediate_size, args.hidden_size),
        }
        arranged = {
            name: array.swapaxes(1, 2) if array.shape[1:] == shapes.get(".".join(name.split(".")[-2:])) else array
            for name, array in weights.items()
        }
        sanitized: dict[str, mx.array] = super().sanitize(arranged)
        return sanitized
