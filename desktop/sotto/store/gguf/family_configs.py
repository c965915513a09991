"""Converting the values of GGUF files of newer families with attention in all layers to a `config.json`.

Each function gets the values, and the keys that all architectures have.
"""

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

from sotto.store.gguf.metadata_values import Values

Config = dict[str, Any]
Builder = Callable[[Values, Config], Config]

_SLIDING, _FULL = "sliding_attention", "full_attention"
_GATED_BY_SIGMOID = 2
_SHARED = ".ffn_gate_shexp.weight"


def named(model_type: str) -> Builder:
    """Return a function that adds nothing but the model type."""
    return lambda values, config: config | {"model_type": model_type}


def _layer_types(values: Values, config: Config, default: Callable[[int], bool]) -> list[str]:
    """Return which layers see a window; `default` tells it where the file has no pattern."""
    layers = range(config["num_hidden_layers"])
    windowed = values.array(".attention.sliding_window_pattern", bool, "true or false for each layer")
    if windowed and len(windowed) < len(layers):
        raise values.error(".attention.sliding_window_pattern", f"a list of {len(layers)}")
    return [_SLIDING if (windowed[layer] if windowed else default(layer)) else _FULL for layer in layers]


def _three_of_four(layer: int) -> bool:
    return layer % 4 != 3


def _sigmoid(values: Values, default: int) -> bool:
    return values.integer(".expert_gating_func", default, 0) == _GATED_BY_SIGMOID


def _exaone4(values: Values, config: Config) -> Config:
    config = {"rope_scaling": None, **config, "model_type": "exaone4"}
    if window := values.integer(".attention.sliding_window", 0, 0):
        config |= {"sliding_window": window, "layer_types": _layer_types(values, config, _three_of_four)}
    return config


def _olmo2(values: Values, config: Config) -> Config:
    """Return the config of OLMo 2, or of OLMo 3, which has a window in most layers."""
    window = values.integer(".attention.sliding_window", 0, 0)
    if not window:
        return config | {"model_type": "olmo2"}
    types = _layer_types(values, config, _three_of_four)
    return config | {"model_type": "olmo3", "sliding_window": window, "layer_types": types}


def _ernie_moe(values: Values, config: Config) -> Config:
    width = values.integer(".expert_feed_forward_length")
    first = values.integer(".leading_dense_block_count", 0, 0)
    # The file states another width for shared experts than they have.
    shared = f"blk.{first}{_SHARED}"
    return config | {
        "model_type": "ernie4_5_moe",
        "use_bias": False,
        "moe_num_experts": values.integer(".expert_count"),
        "moe_k": values.integer(".expert_used_count"),
        "moe_intermediate_size": width,
        "moe_layer_start_index": first,
        "moe_layer_interval": values.integer(".interleave_moe_layer_step", 1),
        "moe_num_shared_experts": values.dimension(shared, 0) // width if shared in values.file.tensors else 0,
    }


def _hunyuan_moe(values: Values, config: Config) -> Config:
    return config | {
        "model_type": "hunyuan_v1_moe",
        "num_experts": values.integer(".expert_count"),
        "moe_topk": values.integer(".expert_used_count"),
        "moe_intermediate_size": values.integer(".expert_feed_forward_length"),
        "num_shared_expert": values.integer(".expert_shared_count", 1),
        "intermediate_size": values.integer(".expert_shared_feed_forward_length", config["intermediate_size"]),
    }


def _glm4_moe(values: Values, config: Config) -> Config:
    return {
        "rope_scaling": None,
        **config,
        "model_type": "glm4_moe",
        "partial_rotary_factor": values.integer(".rope.dimension_count", config["head_dim"]) / config["head_dim"],
        "use_qk_norm": "blk.0.attn_q_norm.weight" in values.file.tensors,
        "n_routed_experts": values.integer(".expert_count"),
        "num_experts_per_tok": values.integer(".expert_used_count"),
        "n_shared_experts": values.integer(".expert_shared_count", 0, 0) or None,
        "moe_intermediate_size": values.integer(".expert_feed_forward_length"),
        "first_k_dense_replace": values.integer(".leading_dense_block_count", 0, 0),
        "routed_scaling_factor": values.number(".expert_weights_scale", 1.0) or 1.0,
        "norm_topk_prob": values.boolean(".expert_weights_norm", True),
        "n_group": values.integer(".expert_group_count", 1),
        "topk_group": values.integer(".expert_group_used_count", 1),
    }


def _minimax_m2(values: Values, config: Config) -> Config:
    if not _sigmoid(values, _GATED_BY_SIGMOID):
        raise values.error(".expert_gating_func", str(_GATED_BY_SIGMOID))
    return config | {
        "model_type": "minimax_m2",
        "rotary_dim": values.integer(".rope.dimension_count", config["head_dim"]),
        "num_local_experts": values.integer(".expert_count"),
        "num_experts_per_tok": values.integer(".expert_used_count"),
        "intermediate_size": values.integer(".expert_feed_forward_length", config["intermediate_size"]),
    }


