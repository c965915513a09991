"""Creates tiny random models and their logits by transformers for the tests: `python make_references.py [NAME ...]`.

Each model is written to tests/engine/references/NAME as transformers saves it, with `expected.safetensors` beside it:

- `ids`: a prompt `[T]`;
- `whole`: its logits `[T, V]` in one forward pass;
- `short_ids`, `short_whole`: the same for a prompt shorter than the original context and any sliding window;
- `each`: row t is the last row of a forward pass over the first t + 1 tokens, for models where `whole` differs;
- `steps`: row t is the logits of token t with a cache, for models where `whole` differs;
- `predicted` and `chained`: the logits of a head for multi-token prediction, see `prediction_heads.py`.

Needs the extra `reference`. The same versions produce the same files.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import prediction_heads
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

TARGET = Path(__file__).resolve().parents[2] / "tests" / "engine" / "references"
SEED = 20261121
LENGTH, SHORT = 44, 12

_SHAPE: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
_LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0, 1.1, 1.3, 1.6],
    "long_factor": [1.5, 2.5, 4.0, 8.0],
    "original_max_position_embeddings": 32,
}
_YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "original_max_position_embeddings": 32,
}
_GROWING_YARN = _YARN | {"mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}
_MAMBA2 = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1, "mamba_chunk_size": 8}
_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "norm_topk_prob": True}
_LATENT = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "n_group": 2,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
    "routed_scaling_factor": 1.5,
}
# As many heads as that the sums of rectified scores are never equal.
_INDEXER = {"index_n_heads": 16, "index_head_dim": 16, "index_topk": 8}
_GEMMA4 = {
    "head_dim": 8,
    "global_head_dim": 16,
    "sliding_window": 16,
    "num_hidden_layers": 6,
    "tie_word_embeddings": True,
    "hidden_size_per_layer_input": 0,
    "num_kv_shared_layers": 0,
}
_NEMOTRON = {
    "head_dim": 8,
    "mamba_num_heads": 8,
    "mamba_head_dim": 8,
    "ssm_state_size": 8,
    "n_groups": 2,
    "chunk_size": 8,
    # transformers clips time steps from below only when it computes several tokens at once; nobody else does.
    "time_step_min": 1e-30,
}
_HUNYUAN = {
    "head_dim": 8,
    "tie_word_embeddings": True,
    "rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "alpha": 1000.0, "factor": 1.0},
}
_LINEAR = {
    "num_hidden_layers": 4,
    "head_dim": 8,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "shared_expert_intermediate_size": 16,
}
# By name of the case: the model type, and its options beside the common shape.
CASES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "llama-tied": ("llama", {"tie_word_embeddings": True, "attention_bias": True}),
    "llama-llama3": ("llama", {"rope_parameters": _LLAMA3}),
    "llama-linear": ("llama", {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}}),
    "mistral-window": ("mistral", {"sliding_window": 16, "head_dim": 8}),
    "qwen2": ("qwen2", {}),
    "qwen3": ("qwen3", {"head_dim": 8}),
    "qwen3-moe": ("qwen3_moe", {"head_dim": 8, "decoder_sparse_step": 1, "mlp_only_layers": [], **_EXPERTS}),
    "gemma2": (
        "gemma2",
        {
            "tie_word_embeddings": True,
            "head_dim": 8,
            "sliding_window": 16,
            "query_pre_attn_scalar": 8,
            "num_hidden_layers": 4,
        },
    ),
    "gemma3": (
        "gemma3_text",
        {"head_dim": 8, "sliding_window": 16, "query_pre_attn_scalar": 8, "num_hidden_layers": 7},
    ),
    "phi3": ("phi3", {"sliding_window": 16}),
    "phi3-longrope": ("phi3", {"rope_parameters": _LONGROPE, "original_max_position_embeddings": 32}),
    "olmo2": ("olmo2", {}),
    "granite": (
        "granite",
        {
            "embedding_multiplier": 6.0,
            "attention_multiplier": 0.2,
            "residual_multiplier": 0.4,
            "logits_scaling": 2.0,
        },
    ),
    "glm4": ("glm4", {"head_dim": 8, "attention_bias": True}),
    "smollm3": ("smollm3", {"num_hidden_layers": 4, "use_cache": True}),
    "stablelm": ("stablelm", {"use_qkv_bias": True, "num_key_value_heads": 4}),
    "starcoder2": ("starcoder2", {"sliding_window": 16}),
    "mixtral": ("mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "mixtral-window": ("mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 16}),
    "deepseek-v3": ("deepseek_v3", _LATENT),
    "mamba": ("mamba", {"state_size": 8, "time_step_rank": 4, "intermediate_size": 64, "use_conv_bias": True}),
    "qwen3-next": ("qwen3_next", {**_LINEAR, "decoder_sparse_step": 1, "mlp_only_layers": [], **_EXPERTS}),
    # Families whose configuration, activations or positions are corrected on loading.
    "apertus": ("apertus", {}),
    "gemma": ("gemma", {"head_dim": 8, "tie_word_embeddings": True}),
    "gemma4": (
        "gemma4_text",
        {
            "head_dim": 8,
            "global_head_dim": 16,
            "sliding_window": 16,
            "num_hidden_layers": 6,
            "tie_word_embeddings": True,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": 64,
            "num_kv_shared_layers": 0,
        },
    ),
    "glm": ("glm", {"head_dim": 8}),
    "gpt-neox": ("gpt_neox", {"intermediate_size": 128}),
    "gpt-oss": (
        "gpt_oss",
        {
            "head_dim": 8,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "sliding_window": 16,
            "rope_parameters": _YARN | {"truncate": False},
        },
    ),
    "granite-hybrid": (
        "granitemoehybrid",
        {
            "num_hidden_layers": 3,
            "layer_types": ["mamba", "attention", "mamba"],
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "shared_intermediate_size": 16,
            "position_embedding_type": "rope",
            **_MAMBA2,
        },
    ),
    "lfm2": (
        "lfm2",
        {
            "num_hidden_layers": 3,
            "layer_types": ["conv", "full_attention", "conv"],
            "conv_L_cache": 3,
            "block_auto_adjust_ff_dim": False,
            "tie_word_embeddings": True,
        },
    ),
    "llama-yarn": ("llama", {"rope_parameters": _YARN}),
    # Families that bring a head for multi-token prediction, which transformers leaves out.
    "deepseek-v3-mtp": ("deepseek_v3", {"num_nextn_predict_layers": 1, **_LATENT}),
    "glm4-moe-mtp": (
        "glm4_moe",
        {
            "num_nextn_predict_layers": 1,
            "head_dim": 8,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "n_shared_experts": 1,
            "n_group": 1,
            "topk_group": 1,
            "moe_intermediate_size": 16,
            "first_k_dense_replace": 1,
            "use_qk_norm": True,
        },
    ),
    "glm4-moe-lite-mtp": ("glm4_moe_lite", {"num_nextn_predict_layers": 1, **_LATENT}),
    "qwen3-next-mtp": ("qwen3_next", {**_LINEAR, "decoder_sparse_step": 1, "mlp_only_layers": [], **_EXPERTS}),
    "qwen3-5-mtp": ("qwen3_5_text", {"mtp_num_hidden_layers": 1, **_LINEAR}),
    "qwen3-5-moe-mtp": ("qwen3_5_moe_text", {"mtp_num_hidden_layers": 1, **_LINEAR, **_EXPERTS}),
    # Families of mlx-lm and our own, which nothing is corrected in.
    "deepseek-v32": ("deepseek_v32", {**_LATENT, **_INDEXER}),
    "ernie4-5": ("ernie4_5", {"head_dim": 8, "tie_word_embeddings": True}),
    "ernie4-5-moe": (
        "ernie4_5_moe",
        {
            "num_hidden_layers": 3,
            "moe_num_experts": 4,
            "moe_k": 2,
            "moe_intermediate_size": 16,
            "moe_num_shared_experts": 1,
            "moe_layer_start_index": 1,
        },
    ),
    "exaone4": (
        "exaone4",
        {
            "head_dim": 8,
            "num_hidden_layers": 4,
            "sliding_window": 16,
            "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
        },
    ),
    "falcon-h1": (
        "falcon_h1",
        {
            "head_dim": 8,
            "mamba_d_ssm": 64,
            **_MAMBA2,
            "key_multiplier": 0.7,
            "attention_in_multiplier": 1.2,
            "ssm_multipliers": [1.1, 0.9, 0.8, 1.2, 0.7],
            "mlp_multipliers": [0.8, 1.1],
            "lm_head_multiplier": 0.5,
            "embedding_multiplier": 2.0,
        },
    ),
    "gemma3n": (
        "gemma3n_text",
        {
            "head_dim": 8,
            "sliding_window": 16,
            "num_hidden_layers": 10,
            "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 2,
            "num_kv_shared_layers": 4,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": 64,
            "laurel_rank": 8,
            "activation_sparsity_pattern": [0.95] * 5 + [0.0] * 5,
            "tie_word_embeddings": True,
        },
    ),
    "gemma4-moe": (
        "gemma4_text",
        {
            **_GEMMA4,
            "enable_moe_block": True,
            "num_experts": 4,
            "top_k_experts": 2,
            "moe_intermediate_size": 16,
            "attention_k_eq_v": True,
            "num_global_key_value_heads": 1,
        },
    ),
    "gemma4-shared": (
        "gemma4_text",
        {
            **_GEMMA4,
            "num_hidden_layers": 10,
            "layer_types": (["sliding_attention"] * 4 + ["full_attention"]) * 2,
            "num_kv_shared_layers": 4,
            "use_double_wide_mlp": True,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": 64,
        },
    ),
    "glm-moe-dsa": ("glm_moe_dsa", {**_LATENT, **_INDEXER}),
    "granite-hybrid-dense": (
        "granitemoehybrid",
        {
            "num_hidden_layers": 3,
            "layer_types": ["mamba", "attention", "mamba"],
            "num_local_experts": 0,
            "num_experts_per_tok": 0,
            "shared_intermediate_size": 16,
            **_MAMBA2,
        },
    ),
    "granite-hybrid-moe": (
        "granitemoehybrid",
        {
            "layer_types": ["mamba", "attention"],
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "intermediate_size": 16,
            "shared_intermediate_size": 16,
            "embedding_multiplier": 6.0,
            "attention_multiplier": 0.2,
            "residual_multiplier": 0.4,
            "logits_scaling": 2.0,
            **_MAMBA2,
        },
    ),
    "hunyuan-dense": ("hunyuan_v1_dense", _HUNYUAN),
    "hunyuan-moe": (
        "hunyuan_v1_moe",
        {
            **_HUNYUAN,
            "num_experts": 4,
            "moe_topk": [2, 2],
            "num_shared_expert": [1, 1],
            "moe_intermediate_size": [48, 48],
        },
    ),
    "lfm2-moe": (
        "lfm2_moe",
        {
            "num_hidden_layers": 4,
            "layer_types": ["conv", "full_attention"] * 2,
            "conv_L_cache": 3,
            "tie_word_embeddings": True,
            "num_dense_layers": 1,
            "use_expert_bias": True,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 16,
        },
    ),
    "minimax-m2": (
        "minimax_m2",
        {
            "head_dim": 8,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "rotary_dim": 4,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
        },
    ),
    "ministral3": ("ministral3", {"head_dim": 8, "rope_parameters": _GROWING_YARN}),
    "mistral4": ("mistral4", {**_LATENT, "rope_parameters": _GROWING_YARN}),
    "nemotron-h": (
        "nemotron_h",
        {"layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp"], **_NEMOTRON},
    ),
    "nemotron-h-moe": (
        "nemotron_h",
        {
            "layers_block_type": ["linear_attention", "moe", "full_attention", "moe"],
            **_NEMOTRON,
            "n_routed_experts": 4,
            "moe_intermediate_size": 16,
            "moe_shared_expert_intermediate_size": 16,
            "n_group": 1,
            "topk_group": 1,
        },
    ),
    "olmo3": ("olmo3", {"num_hidden_layers": 4, "sliding_window": 16}),
    "seed-oss": ("seed_oss", {"head_dim": 8}),
    "mamba2": ("mamba2", {"state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8, "expand": 2}),
}
# Text models that occur only inside of another model, by the type of that model.
INSIDE: Mapping[str, str] = {"gemma3n_text": "gemma3n", "mistral4": "mistral3"}
# Options that must affect the logits: with these changes the logits have to differ.
EFFECTIVE_OPTIONS: Mapping[str, dict[str, Any]] = {
    "mistral-window": {"sliding_window": None},
    "mixtral-window": {"sliding_window": None},
    "gemma2": {"sliding_window": 128},
    "gemma3": {"sliding_window": 128},
    "phi3": {"sliding_window": None},
    "starcoder2": {"sliding_window": None},
}


def build(kind: str, options: Mapping[str, Any]) -> nn.Module:
    """Return a reproducible random model in which every weight affects the logits."""
    config = transformers.CONFIG_MAPPING[kind](**{**_SHAPE, **options})
    torch.manual_seed(SEED)
    if kind == "mistral4":
        # It is not registered, as it only occurs inside of another model.
        transformers.AutoModelForCausalLM.register(type(config), transformers.Mistral4ForCausalLM, exist_ok=True)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith(("A_log", "dt_bias", ".D")):
                weight += 0.1 * noise
            elif weight.ndim == 1:
                weight += 0.2 * noise
            else:
                scale = 1.0 if "embed" in name else 3.0 if "lm_head" in name else 1.3
                weight.copy_(noise * scale / (1.0 if "embed" in name else weight.shape[-1] ** 0.5))
        for name, buffer in sorted(model.named_buffers()):
            if name.endswith("e_score_correction_bias"):
                buffer += 0.1 * torch.randn(buffer.shape, generator=generator)
    return model


@torch.no_grad()
def logits(model: nn.Module, ids: Tensor) -> Tensor:
    """Return the logits `[T, V]` of one forward pass without a cache."""
    return model(ids[None], use_cache=False).logits[0].float().contiguous()


@torch.no_grad()
def steps(model: nn.Module, ids: Tensor) -> Tensor:
    """Return the logits `[T, V]` of evaluating the tokens one by one, with a cache."""
    cache = transformers.DynamicCache(config=model.config)
    return torch.cat([model(token[None, None], past_key_values=cache).logits[0] for token in ids]).float()


def expected(name: str, model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Yield the names and tensors of `expected.safetensors`."""
    generator = torch.Generator().manual_seed(SEED)
    ids = torch.randint(3, _SHAPE["vocab_size"], (LENGTH,), generator=generator)
    yield "ids", ids.to(torch.int32)
    yield "whole", logits(model, ids)
    yield "short_ids", ids[:SHORT].to(torch.int32)
    yield "short_whole", logits(model, ids[:SHORT])
    if "longrope" in name:
        yield "each", torch.stack([logits(model, ids[: end + 1])[-1] for end in range(LENGTH)])
        yield "steps", steps(model, ids)


