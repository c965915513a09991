"""Qwen 3.5 with images, and as GGUF files hold it, whose last projection takes the heads of values in another order."""

from collections.abc import Mapping, Sequence
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx_lm.models import qwen3_5

from sotto.engine.architectures.definitions.seeing.qwen2_vl import Seeing
from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.multi_axis import SeeingBody, axes_in_turn, give_axes

ModelArgs = qwen3_5.ModelArgs

_SECTIONS = (11, 11, 10)


class Qwen35Body(SeeingBody, qwen3_5.Qwen3_5TextModel):  # type: ignore[misc]
    """Qwen 3.5 below the output layer."""

    def __call__(self, inputs: mx.array, cache: Sequence[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the hidden states [B, L, D] of tokens [B, L] after the last norm; a view needs caches."""
        caches = self.placed(cache or [None] * len(self.layers), view)
        hidden: mx.array = super().__call__(inputs, caches, input_embeddings=self.embedded(inputs, view))
        return hidden


def give_sight(model: nn.Module, config: Mapping[str, Any]) -> None:
    """Have a model rotate by three axes and take views."""
    args = model.language_model.args
    pairs = int(args.head_dim * args.partial_rotary_factor) // 2
    give_axes(model.language_model.model, Qwen35Body, axes_in_turn(config, _SECTIONS, pairs))


class TiledNorm(qwen3_5.RMSNormGated):  # type: ignore[misc]
    """The norm before the last projection, after which the first heads of all keys come first, then the second ones.

    The rows of all other weights are reordered when they are read. The columns of this projection cannot be, as they
    may be quantized in blocks of several heads.
    """

    def __init__(self, width: int, eps: float, keys: int) -> None:
        """Build the module without its weights."""
        super().__init__(width, eps=eps)
        self._keys = keys

    def __call__(self, x: mx.array, gate: mx.array | None = None) -> mx.array:
        """Return the normalised values [B, L, H, D] of `x` [B, L, H, D]."""
        y = super().__call__(x, gate)
        batch, length, heads, width = y.shape
        tiled: mx.array = y.reshape(batch, length, self._keys, -1, width).swapaxes(2, 3)
        return tiled.reshape(batch, length, heads, width)


def tile(model: nn.Module, config: Mapping[str, Any]) -> None:
    """Have a model take the heads of values in the order of its config."""
    if not config.get("linear_heads_tiled"):
        return
    for layer in model.layers:
        if layer.is_linear:
            attention = layer.linear_attn
            attention.norm = TiledNorm(attention.head_v_dim, attention.layer_norm_epsilon, attention.num_k_heads)


class Model(Seeing, qwen3_5.Model):  # type: ignore[misc]
    """A causal language model that takes images."""

    def __init__(self, args: qwen3_5.ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        tile(self, args.text_config)
        give_sight(self, args.text_config)
