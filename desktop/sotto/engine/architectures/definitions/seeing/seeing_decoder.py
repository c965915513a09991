"""A text model of a family of its own inside a model that sees, with features in the place of some embeddings.

It computes LLaVA, LLaVA Next, Pixtral, Mistral 3, Idefics 3 and SmolVLM.
"""

import importlib
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx_lm.models.base import BaseModelArgs
from mlx_lm.models.cache import KVCache

from sotto.engine.architectures.image_view import View

# Each has a definition whose models take embeddings in the place of tokens.
_DEFINITIONS = {
    "granite": "sotto.engine.architectures.definitions.granite",
    "llama": "mlx_lm.models.llama",
    "ministral3": "mlx_lm.models.ministral3",
    "mistral": "sotto.engine.architectures.definitions.mistral",
    "mistral4": "mlx_lm.models.mistral4",
    "qwen2": "mlx_lm.models.qwen2",
}
_OUTER = ("model.language_model.", "model.text_model.", "language_model.", "text_model.", "model.")
_HEAD = "lm_head."


@dataclass
class ModelArgs(BaseModelArgs):  # type: ignore[misc]
    """The config of a model."""

    model_type: str
    text_config: dict[str, Any]
    tie_word_embeddings: bool = False


class Model(nn.Module):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.args = args
        self.model_type = args.model_type
        # Old configs do not name the inner type.
        definition = importlib.import_module(_DEFINITIONS[args.text_config.get("model_type") or "llama"])
        # Since version 5, transformers goes by the outer config alone.
        tied = bool(args.tie_word_embeddings or args.text_config.get("tie_word_embeddings"))
        text = {**args.text_config, "tie_word_embeddings": tied}
        self.language_model = definition.Model(definition.ModelArgs.from_dict(text))

    def __call__(self, inputs: mx.array, cache: list[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L], some of which may be those of images."""
        options = {}
        if view is not None:
            options["input_embeddings"] = view.embeddings(self.language_model.model.embed_tokens(inputs))
        logits: mx.array = self.language_model(inputs, cache=cache, **options)
        return logits

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names of the parameters, from any of the names that releases have given them."""
        inner = {_inner_name(name): array for name, array in weights.items()}
        text = self.language_model
        if text.args.tie_word_embeddings and f"{_HEAD}weight" in inner:
            # As in transformers, whose default is wrong for Mistral Small, an output layer that is stored is used.
            text.args.tie_word_embeddings = False
            text.lm_head = nn.Linear(text.args.hidden_size, text.args.vocab_size, bias=False)
        return {f"language_model.{name}": array for name, array in self.language_model.sanitize(inner).items()}

    @property
    def layers(self) -> list[nn.Module]:
        """The layers of the text model."""
        layers: list[nn.Module] = self.language_model.layers
        return layers

    def make_cache(self) -> list[Any]:
        """Return one empty cache for each layer."""
        inner = self.language_model
        return inner.make_cache() if hasattr(inner, "make_cache") else [KVCache() for _ in self.layers]


def _inner_name(name: str) -> str:
    """Return the name of a tensor within the text model, which begins with `model.` or `lm_head.`."""
    prefix = next((outer for outer in _OUTER if name.startswith(outer)), "")
    part = name.removeprefix(prefix).removeprefix("model.")
    return part if part.startswith(_HEAD) else f"model.{part}"
