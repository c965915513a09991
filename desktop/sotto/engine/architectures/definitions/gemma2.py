"""Gemma 2 with its sliding window in every other layer.

WORKAROUND: mlx-lm's definition lets all layers see everything. Drop this one once it reads `sliding_window`.
"""

from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx_lm.models import gemma2
from mlx_lm.models.base import create_attention_mask
from mlx_lm.models.cache import KVCache, RotatingKVCache

_SLIDING = "sliding_attention"


@dataclass
class ModelArgs(gemma2.ModelArgs):  # type: ignore[misc]
    """mlx-lm's arguments, the window's width in tokens and the type of each layer.

    Without `layer_types`, the layers alternate, and the first one has the sliding window.
    """

    sliding_window: int = 4096
    layer_types: list[str] | None = None

    def slides(self, layer: int) -> bool:
        """Return whether a layer sees only the window."""
        return self.layer_types[layer] == _SLIDING if self.layer_types else layer % 2 == 0


class GemmaModel(gemma2.GemmaModel):  # type: ignore[misc]
    """The layers."""

    def __call__(self, inputs: mx.array, cache: list[Any]) -> mx.array:
        """Return the last hidden states [B, L, D]."""
        hidden = self.embed_tokens(inputs) * self.args.hidden_size**0.5
        masks: dict[bool, mx.array] = {}
        for index, (layer, layer_cache) in enumerate(zip(self.layers, cache, strict=True)):
            slides = self.args.slides(index)
            if slides not in masks:
                # From the cache of the first layer of each type, before that layer appends to it.
                masks[slides] = create_attention_mask(hidden, layer_cache, return_array=True)
            hidden = layer(hidden, masks[slides], layer_cache)
        normalised: mx.array = self.norm(hidden)
        return normalised


class Model(gemma2.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self.model = GemmaModel(args)

    def __call__(self, inputs: mx.array, cache: list[Any] | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L]."""
        logits: mx.array = super().__call__(inputs, cache or self.make_cache())
        return logits

    def make_cache(self) -> list[Any]:
        """Return one empty cache for each layer."""
        window = self.args.sliding_window
        return [
            RotatingKVCache(max_size=window) if self.args.slides(index) else KVCache()
            for index in range(len(self.layers))
        ]
