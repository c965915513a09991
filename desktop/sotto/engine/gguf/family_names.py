"""Names of tensors in GGUF files, and in the definitions of each model type.

The names are those of https://github.com/ggml-org/llama.cpp (gguf-py/gguf/constants.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

ATTENTION: Mapping[str, str] = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_out": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
}
FEED_FORWARD: Mapping[str, str] = {"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
LLAMA: Mapping[str, str] = {
    **ATTENTION,
    **FEED_FORWARD,
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
GEMMA: Mapping[str, str] = {
    **LLAMA,
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
# Norms after attention and after the feed-forward part, none before.
NORMS_AFTER: Mapping[str, str] = {
    **LLAMA,
    "post_attention_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
OUTER: Mapping[str, str] = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}


def experts(container: str, gate: str) -> dict[str, str]:
    """Return the names of stacked experts in `container`, chosen by `gate`."""
    projections = {f"ffn_{part}_exps": f"{container}.{part}_proj" for part in ("gate", "up", "down")}
    return {"ffn_gate_inp": gate, **projections}


def shared(container: str) -> dict[str, str]:
    """Return the names of the part that every token passes beside experts."""
    return {f"ffn_{part}_shexp": f"{container}.{part}_proj" for part in ("gate", "up", "down")}


@dataclass(frozen=True, slots=True)
class Family:
    """The names of a model type.

    Attributes:
        layer: The part of a name between `blk.N.` and the ending, and its name in the definition; with an ending, the
            complete names.
        outer: The same for tensors of no layer.
        prefix: What is before the number of a layer in the definition.
    """

    layer: Mapping[str, str]
    outer: Mapping[str, str] = field(default_factory=lambda: OUTER)
    prefix: str = "model.layers."


_MAMBA: Mapping[str, str] = {
    "ssm_in": "in_proj",
    "ssm_conv1d": "conv1d",
    "ssm_norm": "norm",
    "ssm_out": "out_proj",
    "ssm_dt.bias": "dt_bias",
    "ssm_a": "A_log",
    "ssm_d": "D",
}


def _within(part: str, names: Mapping[str, str]) -> dict[str, str]:
    return {key: f"{part}.{name}" for key, name in names.items()}


_QWEN35 = {
    **LLAMA,
    "post_attention_norm": "post_attention_layernorm",
    "attn_qkv": "linear_attn.in_proj_qkv",
    "attn_gate": "linear_attn.in_proj_z",
    "ssm_alpha": "linear_attn.in_proj_a",
    "ssm_beta": "linear_attn.in_proj_b",
    "ssm_ba": "linear_attn.in_proj_ba",
    **_within("linear_attn", _MAMBA),
}
_LFM2 = {
    **LLAMA,
    "attn_output": "self_attn.out_proj",
    "attn_q_norm": "self_attn.q_layernorm",
    "attn_k_norm": "self_attn.k_layernorm",
    "attn_norm": "operator_norm",
    "ffn_norm": "ffn_norm",
    "shortconv.conv": "conv.conv",
    "shortconv.in_proj": "conv.in_proj",
    "shortconv.out_proj": "conv.out_proj",
}
_LFM2_OUTER = {**OUTER, "token_embd_norm": "model.embedding_norm", "output_norm": "model.embedding_norm"}
_GEMMA4 = {
    **GEMMA,
    "post_ffw_norm_1": "post_feedforward_layernorm_1",
    "post_ffw_norm_2": "post_feedforward_layernorm_2",
    "pre_ffw_norm_2": "pre_feedforward_layernorm_2",
    "layer_output_scale.weight": "layer_scalar",
    "inp_gate": "per_layer_input_gate",
    "proj": "per_layer_projection",
    "post_norm": "post_per_layer_input_norm",
    **experts("experts.switch_glu", "router.proj"),
    "ffn_gate_up_exps": "experts.gate_up_proj",
    "ffn_gate_inp.scale": "router.scale",
    "ffn_down_exps.scale": "router.per_expert_scale",
}
_PER_LAYER = {
    "per_layer_token_embd": "embed_tokens_per_layer",
    "per_layer_model_proj": "per_layer_model_projection",
    "per_layer_proj_norm": "per_layer_projection_norm",
}
_GEMMA3N = {
    **GEMMA,
    "inp_gate": "per_layer_input_gate",
    "proj": "per_layer_projection",
    "post_norm": "post_per_layer_input_norm",
    "laurel_l": "laurel.linear_left",
    "laurel_r": "laurel.linear_right",
    "laurel_post_norm": "laurel.post_laurel_norm",
    "altup_correct_scale.weight": "altup.correct_output_scale",
    "altup_correct_coef": "altup.correction_coefs",
    "altup_predict_coef": "altup.prediction_coefs",
    "altup_router": "altup.modality_router",
    "altup_router_norm": "altup.router_norm",
}
_GEMMA3N_OUTER = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "altup_proj": "altup_projections",
    "altup_unembd_proj": "altup_unembed_projections",
    **_PER_LAYER,
}
_HUNYUAN = {**LLAMA, "attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"}
_NEMOTRON = {
    "attn_norm": "norm",
    **{key: name.replace("self_attn", "mixer") for key, name in ATTENTION.items()},
    "ffn_up": "mixer.up_proj",
    "ffn_down": "mixer.down_proj",
    **_within("mixer", _MAMBA),
    "ffn_gate_inp": "mixer.gate",
    "exp_probs_b.bias": "mixer.gate.e_score_correction_bias",
    "ffn_up_exps": "mixer.switch_mlp.fc1",
    "ffn_down_exps": "mixer.switch_mlp.fc2",
    "ffn_up_shexp": "mixer.shared_experts.up_proj",
    "ffn_down_shexp": "mixer.shared_experts.down_proj",
    "ffn_latent_down": "mixer.fc1_latent_proj",
    "ffn_latent_up": "mixer.fc2_latent_proj",
}
_DEEPSEEK = {
    **LLAMA,
    **experts("mlp.switch_mlp", "mlp.gate"),
    "attn_q_a": "self_attn.q_a_proj",
    "attn_q_a_norm": "self_attn.q_a_layernorm",
    "attn_q_b": "self_attn.q_b_proj",
    "attn_kv_a_mqa": "self_attn.kv_a_proj_with_mqa",
    "attn_kv_a_norm": "self_attn.kv_a_layernorm",
    "attn_kv_b": "self_attn.kv_b_proj",
    **shared("mlp.shared_experts"),
    "exp_probs_b.bias": "mlp.gate.e_score_correction_bias",
}
_ENCODER_OUTER = {
    "token_embd": "embeddings.word_embeddings",
    "token_embd_norm": "embeddings.norm",
    "token_types": "embeddings.token_type_embeddings",
    "position_embd": "embeddings.position_embeddings",
    "output_norm": "final_norm",
}
_ENCODER = {
    "attn_output": "out",
    "attn_output_norm": "attention_norm",
    "ffn_up": "up",
    "ffn_down": "down",
    "layer_output_norm": "output_norm",
}


def _encoder(**names: str) -> Family:
    return Family({**_ENCODER, **names}, _ENCODER_OUTER, "layers.")


PLAIN = Family(LLAMA)
"""The names of most model types."""
FAMILIES: Mapping[str, Family] = {
    "bert": _encoder(attn_q="query", attn_k="key", attn_v="value"),
    "deepseek_v2": Family(_DEEPSEEK),
    "deepseek_v3": Family(_DEEPSEEK),
    "ernie4_5_moe": Family(
        {
            **LLAMA,
            **experts("mlp.switch_mlp", "mlp.gate"),
            **shared("mlp.shared_experts"),
            "exp_probs_b.bias": "mlp.e_score_correction_bias",
        }
    ),
    "exaone4": Family(NORMS_AFTER),
    "gemma2": Family(GEMMA),
    "gemma3_text": Family(GEMMA),
    "gemma3n": Family(_GEMMA3N, _within("model.language_model", _GEMMA3N_OUTER), "model.language_model.layers."),
    "gemma4_text": Family(_GEMMA4, {**OUTER, **_within("model", _PER_LAYER)}),
    "glm4": Family(
        {
            **LLAMA,
            "ffn_up": "mlp.gate_up_proj",
            "post_attention_norm": "post_self_attn_layernorm",
            "post_ffw_norm": "post_mlp_layernorm",
        }
    ),
    "glm4_moe": Family(
        {
            **LLAMA,
            "post_attention_norm": "post_attention_layernorm",
            **experts("mlp.switch_mlp", "mlp.gate"),
            **shared("mlp.shared_experts"),
            "exp_probs_b.bias": "mlp.gate.e_score_correction_bias",
        }
    ),
    "gpt_oss": Family(
        {
            **LLAMA,
            **experts("mlp.experts", "mlp.router"),
            "post_attention_norm": "post_attention_layernorm",
            "attn_sinks.weight": "self_attn.sinks",
            # Ollama's own converter omits the ending.
            "attn_sinks": "self_attn.sinks",
        }
    ),
    "granitemoehybrid": Family(
        {
            **LLAMA,
            **_within("mamba", _MAMBA),
            **experts("block_sparse_moe.switch_mlp", "block_sparse_moe.router.layer"),
            **shared("shared_mlp"),
        }
    ),
    "hunyuan_v1_dense": Family(_HUNYUAN),
    "hunyuan_v1_moe": Family(
        {**_HUNYUAN, **experts("mlp.switch_mlp", "mlp.gate.wg"), **shared("mlp.shared_mlp")},
    ),
    "jina_embeddings_v3": _encoder(attn_qkv="qkv"),
    "lfm2": Family(
        {**_LFM2, "ffn_gate": "feed_forward.w1", "ffn_down": "feed_forward.w2", "ffn_up": "feed_forward.w3"},
        _LFM2_OUTER,
    ),
    "lfm2_moe": Family(
        {
            **_LFM2,
            **{key: name.replace("mlp", "feed_forward") for key, name in FEED_FORWARD.items()},
            **experts("feed_forward.switch_mlp", "feed_forward.gate"),
            "exp_probs_b.bias": "feed_forward.expert_bias",
        },
        _LFM2_OUTER,
    ),
    "minimax_m2": Family(
        {
            **LLAMA,
            **experts("block_sparse_moe.switch_mlp", "block_sparse_moe.gate"),
            "exp_probs_b.bias": "block_sparse_moe.e_score_correction_bias",
        }
    ),
    "mixtral": Family({**LLAMA, **experts("block_sparse_moe.switch_mlp", "block_sparse_moe.gate")}),
    "modernbert": _encoder(attn_norm="attention_norm", attn_qkv="qkv", ffn_norm="output_norm"),
    "nemotron_h": Family(
        _NEMOTRON,
        {"token_embd": "backbone.embeddings", "output_norm": "backbone.norm_f", "output": "lm_head"},
        "backbone.layers.",
    ),
    "nomic_bert": _encoder(attn_qkv="qkv", ffn_gate="gate"),
    "olmo2": Family(NORMS_AFTER),
    "olmo3": Family(NORMS_AFTER),
    "phi3": Family({**LLAMA, "attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}),
    "qwen3_5_moe_text": Family(
        {
            **_QWEN35,
            **experts("mlp.switch_mlp", "mlp.gate"),
            **shared("mlp.shared_expert"),
            "ffn_gate_inp_shexp": "mlp.shared_expert_gate",
        }
    ),
    "qwen3_5_text": Family(_QWEN35),
    "qwen3_moe": Family({**LLAMA, **experts("mlp.switch_mlp", "mlp.gate")}),
    "seed_oss": Family({**LLAMA, "post_attention_norm": "post_attention_layernorm"}),
}