def _gemma3n(values: Values, config: Config) -> Config:
    layers = config["num_hidden_layers"]
    scales = values.array(".activation_sparsity_scale", (int, float), "a number for each layer")
    # The file has the number of standard deviations that a share of the activations lies below; -inf for none.
    sparsity = [round(NormalDist().cdf(scale), 6) if math.isfinite(scale) else 0.0 for scale in scales[:layers]]
    inner = config | {
        "model_type": "gemma3n_text",
        "head_dim": values.integer(".attention.key_length"),
        "sliding_window": values.integer(".attention.sliding_window"),
        "layer_types": _layer_types(values, config, lambda layer: layer % 5 != 4),
        "rope_local_base_freq": values.number(".rope.freq_base_swa", 10000.0),
        "final_logit_softcapping": values.number(".final_logit_softcapping", 30.0),
        "num_kv_shared_layers": values.integer(".attention.shared_kv_layers", 0, 0),
        "hidden_size_per_layer_input": values.integer(".embedding_length_per_layer_input"),
        "vocab_size_per_layer_input": values.dimension("per_layer_token_embd.weight", 0),
        "laurel_rank": values.dimension("blk.0.laurel_l.weight", 0),
        "altup_num_inputs": values.integer(".altup.num_inputs", 4),
        "altup_active_idx": values.integer(".altup.active_idx", 0, 0),
        "altup_coef_clip": 120.0,
        "altup_correct_scale": True,
        "activation_sparsity_pattern": sparsity or [0.0] * layers,
    }
    return {"model_type": "gemma3n", "tie_word_embeddings": True, "text_config": inner}


def _gemma4(values: Values, config: Config) -> Config:
    layers = config["num_hidden_layers"]
    types = _layer_types(values, config, lambda layer: layer % 6 != 5)
    full = types.index(_FULL) if _FULL in types else 0
    keys = values.integers(".attention.head_count_kv", layers)
    widths = values.integers(".feed_forward_length", layers)
    shared = values.integer(".attention.shared_kv_layers", 0, 0)
    dims = values.integer(".attention.key_length")
    experts = values.integer(".expert_count", 0, 0)
    per_layer = values.integer(".embedding_length_per_layer_input", 0, 0)
    rotated = values.tensor_values("rope_freqs.weight")
    # Positions of full attention rotate only the pairs that are not slowed down beyond all bounds.
    part = sum(factor < 1e10 for factor in rotated) / len(rotated) if rotated else 0.25
    return config | {
        "model_type": "gemma4_text",
        "intermediate_size": widths[0],
        "use_double_wide_mlp": widths[-1] == 2 * widths[0],
        "head_dim": values.integer(".attention.key_length_swa", dims),
        "global_head_dim": dims,
        "num_key_value_heads": next((keys[at] for at, kind in enumerate(types) if kind == _SLIDING), keys[0]),
        "num_global_key_value_heads": keys[full],
        "attention_k_eq_v": f"blk.{full}.attn_v.weight" not in values.file.tensors,
        "sliding_window": values.integer(".attention.sliding_window"),
        "layer_types": types,
        "num_kv_shared_layers": shared,
        "hidden_size_per_layer_input": per_layer,
        "vocab_size_per_layer_input": values.dimension("per_layer_token_embd.weight", 0) if per_layer else 0,
        "final_logit_softcapping": values.number(".final_logit_softcapping", 0.0) or None,
        "enable_moe_block": bool(experts),
        "num_experts": experts or None,
        "top_k_experts": values.integer(".expert_used_count", 0, 0) or None,
        "moe_intermediate_size": values.integer(".expert_feed_forward_length", 0, 0) or None,
        "rope_parameters": {
            _FULL: {
                "rope_type": "proportional",
                "partial_rotary_factor": part,
                "rope_theta": values.number(".rope.freq_base", 1e6),
            },
            _SLIDING: {"rope_type": "default", "rope_theta": values.number(".rope.freq_base_swa", 1e4)},
        },
    }


BUILDERS: Mapping[str, Builder] = {
    "ernie4_5": lambda values, config: config | {"model_type": "ernie4_5", "use_bias": config["attention_bias"]},
    "ernie4_5-moe": _ernie_moe,
    "exaone4": _exaone4,
    "gemma3n": _gemma3n,
    "gemma4": _gemma4,
    "glm4moe": _glm4_moe,
    "hunyuan-dense": named("hunyuan_v1_dense"),
    "hunyuan-moe": _hunyuan_moe,
    "minimax-m2": _minimax_m2,
    "olmo2": _olmo2,
    "seed_oss": named("seed_oss"),
}
