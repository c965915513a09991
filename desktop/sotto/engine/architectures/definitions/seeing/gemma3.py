"""The language model inside Gemma 3 models with vision."""

from typing import Any

import mlx.core as mx
from mlx_lm.models import gemma3
from mlx_lm.models.base import create_attention_mask

from sotto.engine.architectures.both_ways import seen_both_ways
from sotto.engine.architectures.definitions import gemma3_text
from sotto.engine.architectures.image_view import View

ModelArgs = gemma3.ModelArgs


class Model(gemma3.Model):  # type: ignore[misc]
    """A causal language model in which the tokens of an image see each other in both directions."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self.language_model = gemma3_text.Model(gemma3_text.ModelArgs.from_dict(args.text_config))

    def __call__(self, inputs: mx.array, cache: list[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L]."""
        text = self.language_model
        if view is None:
            logits: mx.array = text(inputs, cache)
        else:
            hidden = self._hidden(inputs, cache or [None] * len(text.layers), view)
            logits = text.model.embed_tokens.as_linear(hidden) if text.tie_word_embeddings else text.lm_head(hidden)
        return logits

    def _hidden(self, inputs: mx.array, cache: list[Any], view: View) -> mx.array:
        """Return the last hidden states [1, L, D] of a chunk with images."""
        model, period = self.language_model.model, self.language_model.args.sliding_window_pattern
        embedded = model.embed_tokens(inputs)
        # Embeddings of text are scaled, features of images are not.
        hidden = view.embeddings(embedded * mx.array(model.args.hidden_size**0.5, embedded.dtype))
        length = inputs.shape[1]
        masks = [
            seen_both_ways(
                create_attention_mask(hidden, cache[index], window_size=window, return_array=True),
                length,
                view.together,
            )
            for index, window in ((0, model.window_size if period > 1 else None), (period - 1, None))
        ]
        for number, (layer, held) in enumerate(zip(model.layers, cache, strict=True)):
            hidden = layer(hidden, masks[number % period == period - 1], held)
        normed: mx.array = model.norm(hidden)
        return normed
