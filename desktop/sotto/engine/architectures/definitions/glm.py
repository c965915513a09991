"""GLM-4 of the first version, which rotates a part of each head only."""

from dataclasses import dataclass

from mlx import nn
from mlx_lm.models import glm


@dataclass
class ModelArgs(glm.ModelArgs):  # type: ignore[misc]
    """The borrowed arguments and the part of each head that is rotated."""

    partial_rotary_factor: float = 0.5


class Model(glm.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build it with weights yet to be loaded."""
        super().__init__(args)
        dims = int(args.head_dim * args.partial_rotary_factor)
        for layer in self.layers:
            layer.self_attn.rope = nn.RoPE(dims, traditional=True, base=args.rope_theta)
