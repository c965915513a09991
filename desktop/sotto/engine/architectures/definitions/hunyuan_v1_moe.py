"""Hunyuan with experts, as transformers defines it: the dense model with experts beside a shared feed-forward part.

mlx-lm has a definition of the first checkpoints only, whose attention is another.
"""

from dataclasses import dataclass

import mlx.core as mx
from mlx import nn
from mlx_lm.models import hunyuan_v1_dense
from mlx_lm.models.switch_layers import SwitchGLU


def _only(value: int | list[int], key: str) -> int:
    """Return a number that checkpoints state once or for each layer."""
    if not isinstance(value, list):
        return value
    if len(set(value)) != 1:
        raise ValueError(f"{key} should be the same for all layers")
    return value[0]


@dataclass
class ModelArgs(hunyuan_v1_dense.ModelArgs):  # type: ignore[misc]
    """The arguments of the dense model and those of experts."""

    num_experts: int | list[int] = 1
    moe_topk: int | list[int] = 1
    num_shared_expert: int | list[int] = 1
    moe_intermediate_size: int | list[int] | None = None


class Gate(nn.Module):  # type: ignore[misc]
    """The scores of experts."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.wg = nn.Linear(args.hidden_size, _only(args.num_experts, "num_experts"), bias=False)

    def __call__(self, x: mx.array) -> mx.array:
        """Return the chances [B, L, E] of experts for `x` [B, L, D]."""
        chances: mx.array = mx.softmax(self.wg(x), axis=-1, precise=True)
        return chances


class Experts(nn.Module):  # type: ignore[misc]
    """Experts, and a part that every token passes."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.gate = Gate(args)
        width = _only(args.moe_intermediate_size or args.intermediate_size, "moe_intermediate_size")
        self.switch_mlp = SwitchGLU(args.hidden_size, width, _only(args.num_experts, "num_experts"))
        self.shared_mlp = Shared(args)
        self._count = _only(args.moe_topk, "moe_topk")

    def __call__(self, x: mx.array) -> mx.array:
        """Return the result [B, L, D] for `x` [B, L, D]."""
        chances = self.gate(x)
        chosen = mx.argpartition(-chances, kth=self._count - 1, axis=-1)[..., : self._count]
        shares = mx.take_along_axis(chances, chosen, axis=-1)
        shares = shares / shares.sum(axis=-1, keepdims=True)
        y = (self.switch_mlp(x, chosen) * shares[..., None]).sum(axis=-2).astype(x.dtype)
        both: mx.array = y + self.shared_mlp(x)
        return both


class Shared(hunyuan_v1_dense.MLP):  # type: ignore[misc]
    """The part that every token passes."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        width = args.intermediate_size * _only(args.num_shared_expert, "num_shared_expert")
        self.gate_proj = nn.Linear(args.hidden_size, width, bias=False)
        self.up_proj = nn.Linear(args.hidden_size, width, bias=False)
        self.down_proj = nn.Linear(width, args.hidden_size, bias=False)


class Model(hunyuan_v1_dense.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: Layers differ in their experts.
        """
        super().__init__(args)
        for layer in self.layers:
            layer.mlp = Experts(args)
