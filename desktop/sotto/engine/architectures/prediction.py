"""Heads for multi-token prediction: a decoder layer that some models bring along, trained to guess a token further.

The head of a model reads the hidden state after a token, as the output layer does, and the embedding of the next token,
and gives the hidden state after that one. Applied to its own result, it guesses any number of tokens. With RMS norms N,
in the order in which all checkpoints are trained, from `deepseek_mtp.py`, `qwen3_next_mtp.py` and `glm4_moe_mtp.py` of
vLLM and section 2.2 of the DeepSeek-V3 report::

    h'(i) = N(layer(fc([N(embedding of token i); N(h(i - 1))])))        logits of token i + 1 = output layer(h'(i))

h(i - 1) is the model's hidden state after its last norm, or the head's own. The model's pass feeds the head with all
tokens but the first, and the attention of the head sees those: as its output is not asked for, nothing but the keys and
values of the layer is computed.
"""

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.cache_types import FullKVCache, KVCache
from sotto.engine.architectures.image_view import View
from sotto.engine.architectures.multi_axis import SeeingBody
from sotto.engine.config.prediction_names import HEAD

# Hidden states that a cache keeps: more than a round of speculative decoding may feed and take back.
_KEPT = 32
# A model of a single layer has that kind of layer which heads have.
_ONE_LAYER: Mapping[str, Any] = {
    "num_hidden_layers": 1,
    "full_attention_interval": 1,
    "first_k_dense_replace": 0,
    "moe_layer_freq": 1,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "layer_types": None,
}
_LAYER, _ONLY_LAYER = f"{HEAD}layers.0.", "model.layers.0."


class PredictionCache(FullKVCache):
    """The keys and values of a head, and the hidden states after the last tokens.

    What it holds for a token comes from the hidden state before. The first token has none: it takes a place, so that
    positions are those of the other caches, but is never seen. Where the state is not known any more, because the
    tokens before came from the prefix cache, it counts as zero, which may make some proposals worse.

    Attributes:
        recent: The hidden states after the last tokens, [1, `_KEPT`, width], zero where unknown; None for none.
    """

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.recent: mx.array | None = None

    @property
    def state(self) -> tuple[Any, ...]:
        """The arrays to evaluate."""
        return (*self.buffers, self.recent)

    @property
    def nbytes(self) -> int:
        """Bytes of the buffers."""
        return sum(array.nbytes for array in self.state if array is not None)

    def keys_and_values(self) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all tokens but the first."""
        first = 1 if self.offset > 1 else 0
        return self.keys[..., first : self.offset, :], self.values[..., first : self.offset, :]

    def before(self, hidden: mx.array) -> mx.array:
        """Return the hidden states before the tokens after which they are `hidden` [1, L, D]."""
        last = mx.zeros_like(hidden[:, :1]) if self.recent is None else self.recent[:, -1:]
        return mx.concatenate([last, hidden[:, :-1]], axis=1)

    def remember(self, hidden: mx.array) -> None:
        """Append the hidden states [1, L, D] after tokens that were fed."""
        new = hidden[:, -_KEPT:]
        old = mx.zeros((1, _KEPT, hidden.shape[2]), hidden.dtype) if self.recent is None else self.recent
        self.recent = mx.concatenate([old[:, new.shape[1] :], new], axis=1)

    def rewind(self, length: int) -> None:
        """Go back to `length` tokens."""
        gone, held = self.offset - length, self.recent
        self.offset = length
        if held is not None and gone:
            left = mx.concatenate([mx.zeros_like(held[:, :gone]), held[:, :-gone]], axis=1) if gone < _KEPT else None
            self.recent = left

    def forget_proposals(self, length: int) -> None:
        """Go back to `length` tokens after the head was fed its own proposals, which leave no hidden states."""
        self.offset = length


class PredictionHead(nn.Module):  # type: ignore[misc]
    """The layers of a head, with the names of Qwen's checkpoints."""

    def __init__(self, layer: nn.Module, width: int, eps: float) -> None:
        """Build the module around a decoder layer of the model's kind."""
        super().__init__()
        self.fc = nn.Linear(2 * width, width, bias=False)
        self.pre_fc_norm_embedding = nn.RMSNorm(width, eps=eps)
        self.pre_fc_norm_hidden = nn.RMSNorm(width, eps=eps)
        self.layers = [layer]
        self.norm = nn.RMSNorm(width, eps=eps)

    def __call__(self, embedded: mx.array, hidden: mx.array, cache: Any) -> mx.array:
        """Return the hidden states [B, L, D] after tokens, given their embeddings and the hidden states before."""
        parts = [self.pre_fc_norm_embedding(embedded), self.pre_fc_norm_hidden(hidden)]
        found: mx.array = self.norm(self.layers[0](self.fc(mx.concatenate(parts, axis=-1)), None, cache))
        return found


