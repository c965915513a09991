"""StarCoder2 with its sliding window and the activation that its config names.

WORKAROUND: mlx-lm's definition always computes the exact GELU. Drop this one once it reads `hidden_act` and the window.
"""

from dataclasses import dataclass

import mlx.core as mx
from mlx_lm.models import starcoder2

from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.architectures.definitions.windowed import Windowed


@dataclass
class ModelArgs(starcoder2.ModelArgs):  # type: ignore[misc]
    """mlx-lm's arguments, the window's width in tokens and the activation's name."""

    sliding_window: int | None = None
    hidden_act: str = "gelu_pytorch_tanh"


class MLP(starcoder2.MLP):  # type: ignore[misc]
    """The feed-forward part of a layer."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args.hidden_size, args.intermediate_size)
        self._activation = activation(args.hidden_act)

    def __call__(self, x: mx.array) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]."""
        output: mx.array = self.c_proj(self._activation(self.c_fc(x)))
        return output


class Model(Windowed, starcoder2.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        for layer in self.layers:
            layer.mlp = MLP(args)
