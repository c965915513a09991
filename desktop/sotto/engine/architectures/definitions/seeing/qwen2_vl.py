"""Qwen2-VL and Qwen2.5-VL with images: positions with three axes, whose pairs come in sections."""

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
from mlx_lm.models import qwen2, qwen2_vl
from mlx_lm.models.base import create_attention_mask

from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.multi_axis import SeeingBody, axes_in_sections, give_axes

ModelArgs = qwen2_vl.ModelArgs

_SECTIONS = (16, 24, 24)


class AttendingBody(SeeingBody):
    """A body whose layers all attend to the whole text."""

    norm: Any

    def __call__(self, inputs: mx.array, cache: Sequence[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the hidden states [B, L, D] of tokens [B, L] after the last norm; a view needs caches."""
        hidden = self.embedded(inputs, view)
        caches = self.placed(cache or [None] * len(self.layers), view)
        mask = create_attention_mask(hidden, caches[0])
        deep = iter(() if view is None else view.deep)
        for layer, one in zip(self.layers, caches, strict=True):
            hidden = layer(hidden, mask, one)
            if (added := next(deep, None)) is not None:
                hidden = hidden + added.astype(hidden.dtype)
        normalised: mx.array = self.norm(hidden)
        return normalised


class Seeing:
    """A model with a language model inside that takes views; first among the bases of a definition's."""

    language_model: Any

    def __call__(self, inputs: mx.array, cache: Sequence[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L]."""
        text = self.language_model
        hidden = text.model(inputs, cache, view)
        logits: mx.array = text.lm_head(hidden) if "lm_head" in text else text.model.embed_tokens.as_linear(hidden)
        return logits


class Qwen2Body(AttendingBody, qwen2.Qwen2Model):  # type: ignore[misc]
    """Qwen2 below the output layer."""


class Model(Seeing, qwen2_vl.Model):  # type: ignore[misc]
    """A causal language model that takes images."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        give_axes(self.language_model.model, Qwen2Body, axes_in_sections(args.text_config, _SECTIONS))