def make(name: str) -> None:
    """Write one case, a random model with its expected logits."""
    kind, options = CASES[name]
    model = build(kind, options)
    folder = TARGET / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if kind in INSIDE:
        put_inside(folder, INSIDE[kind])
    tensors = dict(expected(name, model))
    if name in prediction_heads.LAYOUTS:
        tensors |= prediction_heads.add_head(
            name, model, build(kind, {**options, **prediction_heads.ONE_LAYER}), folder, tensors["ids"].long()
        )
    if change := EFFECTIVE_OPTIONS.get(name):
        changed = build(kind, {**options, **change})
        assert (logits(changed, tensors["ids"].long()) - tensors["whole"]).abs().max() > 0.1, name
        assert (logits(changed, tensors["short_ids"].long()) - tensors["short_whole"]).abs().max() < 1e-4, name
    save_file(tensors, folder / "expected.safetensors", metadata={"transformers": transformers.__version__})
    saved = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = sum(tensor.numel() for tensor in load_file(folder / "model.safetensors").values())
    print(f"{name}: {saved['model_type']}, {weights:,} weights, logits to {tensors['whole'].abs().max():.1f}")


def put_inside(folder: Path, kind: str) -> None:
    """Change a saved text model to the inner part of a model of this type, as its checkpoints have it."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    outer = {"architectures": [f"{kind.capitalize()}ForConditionalGeneration"], "model_type": kind}
    outer |= {"tie_word_embeddings": config["tie_word_embeddings"], "text_config": config}
    (folder / "config.json").write_text(json.dumps(outer, indent=2) + "\n", encoding="utf-8")
    path = folder / "model.safetensors"
    tensors = {
        name.replace("model.", "model.language_model.", 1) if name.startswith("model.") else name: tensor
        for name, tensor in load_file(path).items()
    }
    save_file(tensors, path, metadata={"format": "pt"})


def main() -> None:
    """Write the cases named on the command line, or all."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or CASES:
        make(name)


if __name__ == "__main__":
    main()
