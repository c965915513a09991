"""The first version of GLM-4, which rotates only a part of each head.

WORKAROUND: mlx-lm's definition rotates whole heads. Drop this one once it reads `partial_rotary_factor`.
"""

from dataclasses import dataclass

from mlx import nn
from mlx_lm.models import glm


@dataclass
class ModelArgs(glm.ModelArgs):  # type: ignore[misc]
    """mlx-lm's arguments and the fraction of each head that is rotated."""

    partial_rotary_factor: float = 0.5


class Model(glm.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        dims = int(args.head_dim * args.partial_rotary_factor)
        for layer in self.layers:
            layer.self_attn.rope = nn.RoPE(dims, traditional=True, base=args.rope_theta)
