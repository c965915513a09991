"""Converting the values of GGUF files whose layers are not all alike, some recurrent, to a `config.json`.

Each function gets the values, and the keys that all architectures have.
"""

from collections.abc import Mapping
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf.family_configs import Builder
from sotto.store.gguf.metadata_values import Values
from sotto.store.printable import printable_path

Config = dict[str, Any]


def _qwen35(values: Values, config: Config) -> Config:
    heads, inner = values.integer(".ssm.time_step_rank"), values.integer(".ssm.inner_size")
    if inner % heads:
        raise values.error(".ssm.inner_size", f"a multiple of {heads}, the number of heads")
    return config | {
        "model_type": "qwen3_5_text",
        "full_attention_interval": values.integer(".full_attention_interval", 4),
        "linear_conv_kernel_dim": values.integer(".ssm.conv_kernel"),
        "linear_key_head_dim": values.integer(".ssm.state_size"),
        "linear_num_key_heads": values.integer(".ssm.group_count"),
        "linear_num_value_heads": heads,
        "linear_value_head_dim": inner // heads,
        "linear_heads_tiled": True,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": config["rope_theta"],
            "partial_rotary_factor": values.integer(".rope.dimension_count", config["head_dim"]) / config["head_dim"],
        },
    }


def _qwen35_moe(values: Values, config: Config) -> Config:
    return _qwen35(values, config) | {
        "model_type": "qwen3_5_moe_text",
        "num_experts": values.integer(".expert_count"),
        "num_experts_per_tok": values.integer(".expert_used_count"),
        "moe_intermediate_size": values.integer(".expert_feed_forward_length"),
        "shared_expert_intermediate_size": values.integer(".expert_shared_feed_forward_length"),
    }


def _qwen3_next(values: Values, config: Config) -> Config:
    # The converter separates what the checkpoints hold fused, which leaves what Qwen 3.5 computes.
    return _qwen35_moe(values, config) | {"linear_heads_tiled": False}


def _lfm2(values: Values, config: Config) -> Config:
    layers = config["num_hidden_layers"]
    keys = values.integers(".attention.head_count_kv", layers, 0)
    return config | {
        "model_type": "lfm2",
        "norm_eps": config["rms_norm_eps"],
        "conv_bias": "blk.0.shortconv.conv.bias" in values.file.tensors,
        "conv_L_cache": values.integer(".shortconv.l_cache"),
        "block_multiple_of": 1,
        "block_ffn_dim_multiplier": 1.0,
        "block_auto_adjust_ff_dim": False,
        "layer_types": ["full_attention" if count else "conv" for count in keys],
    }


def _lfm2_moe(values: Values, config: Config) -> Config:
    dense = values.integer(".leading_dense_block_count", 0, 0)
    return _lfm2(values, config) | {
        "model_type": "lfm2_moe",
        "num_dense_layers": dense,
        "num_experts": values.integer(".expert_count"),
        "num_experts_per_tok": values.integer(".expert_used_count"),
        "moe_intermediate_size": values.integer(".expert_feed_forward_length"),
        "norm_topk_prob": values.boolean(".expert_weights_norm", True),
        "use_expert_bias": f"blk.{dense}.exp_probs_b.bias" in values.file.tensors,
    }


def _recurrent(values: Values, layers: int) -> list[bool]:
    """Return which layers are recurrent: those with the tensors of one."""
    return [f"blk.{layer}.ssm_in.weight" in values.file.tensors for layer in range(layers)]


