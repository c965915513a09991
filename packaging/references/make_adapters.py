"""Creates random adapters and logits with them, by PEFT and by mlx-lm: `python make_adapters.py [NAME ...]`.

Each adapter is for one of the tiny models of `make_references.py`. It is written to tests/engine/adapters/NAME as its
program saves it, with `expected.safetensors` beside it: the logits `whole` `[T, V]` of the prompt `ids` `[T]`, and
`base.txt` with the name of the model. Needs the extra `reference`. The same versions produce the same files.
"""

import json
import shutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mlx.core as mx
import peft
import torch
import transformers
from mlx.utils import tree_flatten
from mlx_lm.tuner.utils import linear_to_lora_layers, load_adapters
from mlx_lm.utils import load_model
from safetensors.torch import load_file, save_file
from torch import Tensor

TESTS = Path(__file__).resolve().parents[2] / "tests" / "engine"
TARGET, MODELS = TESTS / "adapters", TESTS / "references"
SEED = 20261124

_ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
_LINEAR = [*_ATTENTION, "gate_proj", "up_proj", "down_proj"]
_EXPERTS = ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]
# By name of the case: the model, and the options of PEFT's configuration.
PEFT_CASES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "llama-peft": ("llama", {"target_modules": _LINEAR}),
    "llama-peft-patterns": (
        "llama",
        {
            "target_modules": [*_ATTENTION, "embed_tokens", "lm_head"],
            "use_rslora": True,
            "rank_pattern": {"q_proj": 6, "^model.layers.1.self_attn.v_proj": 2},
            "alpha_pattern": {"layers.0.self_attn.k_proj": 3, r"o_proj": 20},
        },
    ),
    "llama-peft-saved": ("llama", {"target_modules": ["q_proj"], "modules_to_save": ["lm_head", "embed_tokens"]}),
    "llama-tied-peft": ("llama-tied", {"target_modules": ["embed_tokens", "v_proj"]}),
    "qwen3-peft-dora": ("qwen3", {"target_modules": _LINEAR, "use_dora": True}),
    "gemma3-peft": ("gemma3", {"target_modules": _LINEAR}),
    "qwen3-moe-peft": ("qwen3-moe", {"target_modules": _ATTENTION, "target_parameters": _EXPERTS}),
    "mixtral-peft": ("mixtral", {"target_modules": ["q_proj"], "target_parameters": _EXPERTS[::-1]}),
}
# By name of the case: the model, the kind of training, and the number of layers.
MLX_CASES: Mapping[str, tuple[str, str, int]] = {
    "llama-mlx": ("llama", "lora", 2),
    "llama-mlx-full": ("llama", "full", 1),
    "llama-tied-mlx": ("llama-tied", "lora", 1),
    "qwen3-mlx-dora": ("qwen3", "dora", 2),
    "gemma3-mlx": ("gemma3", "lora", 3),
    "qwen3-moe-mlx": ("qwen3-moe", "lora", 2),
}
_RANK, _SCALE = 4, 1.5
# What mlx-lm's definition requires and transformers 5 names otherwise.
_MORE_CONFIG: Mapping[str, dict[str, Any]] = {"qwen3-moe": {"num_experts": 4, "rope_theta": 10000.0}}


def make_peft(name: str) -> None:
    """Write one case of PEFT's."""
    base, options = PEFT_CASES[name]
    model = transformers.AutoModelForCausalLM.from_pretrained(MODELS / base, attn_implementation="eager").eval()
    config = peft.LoraConfig(r=_RANK, lora_alpha=10, task_type="CAUSAL_LM", **options)
    adapted = peft.get_peft_model(model, config)
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for _, weight in sorted((name, weight) for name, weight in adapted.named_parameters() if weight.requires_grad):
            noise = torch.randn(weight.shape, generator=generator)
            # The lengths of DoRA stay positive.
            longer = weight * (1 + 0.3 * noise.abs())
            weight.copy_(longer if weight.ndim == 1 else 0.6 * noise / weight.shape[-1] ** 0.5)
        ids = load_file(MODELS / base / "expected.safetensors")["ids"]
        whole = adapted(ids.long()[None], use_cache=False).logits[0].float().contiguous()
    folder = _empty(name, base)
    adapted.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    _finish(name, base, ids, whole)


def make_mlx(name: str) -> None:
    """Write one case of mlx-lm's."""
    base, kind, count = MLX_CASES[name]
    model, _ = load_model(MODELS / base, model_config=_MORE_CONFIG.get(base, {}))
    parameters = {"rank": _RANK, "scale": _SCALE, "dropout": 0.0}
    if base == "llama-tied":
        parameters["keys"] = ["self_attn.q_proj", "model.embed_tokens"]
    model.freeze()
    mx.random.seed(SEED)
    if kind == "full":
        for layer in model.layers[-count:]:
            layer.unfreeze()
    else:
        linear_to_lora_layers(model, count, parameters, use_dora=kind == "dora")
    trained = {
        path: array * (1 + 0.3 * mx.abs(mx.random.normal(array.shape)))
        if array.ndim == 1
        else 0.5 * mx.random.normal(array.shape)
        for path, array in sorted(tree_flatten(model.trainable_parameters()))
    }
    folder = _empty(name, base)
    mx.save_safetensors(str(folder / "adapters.safetensors"), trained)
    config = {"fine_tune_type": kind, "num_layers": count, "lora_parameters": parameters}
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=4), encoding="utf-8")
    fresh, _ = load_model(MODELS / base, model_config=_MORE_CONFIG.get(base, {}))
    fresh = load_adapters(fresh, str(folder))
    fresh.eval()
    ids = load_file(MODELS / base / "expected.safetensors")["ids"]
    whole = fresh(mx.array(ids.tolist())[None])[0].astype(mx.float32)
    _finish(name, base, ids, torch.tensor(whole.tolist()))


def _empty(name: str, base: str) -> Path:
    """Return the emptied folder of a case, with the name of its model."""
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "base.txt").write_text(f"{base}\n", encoding="utf-8")
    return folder


def _finish(name: str, base: str, ids: Tensor, whole: Tensor) -> None:
    plain = load_file(MODELS / base / "expected.safetensors")["whole"]
    difference = (whole - plain).abs().max()
    assert difference > 0.1, name
    versions = {"peft": peft.__version__, "transformers": transformers.__version__}
    save_file({"ids": ids, "whole": whole}, TARGET / name / "expected.safetensors", metadata=versions)
    print(f"{name}: logits to {whole.abs().max():.1f}, changed by {difference:.2f}")


def main() -> None:
    """Write the cases named on the command line, or all."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or (*PEFT_CASES, *MLX_CASES):
        make_peft(name) if name in PEFT_CASES else make_mlx(name)


if __name__ == "__main__":
    main()
