"""Writing random adapters for tests."""

import json
from pathlib import Path

import mlx.core as mx

LAYERS = ("self_attn.q_proj", "self_attn.v_proj", "mlp.up_proj")


def write_adapter(folder: Path, model: Path, seed: int = 0, rank: int = 4, spread: float = 0.5) -> Path:
    """Write an adapter as mlx-lm does for a model in a folder, and return its folder."""
    mx.random.seed(seed)
    tensors = {}
    for name, weight in sorted(mx.load(str(model / "model.safetensors")).items()):
        layer = name.removesuffix(".weight")
        if layer.endswith(LAYERS):
            tensors[f"{layer}.lora_a"] = spread * mx.random.normal((weight.shape[1], rank))
            tensors[f"{layer}.lora_b"] = spread * mx.random.normal((rank, weight.shape[0]))
    folder.mkdir(exist_ok=True)
    mx.save_safetensors(str(folder / "adapters.safetensors"), tensors)
    config = {"num_layers": -1, "lora_parameters": {"rank": rank, "scale": 1.0, "dropout": 0.0}}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder
