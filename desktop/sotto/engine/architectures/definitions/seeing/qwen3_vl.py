"""Qwen3-VL with images: positions with three axes in turn, and additions after the first layers."""

from typing import Any

from mlx_lm.models import qwen3, qwen3_vl

from sotto.engine.architectures.definitions.seeing.qwen2_vl import AttendingBody, Seeing
from sotto.engine.architectures.multi_axis import axes_in_turn, give_axes

ModelArgs = qwen3_vl.ModelArgs

SECTIONS = (24, 20, 20)


class Qwen3Body(AttendingBody, qwen3.Qwen3Model):  # type: ignore[misc]
    """Qwen3 below the output layer."""


class Model(Seeing, qwen3_vl.Model):  # type: ignore[misc]
    """A causal language model that takes images."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        pairs = self.language_model.args.head_dim // 2
        give_axes(self.language_model.model, Qwen3Body, axes_in_turn(args.text_config, SECTIONS, pairs))
