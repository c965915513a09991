"""The language model inside LFM2 models with vision."""

import importlib
from typing import Any

import mlx.core as mx

from sotto.engine.architectures.image_view import View

# The name of the module is no name in Python.
_lfm2_vl = importlib.import_module("mlx_lm.models.lfm2-vl")
ModelArgs = _lfm2_vl.ModelArgs


class Model(_lfm2_vl.Model):  # type: ignore[misc, name-defined]
    """A causal language model."""

    def __call__(self, inputs: mx.array, cache: list[Any] | None = None, view: View | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L]."""
        embedded = None if view is None else view.embeddings(self.language_model.model.embed_tokens(inputs))
        logits: mx.array = self.language_model(inputs, cache, embedded)
        return logits

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names and with the shapes of the parameters here, from those of transformers or here.

        WORKAROUND: mlx-lm's definition expects its own names and convolutions alone. Check at each upgrade.
        """
        prefix = "language_model."
        inner = {}
        for stored, array in weights.items():
            name = stored.removeprefix("model.").removeprefix(prefix)
            inner[name if name.startswith(("model.", "lm_head.")) else f"model.{name}"] = array
        return {f"{prefix}{name}": array for name, array in self.language_model.sanitize(inner).items()}
