"""Gemma 3 with embeddings scaled by the square root of their width, rounded to the type used for computing."""

from typing import Any

import mlx.core as mx
from mlx_lm.models import gemma3_text

ModelArgs = gemma3_text.ModelArgs


class Model(gemma3_text.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        # WORKAROUND: mlx-lm's layers always round the root to bfloat16. The correction is without effect in bfloat16.
        # Drop this definition once they round it to the type of the embeddings.
        root = args.hidden_size**0.5
        self._correction = root / mx.array(root, mx.bfloat16).item()

    def __call__(
        self, inputs: mx.array, cache: list[Any] | None = None, input_embeddings: mx.array | None = None
    ) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L], or of embeddings [B, L, D]."""
        embeddings = self.model.embed_tokens(inputs) if input_embeddings is None else input_embeddings
        logits: mx.array = super().__call__(inputs, cache, embeddings * self._correction)
        return logits
