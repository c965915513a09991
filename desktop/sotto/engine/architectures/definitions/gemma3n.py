"""Gemma 3n without the keys and values of layers that use those of an earlier layer.

WORKAROUND: mlx-lm's definition expects these weights although it never uses them with a cache; transformers 5 no longer
saves them. Without a cache, it computes something else. Check at each upgrade whether either is mended.
"""

import re
from typing import Any

import mlx.core as mx
from mlx_lm.models import gemma3n

ModelArgs = gemma3n.ModelArgs

_UNUSED = re.compile(r"model\.language_model\.layers\.(\d+)\.self_attn\.(?:k_proj|v_proj|k_norm)\..+")
_STACKED = re.compile(r"(model\.language_model\.altup(?:_unembed)?_projections)\.([a-z]+)")


class Model(gemma3n.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: gemma3n.ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        for layer in self.layers[self._first_shared :]:
            for part in ("k_proj", "v_proj", "k_norm"):
                layer.self_attn.pop(part)

    def __call__(self, inputs: mx.array, cache: list[Any] | None = None) -> mx.array:
        """Return the logits [B, L, V] of tokens [B, L]."""
        logits: mx.array = super().__call__(inputs, self.make_cache() if cache is None else cache)
        return logits

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Convert weights to the names of the layers."""
        sanitized: dict[str, mx.array] = super().sanitize(weights)
        # GGUF files hold these projections in one tensor.
        for name in [name for name in sanitized if _STACKED.fullmatch(name)]:
            for number, array in enumerate(sanitized.pop(name)):
                sanitized[_STACKED.sub(rf"\1.{number}.\2", name)] = array
        return {name: array for name, array in sanitized.items() if not self._is_unused(name)}

    @property
    def _first_shared(self) -> int:
        first: int = self.model.language_model.first_kv_shared_layer_idx
        return first

    def _is_unused(self, name: str) -> bool:
        match = _UNUSED.fullmatch(name)
        return match is not None and int(match[1]) >= self._first_shared
