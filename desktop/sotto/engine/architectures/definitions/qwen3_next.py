"""Qwen3-Next, also from stores in which experts are stacked already.

WORKAROUND: mlx-lm's definition takes weights whose experts are stacked for its own, and leaves the convolutions and
norms of the original checkpoints as they are. Drop this one once it looks at the convolutions, as it does for Qwen3.5.
"""

import mlx.core as mx
from mlx_lm.models import qwen3_next

ModelArgs = qwen3_next.ModelArgs

_NORMS = (
    ".input_layernorm.weight",
    ".post_attention_layernorm.weight",
    "model.norm.weight",
    ".q_norm.weight",
    ".k_norm.weight",
)


class Model(qwen3_next.Model):  # type: ignore[misc]
    """A causal language model."""

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return the weights with the names and in the layout of this definition."""
        arranged: dict[str, mx.array] = super().sanitize(weights)
        # In the definition's own layout, the last dimension of a convolution is 1.
        original = any("conv1d.weight" in name and array.shape[-1] != 1 for name, array in arranged.items())
        if not original:
            return arranged
        for name, array in arranged.items():
            if "conv1d.weight" in name:
                arranged[name] = array.moveaxis(2, 1)
            elif name.endswith(_NORMS) and array.ndim == 1:
                arranged[name] = array + 1.0
        return arranged
