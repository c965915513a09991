"""The language model inside Gemma 4 models with vision."""

from typing import Any

import mlx.core as mx
from mlx_lm.models import gemma4, gemma4_text
from mlx_lm.models.base import create_attention_mask

from sotto.engine.architectures.both_ways import seen_both_ways
from sotto.engine.architectures.image_view import View

ModelArgs = gemma4.ModelArgs
_SLIDING = "sliding_attention"


class TextModel(gemma4_text.Gemma4TextModel):  # type: ignore[misc]
    """The layers; in sliding ones, the tokens of an image may see each other in both directions."""

    def see(self, tokens: mx.array, cache: list[Any], view: View) -> mx.array:
        """Return the last hidden states [1, L, D] of a chunk [1, L] with images."""
        # Where an input of each layer depends on the token, an image's tokens are padding.
        tokens = mx.where(view.shows, self.config.pad_token_id or 0, tokens)
        # Embeddings of text are scaled, features of images are not.
        hidden = view.embeddings(self.embed_tokens(tokens) * self.embed_scale)
        own: list[mx.array | None] = [None] * len(self.layers)
        if self.hidden_size_per_layer_input:
            inputs = self._project_per_layer_inputs(hidden, self._get_per_layer_inputs(tokens))
            own = [inputs[:, :, number] for number in range(len(self.layers))]
        # The last layers may use the keys and values of earlier ones, and have no caches.
        caches = [*cache, *[None] * (len(self.layers) - len(cache))]
        masks = self._masks_of(hidden, caches, view)
        held: list[tuple[Any, Any]] = []
        for number, layer in enumerate(self.layers):
            earlier = self.previous_kvs[number]
            shared, offset = held[earlier] if earlier < number else (None, None)
            hidden, *found = layer(
                *(hidden, masks[layer.layer_type], caches[number], own[number]), shared_kv=shared, offset=offset
            )
            held.append((found[0], found[1]))
        normed: mx.array = self.norm(hidden)
        return normed

    def _masks_of(self, hidden: mx.array, caches: list[Any], view: View) -> dict[str, mx.array | None]:
        """Return what the tokens of a chunk see, by type of layer."""
        masks: dict[str, mx.array | None] = {}
        for layer, cache in zip(self.layers, caches, strict=True):
            if (kind := layer.layer_type) not in masks:
                window = self.window_size if kind == _SLIDING else None
                mask = create_attention_mask(hidden, cache, window_size=window, return_array=True)
                masks[kind] = seen_both_ways(mask, hidden.shape[1], view.together) if kind == _SLIDING else mask
        return masks


class Model(gemma4.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self.language_model.model = TextModel(self.language_model.args)

    def __call__(self, inputs: mx.array, cache: list[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L]."""
        text = self.language_model
        if view is None:
            logits: mx.array = text(inputs, cache)
            return logits
        hidden = text.model.see(inputs, cache or [], view)
        logits = text.model.embed_tokens.as_linear(hidden) if text.tie_word_embeddings else text.lm_head(hidden)
        cap = text.final_logit_softcapping
        return logits if cap is None else cap * mx.tanh(logits / cap)
