"""GPT-NeoX with the activation that its config names.

WORKAROUND: mlx-lm's definition always approximates GELU. Drop this one once it reads `hidden_act`.
"""

from dataclasses import dataclass

import mlx.core as mx
from mlx_lm.models import gpt_neox

from sotto.engine.architectures.definitions.activation import activation


@dataclass
class ModelArgs(gpt_neox.ModelArgs):  # type: ignore[misc]
    """mlx-lm's arguments and the activation's name."""

    hidden_act: str = "gelu"


class MLP(gpt_neox.MLP):  # type: ignore[misc]
    """The feed-forward part of a layer."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self._activation = activation(args.hidden_act)

    def __call__(self, x: mx.array) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]."""
        output: mx.array = self.dense_4h_to_h(self._activation(self.dense_h_to_4h(x)))
        return output


class Model(gpt_neox.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        for layer in self.layers:
            layer.mlp = MLP(args)
