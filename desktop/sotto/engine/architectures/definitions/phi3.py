"""Phi-3 with its sliding window, and with LongRoPE that depends on the length of the context in use.

LongRoPE (arXiv:2402.13753) scales rotary positions by one list of factors up to the original context length
(`original_max_position_embeddings`), and by another list beyond it. Keys rotated by different lists cannot be mixed. So
the caller tells the caches how long the context will be, and starts with new ones when it exceeds the original length.

WORKAROUND: mlx-lm's definition always uses the second list. Check at each upgrade whether it has learnt to switch.
"""

import math
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx_lm.models import phi3
from mlx_lm.models.base import scaled_dot_product_attention

from sotto.engine.architectures.cache_types import PlannedKVCache
from sotto.engine.architectures.definitions.windowed import Windowed


@dataclass
class ModelArgs(phi3.ModelArgs):  # type: ignore[misc]
    """mlx-lm's arguments and the window's width in tokens."""

    sliding_window: int | None = None

    @property
    def is_longrope(self) -> bool:
        """Whether positions are scaled by LongRoPE."""
        return bool(self.rope_scaling) and self.rope_scaling["type"] == "longrope"


class LongRoPE(nn.Module):  # type: ignore[misc]
    """Rotary positions with a factor for each pair of dimensions, chosen by the context length in use."""

    def __init__(self, args: ModelArgs, dims: int) -> None:
        """Read the factors from the config.

        Raises:
            ValueError: A list does not have one factor for each of the `dims / 2` pairs.
        """
        super().__init__()
        scaling = args.rope_scaling
        self.dims = dims
        self.original = scaling.get("original_max_position_embeddings", args.original_max_position_embeddings)
        plain = args.rope_theta ** (mx.arange(0, dims, 2, dtype=mx.float32) / dims)
        for name in ("short_factor", "long_factor"):
            if len(scaling[name]) != dims // 2:
                raise ValueError(f"{name} has {len(scaling[name])} factors where there should be {dims // 2}")
        # Their names begin with _ so that MLX does not take them for weights.
        self._short = mx.array(scaling["short_factor"], dtype=mx.float32) * plain
        self._long = mx.array(scaling["long_factor"], dtype=mx.float32) * plain
        self._scale = _attention_factor(scaling, args.max_position_embeddings / self.original, self.original)

    def __call__(self, x: mx.array, offset: int, context: int) -> mx.array:
        """Rotate `x` [B, heads, L, head_dim] from position `offset` on, in a context of `context` tokens."""
        x = x.at[..., : self.dims].multiply(self._scale)
        freqs = self._long if context > self.original else self._short
        return mx.fast.rope(x, self.dims, traditional=False, base=None, scale=1.0, offset=offset, freqs=freqs)


def _attention_factor(scaling: dict[str, Any], ratio: float, original: int) -> float:
    if scaling.get("attention_factor") is not None:
        return float(scaling["attention_factor"])
    ratio = scaling.get("factor") or ratio
    return math.sqrt(1 + math.log(ratio) / math.log(original)) if ratio > 1 else 1.0


class LongAttention(phi3.Attention):  # type: ignore[misc]
    """Attention with rotary positions that depend on the context length in use."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self.rope = LongRoPE(args, int(self.head_dim * args.partial_rotary_factor))

    def __call__(self, x: mx.array, mask: mx.array | None, cache: PlannedKVCache) -> mx.array:
        """Return the attention output [B, L, D] for `x` [B, L, D]."""
        batch, length, _ = x.shape
        widths = [self.n_heads * self.head_dim, (self.n_heads + self.n_kv_heads) * self.head_dim]
        queries, keys, values = (
            part.reshape(batch, length, -1, self.head_dim).transpose(0, 2, 1, 3)
            for part in mx.split(self.qkv_proj(x), widths, axis=-1)
        )
        offset, context = cache.offset, cache.context(length)
        queries, keys = self.rope(queries, offset, context), self.rope(keys, offset, context)
        keys, values = cache.update_and_fetch(keys, values)
        seen = scaled_dot_product_attention(queries, keys, values, cache=cache, scale=self.scale, mask=mask)
        output: mx.array = self.o_proj(seen.transpose(0, 2, 1, 3).reshape(batch, length, -1))
        return output


class Model(Windowed, phi3.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights.

        Raises:
            ValueError: The config has both LongRoPE and a sliding window shorter than its context.
        """
        if args.is_longrope and args.sliding_window:
            if args.sliding_window < args.max_position_embeddings:
                raise ValueError("longrope and a sliding_window shorter than the context are not supported together")
            args.sliding_window = None
        super().__init__(args)
        if args.is_longrope:
            for layer in self.layers:
                layer.self_attn = LongAttention(args)

    def make_cache(self) -> list[Any]:
        """Return one empty cache for each layer."""
        if not self.args.is_longrope:
            return super().make_cache()
        return [PlannedKVCache(layer.self_attn.rope.original) for layer in self.layers]
