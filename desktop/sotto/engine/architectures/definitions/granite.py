"""Granite with rows of features in the place of embeddings, which mlx-lm's definition does not take."""

from typing import Any

import mlx.core as mx
from mlx_lm.models import granite
from mlx_lm.models.base import create_attention_mask

ModelArgs = granite.ModelArgs


class GraniteModel(granite.GraniteModel):  # type: ignore[misc]
    """Everything below the output layer."""

    def __call__(
        self, inputs: mx.array, cache: list[Any] | None = None, input_embeddings: mx.array | None = None
    ) -> mx.array:
        """Return the hidden states [B, L, D] of tokens [B, L], or of embeddings before they are multiplied."""
        embeddings = self.embed_tokens(inputs) if input_embeddings is None else input_embeddings
        x = embeddings * self.embedding_multiplier
        caches = [None] * len(self.layers) if cache is None else cache
        mask = create_attention_mask(x, caches[0])
        for layer, entry in zip(self.layers, caches, strict=True):
            x = layer(x, mask, cache=entry)
        found: mx.array = self.norm(x)
        return found


class Model(granite.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self.model = GraniteModel(args)

    def __call__(
        self, inputs: mx.array, cache: list[Any] | None = None, input_embeddings: mx.array | None = None
    ) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L], or of embeddings before they are multiplied."""
        x = self.model(inputs, cache, input_embeddings)
        tied = self.args.tie_word_embeddings
        logits = self.model.embed_tokens.as_linear(x) if tied else self.lm_head(x)
        scaled: mx.array = logits / self.logits_scaling
        return scaled