class Predicting:
    """A model with a head, whose cache comes last; to be mixed with the class of a definition."""

    mtp: PredictionHead

    def attach(self, definition: ModuleType, config: Mapping[str, Any]) -> None:
        """Add the head.

        Args:
            definition: The module of the model's class.
            config: The config that the model was built from.
        """
        args = self._text.args
        self._single = partial(_single_layer, definition, config)
        self.mtp = PredictionHead(self._single().layers[0], args.hidden_size, args.rms_norm_eps)

    def __call__(self, inputs: mx.array, cache: Sequence[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L], some of which may stand for what `view` shows."""
        if cache is None:
            return self._output(self._text.model(inputs))
        *layers, last = cache
        logits, hidden = self.without_head(inputs, layers, view)
        return self.feed_head(inputs, hidden, last, logits, view)

    def without_head(
        self, inputs: mx.array, layers: Sequence[Any], view: View | None = None
    ) -> tuple[mx.array, mx.array]:
        """Return the logits [B, L, V] and hidden states [B, L, D] of tokens [B, L], given the caches of the layers."""
        hidden = self._text.model(inputs, layers) if view is None else self._text.model(inputs, layers, view)
        return self._output(hidden), hidden

    def feed_head(
        self, inputs: mx.array, hidden: mx.array, cache: Any, logits: mx.array, view: View | None = None
    ) -> mx.array:
        """Append tokens [B, L], after which the states [B, L, D] are `hidden`, to the head's cache; return `logits`."""
        rows: Sequence[PredictionCache] = getattr(cache, "rows", (cache,))
        each = mx.split(hidden, len(rows), axis=0)
        before = [row.before(own) for row, own in zip(rows, each, strict=True)]
        self.mtp(self._embedded(inputs, view), mx.concatenate(before, axis=0), self._placed(cache, view))
        for row, own in zip(rows, each, strict=True):
            row.remember(own)
        # Nobody evaluates the caches of a decode step, and the logits do not need this one.
        found: mx.array = mx.depends(logits, [array for row in rows for array in row.state])
        return found

    def predict(self, tokens: mx.array, hidden: mx.array, cache: PredictionCache) -> tuple[mx.array, mx.array]:
        """Return the logits [1, L, V] and hidden states [1, L, D] after tokens that only the head is fed.

        Args:
            tokens: [1, L].
            hidden: The hidden states before them, [1, L, D].
            cache: The head's; `forget_proposals` removes the tokens again.
        """
        after = self.mtp(self._embedded(tokens), hidden, self._placed(cache))
        return self._output(after), after

    def make_cache(self) -> list[Any]:
        """Return the empty caches of the layers and of the head."""
        base: Any = super()
        made = base.make_cache() if hasattr(base, "make_cache") else [KVCache() for _ in base.layers]
        return [*made, PredictionCache()]

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Rename and rearrange weights as the definition does, and those of the head like those of a layer."""
        head = {name: array for name, array in weights.items() if name.startswith(HEAD)}
        others = {name: array for name, array in weights.items() if name not in head}
        base: Any = super()
        arranged: dict[str, mx.array] = base.sanitize(dict(others))
        layer = {name: array for name, array in head.items() if name.startswith(_LAYER)}
        alone = {_ONLY_LAYER + name.removeprefix(_LAYER): array for name, array in layer.items()}
        found = {name: array for name, array in head.items() if name not in layer}
        for name, array in self._single().sanitize(alone).items():
            found[_LAYER + name.rpartition(_ONLY_LAYER)[2]] = array
        norm = next((array for name, array in others.items() if name.endswith("layers.0.input_layernorm.weight")), None)
        if not any(array is norm for array in arranged.values()):
            # The checkpoint holds what is to be added to 1, which the definition tells by other layers of the model.
            raw = set(map(id, head.values()))
            norms = [name for name, array in found.items() if "norm" in name and array.ndim == 1 and id(array) in raw]
            found.update({name: found[name] + 1.0 for name in norms})
        return arranged | found

    def _embedded(self, tokens: mx.array, view: View | None = None) -> mx.array:
        """Return the embeddings [B, L, D] of tokens and images."""
        embedded: mx.array = self._text.model.embed_tokens(tokens)
        return embedded if view is None else view.embeddings(embedded)

    def _placed(self, cache: Any, view: View | None = None) -> Any:
        """Return the head's cache with the rotary positions of the next tokens, where these are not its length."""
        body = self._text.model
        return body.placed_head(cache, view) if isinstance(body, SeeingBody) else cache

    @property
    def width(self) -> int:
        """The size of a hidden state."""
        width: int = self._text.args.hidden_size
        return width

    @property
    def _text(self) -> Any:
        """The language model, which may be inside another one."""
        return getattr(self, "language_model", self)

    def _output(self, hidden: mx.array) -> mx.array:
        """Return the logits [B, L, V] of hidden states [B, L, D]."""
        text = self._text
        logits: mx.array = text.lm_head(hidden) if "lm_head" in text else text.model.embed_tokens.as_linear(hidden)
        return logits


def predicting(definition: ModuleType, config: Mapping[str, Any]) -> nn.Module:
    """Return a model with a head, without its weights.

    Args:
        definition: The module of its definition.
        config: Its config, with the keys of the definition.
    """
    kind = type(f"Predicting{definition.Model.__name__}", (Predicting, definition.Model), {})
    model = kind(definition.ModelArgs.from_dict(copy.deepcopy(dict(config))))
    model.attach(definition, config)
    return model


def _single_layer(definition: ModuleType, config: Mapping[str, Any]) -> nn.Module:
    """Return a model with the only layer that heads have, without its weights."""
    changed = {**copy.deepcopy(dict(config)), **_ONE_LAYER}
    if isinstance(changed.get("text_config"), dict):
        changed["text_config"] |= _ONE_LAYER
    return definition.Model(definition.ModelArgs.from_dict(changed))
