"""Converting the values of a GGUF file to a `config.json`, with a function for each architecture.

The keys and their defaults are defined by the converter and runtime of https://github.com/ggml-org/llama.cpp
(`conversion/`, `src/models/`). Ollama's converter names some keys differently and omits values that its runner assumes:
https://github.com/ollama/ollama (`convert/`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf import family_configs, hybrid_configs
from sotto.store.gguf.encoders import ENCODERS
from sotto.store.gguf.family_configs import named
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.positions import llama3_scaling
from sotto.store.printable import printable, printable_path

_SLIDING, _FULL = "sliding_attention", "full_attention"
_GEMMA2_27B_LAYERS, _GEMMA3_27B_LAYERS = 46, 62
_GATED_BY_SIGMOID = 2
# `yarn_log_multiplier` is this times the `mscale_all_dim` of `config.json`.
_LOG_UNIT = 0.1

# For files that do not state it.
_EPSILONS: Mapping[str, float] = {"gemma3": 1e-6}
# Gemma 3 models with a context of at least this length have scaled positions.
_GEMMA3_SCALED_CONTEXT = 131_072

Config = dict[str, Any]


def config_of(values: Values) -> Config:
    """Return the configuration with the keys of `config.json`.

    Raises:
        BrokenModelError: A key is missing or invalid, or the architecture is not supported.
    """
    kind = values.architecture
    if reason := refusal(kind, values.string("general.type", "model")):
        raise BrokenModelError(f"{printable_path(values.file.path)}: {reason}")
    build_encoder = ENCODERS.get(kind)
    return build_encoder(values) if build_encoder else _BUILDERS[kind](values, _common(values))


def refusal(architecture: str, kind: str = "") -> str:
    """Return one sentence saying why a GGUF file cannot run, or an empty string.

    Args:
        architecture: Its `general.architecture`.
        kind: Its `general.type`; empty if it has none.
    """
    if kind not in ("", "model"):
        return f"This GGUF file holds no model but a part of one ({printable(kind, 40)}); choose the model's own file."
    known = _BUILDERS.keys() | ENCODERS.keys()
    if architecture not in known:
        return (
            f"GGUF models of the architecture '{printable(architecture, 40)}' cannot run yet; "
            f"those of {', '.join(sorted(known))} can."
        )
    return ""


def _common(values: Values) -> Config:
    """Return the configuration keys that all architectures have."""
    if not values.boolean(".attention.causal", default=True):
        raise values.error(".attention.causal", "true, as a token of such a model sees only those before it")
    heads = values.integer(".attention.head_count")
    width = values.integer(".embedding_length")
    if values.dimension("token_embd.weight", 1) != width:
        raise values.error(
            ".embedding_length", f"{values.dimension('token_embd.weight', 1)}, as token_embd.weight has it"
        )
    # A head for multi-token prediction, which is left out, counts as a layer.
    layers = values.layer_count() - values.integer(".nextn_predict_layers", 0, 0)
    if layers < 1:
        raise values.error(".nextn_predict_layers", "less than the number of layers")
    feed_forward, keys = (
        max(values.integers(key, layers)) or 1 if values.architecture in _VARYING else values.integer(key, default)
        for key, default in ((".feed_forward_length", None), (".attention.head_count_kv", heads))
    )
    epsilon = ".attention.layer_norm_rms_epsilon"
    if not values.has(epsilon) and values.has(".attention.layer_norm_epsilon"):
        epsilon = ".attention.layer_norm_epsilon"
    config: Config = {
        "hidden_size": width,
        "num_hidden_layers": layers,
        "intermediate_size": feed_forward,
        "num_attention_heads": heads,
        "num_key_value_heads": keys,
        "head_dim": values.integer(".attention.key_length", width // heads),
        "rms_norm_eps": values.number(epsilon, _EPSILONS.get(values.architecture)),
        "rope_theta": values.number(".rope.freq_base", 10000.0),
        "vocab_size": values.dimension("token_embd.weight", 0),
        "max_position_embeddings": values.integer(".context_length"),
        "tie_word_embeddings": "output.weight" not in values.file.tensors,
        "attention_bias": "blk.0.attn_q.bias" in values.file.tensors,
        "mlp_bias": "blk.0.ffn_up.bias" in values.file.tensors,
    }
    if scaling := _scaling(values):
        config["rope_scaling"] = scaling
    return config


def _scaling(values: Values) -> Config | None:
    """Return `rope_scaling`, or None if positions are not scaled."""
    factors = values.tensor_values("rope_freqs.weight")
    # Gemma 4's say which part of a head is rotated; see `_gemma4`.
    if factors is not None and values.architecture != "gemma4":
        dims = values.integer(".rope.dimension_count", 2 * len(factors))
        return llama3_scaling(factors, dims, values.number(".rope.freq_base", 10000.0), values.file.path)
    # Ollama's converter writes an empty string for no scaling.
    kind = values.string(".rope.scaling.type", "yarn" if values.architecture == "gptoss" else "none") or "none"
    # Phi 3 keeps its factors in tensors; see `_phi3`.
    if kind == "none" or (kind == "longrope" and values.architecture == "phi3"):
        return None
    if kind not in ("linear", "yarn"):
        raise values.error(".rope.scaling.type", "none, linear or yarn")
    scaling: Config = {"rope_type": kind, "factor": values.number(".rope.scaling.factor")}
    if kind == "yarn":
        scaling["original_max_position_embeddings"] = values.integer(
            ".rope.scaling.original_context_length", values.integer(".context_length")
        )
        for key in ("beta_fast", "beta_slow"):
            if values.has(f".rope.scaling.yarn_{key}"):
                scaling[key] = values.number(f".rope.scaling.yarn_{key}")
    return scaling


def _llama(values: Values, config: Config) -> Config:
    if values.integer(".expert_count", 0, 0):
        return config | {
            "model_type": "mixtral",
            "num_local_experts": values.integer(".expert_count"),
            "num_experts_per_tok": values.integer(".expert_used_count"),
        }
    return config | {"model_type": "llama"}


def _mistral3(values: Values, config: Config) -> Config:
    growth = values.number(".attention.temperature_scale", 0) or values.number(".rope.scaling_beta", 0)
    scaling = config.pop("rope_scaling", {})
    if not growth:
        return _llama(values, config | {"rope_scaling": scaling or None})
    if not scaling:
        raise values.error(".rope.scaling.type", "yarn, as scores grow with the text")
    # `yarn_log_multiplier` of these files is not multiplied by anything.
    strength = values.number(".rope.scaling.yarn_log_multiplier", 0)
    scaling |= {"mscale": strength, "mscale_all_dim": strength, "llama_4_scaling_beta": growth}
    return config | {
        "model_type": "ministral3",
        "rope_parameters": scaling | {"rope_theta": config["rope_theta"]},
    }


def _glm4(values: Values, config: Config) -> Config:
    dims = values.integer(".rope.dimension_count", config["head_dim"])
    sections = values.has(".rope.dimension_sections")
    if sections and dims != config["head_dim"]:
        raise values.error(".rope.dimension_count", f"{config['head_dim']}, the whole width of a head")
    # Where positions have sections, llama.cpp's converter puts the two numbers of each pair into separate halves.
    return config | {
        "model_type": "glm4",
        "partial_rotary_factor": dims / config["head_dim"],
        **({"pairs_in_halves": True} if sections else {}),
    }


def _granite(values: Values, config: Config) -> Config:
    return config | {
        "model_type": "granite",
        "attention_multiplier": values.number(".attention.scale", config["head_dim"] ** -0.5),
        "embedding_multiplier": values.number(".embedding_scale", 1.0),
        "residual_multiplier": values.number(".residual_scale", 1.0),
        "logits_scaling": values.number(".logit_scale", 1.0),
    }


def _qwen3moe(values: Values, config: Config) -> Config:
    return config | {
        "model_type": "qwen3_moe",
        "num_experts": values.integer(".expert_count"),
        "num_experts_per_tok": values.integer(".expert_used_count"),
        "moe_intermediate_size": values.integer(".expert_feed_forward_length"),
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "norm_topk_prob": True,
    }


def _gemma2(values: Values, config: Config) -> Config:
    large = config["num_hidden_layers"] == _GEMMA2_27B_LAYERS
    width = config["hidden_size"] // config["num_attention_heads"]
    return config | {
        "model_type": "gemma2",
        "attn_logit_softcapping": values.number(".attn_logit_softcapping", 50.0),
        "final_logit_softcapping": values.number(".final_logit_softcapping", 30.0),
        "query_pre_attn_scalar": width if large else config["head_dim"],
        "sliding_window": values.integer(".attention.sliding_window", 4096),
    }


def _gemma3(values: Values, config: Config) -> Config:
    # Some of Ollama's files carry Gemma 2's softcapping, which Gemma 3 does not have and Ollama's runner ignores.
    large = config["num_hidden_layers"] == _GEMMA3_27B_LAYERS
    width = config["hidden_size"] // config["num_attention_heads"]
    if not values.has(".rope.scaling.type") and config["max_position_embeddings"] >= _GEMMA3_SCALED_CONTEXT:
        config["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}
    return config | {
        "model_type": "gemma3_text",
        "query_pre_attn_scalar": width if large else config["head_dim"],
        "rope_theta": values.number(".rope.freq_base", values.number(".rope.global.freq_base", 1e6)),
        "rope_local_base_freq": values.number(".rope.freq_base_swa", values.number(".rope.local.freq_base", 1e4)),
        "sliding_window": values.integer(".attention.sliding_window"),
        "sliding_window_pattern": 6,
    }


def _phi3(values: Values, config: Config) -> Config:
    dims = values.integer(".rope.dimension_count", config["head_dim"])
    original = values.integer(".rope.scaling.original_context_length", config["max_position_embeddings"])
    config |= {
        "model_type": "phi3",
        "partial_rotary_factor": dims / config["head_dim"],
        "original_max_position_embeddings": original,
        "sliding_window": values.integer(".attention.sliding_window", 0, 0) or None,
    }
    short, long = (values.tensor_values(f"rope_factors_{name}.weight") for name in ("short", "long"))
    if short is not None and long is not None:
        config["rope_scaling"] = {
            "rope_type": "longrope",
            "short_factor": short,
            "long_factor": long,
            "original_max_position_embeddings": original,
        }
        if values.has(".rope.scaling.attn_factor"):
            config["rope_scaling"]["attention_factor"] = values.number(".rope.scaling.attn_factor")
    return config


def _deepseek2(values: Values, config: Config) -> Config:
    rotated = values.integer(".rope.dimension_count")
    whole_key = values.integer(".attention.key_length_mla", values.integer(".attention.key_length"))
    if whole_key <= rotated:
        raise values.error(".attention.key_length_mla", f"more than the {rotated} dimensions that are rotated")
    sigmoid = values.integer(".expert_gating_func", 1, 0) == _GATED_BY_SIGMOID
    groups = values.integer(".expert_group_count", 1)
    config |= {
        "model_type": "deepseek_v3" if sigmoid else "deepseek_v2",
        "num_key_value_heads": config["num_attention_heads"],
        "q_lora_rank": values.integer(".attention.q_lora_rank") if values.has(".attention.q_lora_rank") else None,
        "kv_lora_rank": values.integer(".attention.kv_lora_rank"),
        "qk_rope_head_dim": rotated,
        "qk_nope_head_dim": whole_key - rotated,
        "v_head_dim": values.integer(".attention.value_length_mla", values.integer(".attention.value_length")),
        "first_k_dense_replace": values.integer(".leading_dense_block_count", 0, 0),
        "moe_intermediate_size": values.integer(".expert_feed_forward_length"),
        "n_routed_experts": values.integer(".expert_count"),
        "num_experts_per_tok": values.integer(".expert_used_count"),
        "n_shared_experts": values.integer(".expert_shared_count", 0, 0) or None,
        "routed_scaling_factor": values.number(".expert_weights_scale", 1.0) or 1.0,
        "norm_topk_prob": values.boolean(".expert_weights_norm", default=False),
        "n_group": groups,
        "topk_group": values.integer(".expert_group_used_count", 1),
        "moe_layer_freq": 1,
        "scoring_func": "sigmoid" if sigmoid else "softmax",
        "topk_method": "noaux_tc" if sigmoid else "group_limited_greedy" if groups > 1 else "greedy",
    }
    del config["head_dim"]
    key = ".rope.scaling.yarn_log_multiplier"
    if values.has(key) and (scaling := config.get("rope_scaling")):
        strength = values.number(key) / _LOG_UNIT
        scaling |= {"mscale": strength, "mscale_all_dim": strength}
    return config


def _gpt_oss(values: Values, config: Config) -> Config:
    layers = range(config["num_hidden_layers"])
    if scaling := config.get("rope_scaling"):
        scaling |= {"truncate": False}
    return config | {
        "model_type": "gpt_oss",
        "intermediate_size": values.integer(".expert_feed_forward_length", config["intermediate_size"]),
        "num_local_experts": values.integer(".expert_count"),
        "num_experts_per_tok": values.integer(".expert_used_count"),
        "sliding_window": values.integer(".attention.sliding_window"),
        "layer_types": [_FULL if layer % 2 else _SLIDING for layer in layers],
    }


# Families whose layers differ in these sizes, of which each has its own way.
_VARYING = frozenset({"gemma3n", "gemma4", *hybrid_configs.BUILDERS})

_BUILDERS: Mapping[str, Callable[[Values, Config], Config]] = {
    "deepseek2": _deepseek2,
    "gemma": named("gemma"),
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "glm4": _glm4,
    "gpt-oss": _gpt_oss,
    "gptoss": _gpt_oss,
    "granite": _granite,
    "llama": _llama,
    "mistral3": _mistral3,
    "phi3": _phi3,
    "qwen2": named("qwen2"),
    # What their three axes of positions are for, `vision_configs` tells; texts have the same position on each.
    "qwen25vl": named("qwen2"),
    "qwen2vl": named("qwen2"),
    "qwen3": named("qwen3"),
    "qwen3moe": _qwen3moe,
    "qwen3vl": named("qwen3"),
    "qwen3vlmoe": _qwen3moe,
    "smollm3": named("smollm3"),
    **family_configs.BUILDERS,
    **hybrid_configs.BUILDERS,
}
