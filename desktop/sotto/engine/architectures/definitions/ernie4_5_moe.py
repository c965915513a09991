"""ERNIE 4.5 with experts, which are chosen with a correction that does not count in their weights.

WORKAROUND: mlx-lm's definition leaves the correction out, so it chooses other experts. Drop this one once it reads it.
"""

from dataclasses import dataclass

import mlx.core as mx
from mlx_lm.models import ernie4_5_moe

_CORRECTION = "e_score_correction_bias"


@dataclass
class ModelArgs(ernie4_5_moe.ModelArgs):  # type: ignore[misc]
    """mlx-lm's arguments, with the least sum by which the weights of experts are divided."""

    moe_layer_end_index: int | None = None
    moe_norm_min: float = 1e-12

    def __post_init__(self) -> None:
        """Resolve -1, which stands for the last layer."""
        if self.moe_layer_end_index == -1:
            self.moe_layer_end_index = None


class Experts(ernie4_5_moe.Ernie4_5_MoeMLP):  # type: ignore[misc]
    """The experts of a layer."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self.e_score_correction_bias = mx.zeros((args.moe_num_experts,))

    def __call__(self, x: mx.array) -> mx.array:
        """Return the weighted sum [B, L, D] of what the chosen experts make of `x` [B, L, D]."""
        chances = self.gate_act(self.gate(x).astype(mx.float32))
        ranks = -(chances + self.e_score_correction_bias)
        chosen = mx.argpartition(ranks, kth=self.k - 1, axis=-1)[..., : self.k]
        shares = mx.take_along_axis(chances, chosen, axis=-1)
        shares = shares / mx.maximum(shares.sum(axis=-1, keepdims=True), self.args.moe_norm_min)
        y: mx.array = (self.switch_mlp(x, chosen) * shares[..., None]).sum(axis=-2).astype(x.dtype)
        return y if self.shared_experts is None else y + self.shared_experts(x)


class Model(ernie4_5_moe.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        for layer in self.layers:
            if isinstance(layer.mlp, ernie4_5_moe.Ernie4_5_MoeMLP):
                layer.mlp = Experts(args)

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Convert weights to the names and shapes of the layers."""
        corrections = {
            name.replace(".moe_statics.", "."): array.reshape(-1)
            for name, array in weights.items()
            if name.endswith(_CORRECTION)
        }
        # mlx-lm's drops them.
        sanitized: dict[str, mx.array] = super().sanitize(weights)
        return sanitized | corrections
