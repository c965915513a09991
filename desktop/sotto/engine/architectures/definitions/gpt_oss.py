"""gpt-oss with the YaRN positions of its config, and with experts that are not quantized."""

import math
from collections.abc import Mapping
from typing import Any

import mlx.core as mx
from mlx_lm.models import gpt_oss
from mlx_lm.models.rope_utils import YarnRoPE

ModelArgs = gpt_oss.ModelArgs


class ExactYarnRoPE(YarnRoPE):  # type: ignore[misc]
    """YaRN (arXiv:2309.00071) whose borders between frequency ranges are not rounded to whole dimensions."""

    def __init__(self, dims: int, base: float, scaling: Mapping[str, Any]) -> None:
        """Compute the wavelengths [dims / 2] from `rope_scaling`."""
        super().__init__(dims, base=base, scaling_factor=scaling["factor"])
        original = scaling.get("original_max_position_embeddings", 4096)

        def border(rotations: float) -> float:
            return dims * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(base))

        low = max(border(scaling.get("beta_fast", 32)), 0)
        high = min(border(scaling.get("beta_slow", 1)), dims - 1)
        ramp = mx.clip((mx.arange(dims // 2, dtype=mx.float32) - low) / max(high - low, 0.001), 0, 1)
        plain = base ** (mx.arange(0, dims, 2, dtype=mx.float32) / dims)
        self._freqs = 1 / (ramp / (scaling["factor"] * plain) + (1 - ramp) / plain)


class Model(gpt_oss.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: gpt_oss.ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        scaling = args.rope_scaling or {}
        # WORKAROUND: mlx-lm's definition always rounds the borders, which is right only if `truncate` is true or
        # missing. Drop `ExactYarnRoPE` once it reads `truncate`.
        if scaling.get("rope_type") == "yarn" and scaling.get("truncate") is False:
            for layer in self.layers:
                layer.self_attn.rope = ExactYarnRoPE(args.head_dim, args.rope_theta, scaling)

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Convert weights to the names and shapes of the layers."""
        names = {name for name in weights if name.endswith(("experts.gate_up_proj", "experts.down_proj"))}
        # WORKAROUND: mlx-lm's definition only reads quantized experts. transformers stores unquantized ones as
        # [experts, in, out], with gate and up interleaved along `out`. Check at each upgrade whether it reads them.
        experts = {name: weights.pop(name).swapaxes(-1, -2) for name in names}
        for name, weight in experts.items():
            if name.endswith("down_proj"):
                weights[f"{name}.weight"] = weight
            else:
                stem = name.removesuffix("gate_up_proj")
                weights[f"{stem}gate_proj.weight"] = weight[..., ::2, :]
                weights[f"{stem}up_proj.weight"] = weight[..., 1::2, :]
        if experts:
            for name in [name for name in weights if name.endswith("proj_bias")]:
                bias = weights.pop(name)
                if name.endswith("down_proj_bias"):
                    weights[name.removesuffix("_bias") + ".bias"] = bias
                else:
                    stem = name.removesuffix("gate_up_proj_bias")
                    weights[f"{stem}gate_proj.bias"] = bias[..., ::2]
                    weights[f"{stem}up_proj.bias"] = bias[..., 1::2]
        sanitized: dict[str, mx.array] = super().sanitize(weights)
        return sanitized
