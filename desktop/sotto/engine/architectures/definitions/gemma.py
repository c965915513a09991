"""The first version of Gemma, with the activation that it was trained with.

Its configs say `gelu`, but it was trained with the tanh approximation.

WORKAROUND: mlx-lm's definition computes the exact GELU. Drop this one once it uses the approximation.
"""

import mlx.core as mx
from mlx import nn
from mlx_lm.models import gemma

ModelArgs = gemma.ModelArgs


class MLP(gemma.MLP):  # type: ignore[misc]
    """The feed-forward part of a layer."""

    def __call__(self, x: mx.array) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]."""
        output: mx.array = self.down_proj(nn.gelu_approx(self.gate_proj(x)) * self.up_proj(x))
        return output


class Model(gemma.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: gemma.ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        for layer in self.layers:
            layer.mlp = MLP(args.hidden_size, args.intermediate_size)
