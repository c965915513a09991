"""Granite 4 whose shared part keeps its gate apart, as GGUF files do."""

from dataclasses import replace
from typing import Any

import mlx.core as mx
from mlx_lm.models import granitemoehybrid

ModelArgs = granitemoehybrid.ModelArgs

_FUSED, _OUTPUT = ".shared_mlp.input_linear.", ".shared_mlp.output_linear."


class Model(granitemoehybrid.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        if args.use_moe:
            shared = replace(args, intermediate_size=args.shared_intermediate_size, mlp_bias=False)
            for layer in self.layers:
                layer.shared_mlp = granitemoehybrid.GraniteMoeHybridMLP(shared)

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Convert weights to the names and shapes of the layers."""
        sanitized: dict[str, mx.array] = super().sanitize(weights)
        for name in [name for name in sanitized if _FUSED in name]:
            halves = mx.split(sanitized.pop(name), 2, axis=0)
            for part, half in zip(("gate_proj", "up_proj"), halves, strict=True):
                sanitized[name.replace("input_linear", part)] = half
        return {name.replace(_OUTPUT, ".shared_mlp.down_proj."): array for name, array in sanitized.items()}
