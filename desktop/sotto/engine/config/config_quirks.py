"""What single families call otherwise in their configs than their definitions do. Imports nothing of MLX."""

import math
from collections.abc import Callable, Mapping
from typing import Any

# Keys that some definitions call otherwise, by definition: their name, and the one in transformers' configs.
_RENAMED: Mapping[str, Mapping[str, str]] = {
    "gpt2": {"n_ctx": "n_positions"},
    "gpt_neox": {"rotary_pct": "partial_rotary_factor", "rotary_emb_base": "rope_theta"},
    "lfm2": {"block_dim": "hidden_size"},
    "mellum": {"num_experts": "num_local_experts"},
    # As the first checkpoints have it, in the words of GPT-2.
    "nomic_bert": {
        "hidden_size": "n_embd",
        "intermediate_size": "n_inner",
        "layer_norm_eps": "layer_norm_epsilon",
        "max_position_embeddings": "max_trained_positions",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
        "rope_theta": "rotary_emb_base",
    },
    "qwen3_moe": {"num_experts": "num_local_experts"},
    "qwen3_vl_moe_text": {"num_experts": "num_local_experts"},
}
# What transformers leaves out because it is always so, and definitions ask for.
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "apertus": {"mlp_bias": False, "post_norm": False, "qk_norm": True},
    # Stretched by nothing: this definition cannot do without.
    "deepseek_v2": {"rope_scaling": {"type": "yarn", "rope_type": "yarn", "factor": 1.0}},
    "glm_moe_dsa": {"moe_layer_freq": 1, "scoring_func": "sigmoid", "topk_method": "noaux_tc"},
    "longcat_flash": {
        "attention_method": "MLA",
        "mla_scale_kv_lora": True,
        "mla_scale_q_lora": True,
        "zero_expert_type": "identity",
    },
    "minimax": {"shared_intermediate_size": 0},
    "qwen3_vl_moe_text": {"norm_topk_prob": True},
    "solar_open": {"first_k_dense_replace": 0, "partial_rotary_factor": 1.0},
}
# Kinds of layers by the names that a definition gives them.
_LAYER_TYPES: Mapping[str, Mapping[str, str]] = {
    "granitemoehybrid": {"linear_attention": "mamba", "full_attention": "attention"},
}
# Definitions that take layers to alternate in a regular pattern and the key of it, and those that spell it in letters.
PATTERNS: Mapping[str, str] = {
    "cohere2": "sliding_window_pattern",
    "exaone4": "sliding_window_pattern",
    "gemma3_text": "sliding_window_pattern",
    "qwen3_5": "full_attention_interval",
    "qwen3_5_moe": "full_attention_interval",
    "qwen3_next": "full_attention_interval",
}
SPELT = frozenset({"exaone4"})
# Definitions that take the size of the vocabulary from the outer config.
OUTER_VOCABULARY = frozenset({"gemma3", "gemma4"})


def translate(config: dict[str, Any], name: str) -> None:
    """Bring one level of a config to the words of its definition, in place.

    Args:
        config: With positions described by the old keys.
        name: The definition, or a `model_type` that another one holds inside.
    """
    for old, new in _RENAMED.get(name, {}).items():
        if new in config:
            config.setdefault(old, config[new])
    for key, value in _DEFAULTS.get(name, {}).items():
        if config.get(key) is None:
            config[key] = value
    types = config.get("layer_types")
    if name in _LAYER_TYPES and isinstance(types, list):
        config["layer_types"] = [_LAYER_TYPES[name].get(str(kind), kind) for kind in types]
    if derive := _DERIVED.get(name):
        derive(config)


def _exaone_moe(config: dict[str, Any]) -> None:
    kinds = config.get("mlp_layer_types")
    if isinstance(kinds, list):
        config.setdefault("is_moe_layer", [kind == "sparse" for kind in kinds])


def _falcon_h1(config: dict[str, Any]) -> None:
    """Move factors to where the definition applies them: it forgets that of the keys, and that of all on the values.

    It multiplies queries and keys alike, so each takes the root of what only the keys should.
    """
    keys, entry = config.get("key_multiplier"), config.get("attention_in_multiplier", 1.0)
    if isinstance(keys, int | float) and keys > 0 and isinstance(entry, int | float) and entry > 0:
        config["attention_in_multiplier"] = entry * math.sqrt(keys)
        config["attention_out_multiplier"] = config.get("attention_out_multiplier", 1.0) * entry
        config["key_multiplier"] = 1.0


def _granitemoehybrid(config: dict[str, Any]) -> None:
    shared = config.get("shared_intermediate_size")
    if not config.get("num_local_experts") and shared:
        # Without experts, only what they would share is left.
        config["intermediate_size"] = shared


def _minimax(config: dict[str, Any]) -> None:
    dims, part = config.get("head_dim"), config.get("partial_rotary_factor", 1.0)
    if isinstance(dims, int) and isinstance(part, int | float) and 0 <= part <= 1:
        config.setdefault("rotary_dim", int(dims * part))


_DERIVED: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "exaone_moe": _exaone_moe,
    "falcon_h1": _falcon_h1,
    "granitemoehybrid": _granitemoehybrid,
    "minimax": _minimax,
}
