"""Gemma 3 with embeddings scaled by the root of their width in the type that is computed in."""

from typing import Any

import mlx.core as mx
from mlx_lm.models import gemma3_text

ModelArgs = gemma3_text.ModelArgs


class Model(gemma3_text.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: Any) -> None:
        """Build it with weights yet to be loaded."""
        super().__init__(args)
        # The borrowed layers round the root to bfloat16 whatever they compute in. In bfloat16 this is 1.
        root = args.hidden_size**0.5
        self._mend = root / mx.array(root, mx.bfloat16).item()

    def __call__(
        self, inputs: mx.array, cache: list[Any] | None = None, input_embeddings: mx.array | None = None
    ) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L], or of embeddings [B, L, D]."""
        embeddings = self.model.embed_tokens(inputs) if input_embeddings is None else input_embeddings
        logits: mx.array = super().__call__(inputs, cache, embeddings * self._mend)
        return logits