def _granite_hybrid(values: Values, config: Config) -> Config:
    recurrent = _recurrent(values, config["num_hidden_layers"])
    heads, inner = values.integer(".ssm.time_step_rank"), values.integer(".ssm.inner_size")
    experts = values.integer(".expert_count", 0, 0)
    # Files say whether positions are rotated in a key that is meant for another purpose.
    rotated = values.boolean(".rope.scaling.finetuned", True)
    attending = recurrent.index(False) if False in recurrent else 0
    shared = values.integer(".expert_shared_feed_forward_length", 0, 0)
    config |= {
        "model_type": "granitemoehybrid",
        "layer_types": ["mamba" if found else "attention" for found in recurrent],
        "position_embedding_type": "rope" if rotated else "nope",
        "attention_multiplier": values.number(".attention.scale", config["head_dim"] ** -0.5),
        "embedding_multiplier": values.number(".embedding_scale", 1.0),
        "residual_multiplier": values.number(".residual_scale", 1.0),
        "logits_scaling": values.number(".logit_scale", 1.0),
        "num_local_experts": experts,
        "num_experts_per_tok": values.integer(".expert_used_count", 0, 0),
        "shared_intermediate_size": shared or config["intermediate_size"],
        "mamba_n_heads": heads,
        "mamba_d_head": inner // heads,
        "mamba_d_state": values.integer(".ssm.state_size"),
        "mamba_d_conv": values.integer(".ssm.conv_kernel"),
        "mamba_n_groups": values.integer(".ssm.group_count", 1),
        "mamba_proj_bias": False,
        "mamba_conv_bias": True,
        "attention_bias": f"blk.{attending}.attn_q.bias" in values.file.tensors,
    }
    if not all(recurrent):
        rows = values.dimension(f"blk.{attending}.attn_k.weight", 0)
        config["num_key_value_heads"] = rows // config["head_dim"]
    return config


def _nemotron_h(values: Values, config: Config) -> Config:
    layers = config["num_hidden_layers"]
    recurrent, tensors = _recurrent(values, layers), values.file.tensors
    heads, inner = values.integer(".ssm.time_step_rank"), values.integer(".ssm.inner_size")
    kinds = []
    for layer in range(layers):
        attends = f"blk.{layer}.attn_q.weight" in tensors
        sparse = f"blk.{layer}.ffn_up_exps.weight" in tensors
        kinds.append("M" if recurrent[layer] else "*" if attends else "E" if sparse else "-")
    if "M" not in kinds or "*" not in kinds:
        raise BrokenModelError(
            f"{printable_path(values.file.path)} has no recurrent or no attending layer; there should be both."
        )
    config |= {
        "model_type": "nemotron_h",
        "hybrid_override_pattern": kinds,
        "num_key_value_heads": max(values.integers(".attention.head_count_kv", layers, 0)) or 1,
        "layer_norm_epsilon": config["rms_norm_eps"],
        "mamba_num_heads": heads,
        "mamba_head_dim": inner // heads,
        "ssm_state_size": values.integer(".ssm.state_size"),
        "conv_kernel": values.integer(".ssm.conv_kernel"),
        "n_groups": values.integer(".ssm.group_count", 1),
        "attention_bias": f"blk.{kinds.index('*')}.attn_q.bias" in tensors,
        "mamba_proj_bias": f"blk.{kinds.index('M')}.ssm_in.bias" in tensors,
        "use_bias": False,
        "use_conv_bias": f"blk.{kinds.index('M')}.ssm_conv1d.bias" in tensors,
        "mlp_bias": any(name.endswith("ffn_up.bias") for name in tensors),
    }
    if "E" in kinds:
        latent = f"blk.{kinds.index('E')}.ffn_latent_down.weight"
        config |= {
            "n_routed_experts": values.integer(".expert_count"),
            "num_experts_per_tok": values.integer(".expert_used_count"),
            "n_shared_experts": values.integer(".expert_shared_count", 0, 0) or None,
            "moe_intermediate_size": values.integer(".expert_feed_forward_length"),
            "moe_shared_expert_intermediate_size": values.integer(".expert_shared_feed_forward_length", 0, 0) or None,
            "moe_latent_size": values.dimension(latent, 0) if latent in tensors else None,
            "n_group": values.integer(".expert_group_count", 1),
            "topk_group": values.integer(".expert_group_used_count", 1),
            "norm_topk_prob": values.boolean(".expert_weights_norm", True),
            "routed_scaling_factor": values.number(".expert_weights_scale", 1.0) or 1.0,
        }
    return config


BUILDERS: Mapping[str, Builder] = {
    "granitehybrid": _granite_hybrid,
    "lfm2": _lfm2,
    "lfm2moe": _lfm2_moe,
    "nemotron_h": _nemotron_h,
    "nemotron_h_moe": _nemotron_h,
    "qwen35": _qwen35,
    "qwen35moe": _qwen35_moe,
    "qwen3next": _qwen3_next,
}
