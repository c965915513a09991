"""Config values that change the result are refused if the definition ignores them, and only then."""

import pytest

from sotto.engine.config.supported_models import refusal

LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.0], "long_factor": [1.0, 4.0]}
YARN = {"rope_type": "yarn", "factor": 4.0}
LINEAR = {"rope_type": "linear", "factor": 4.0}


def inside(kind, inner, **settings):
    return {"model_type": kind, "text_config": {"model_type": inner, **settings}}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "llama", "hidden_act": "gelu"}, "hidden_act in its config.json is 'gelu'"),
        ({"model_type": "gemma2", "hidden_activation": "silu", "hidden_act": "gelu"}, "hidden_activation in its"),
        ({"model_type": "gpt2", "activation_function": "relu"}, "activation_function in its config.json is 'relu'"),
        ({"model_type": "llama", "hidden_act": ["silu"]}, "hidden_act in its config.json"),
        ({"model_type": "qwen2_moe", "norm_topk_prob": True}, "norm_topk_prob in its config.json is 'True'"),
        ({"model_type": "mamba2", "n_groups": 8}, "n_groups in its config.json is '8'"),
        ({"model_type": "granitemoehybrid", "mamba_n_groups": 2}, "mamba_n_groups"),
        ({"model_type": "olmoe", "clip_qkv": 8.0}, "clip_qkv"),
        ({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx"),
        (
            {"model_type": "gemma2", "attn_logit_softcapping": None},
            "attn_logit_softcapping in its config.json is 'None'",
        ),
        (inside("gemma3", "gemma3_text", use_bidirectional_attention=True), "use_bidirectional_attention"),
        ({"model_type": "recurrent_gemma", "partial_rotary_factor": 0.25}, "partial_rotary_factor"),
        ({"model_type": "recurrent_gemma", "rope_parameters": {"rope_theta": 500.0}}, "rope_theta"),
        ({"model_type": "falcon_h1", "mamba_rms_norm": True, "mamba_n_groups": 2}, "mamba_rms_norm"),
        ({"model_type": "falcon_h1", "key_multiplier": 0.4, "quantization": {"bits": 4}}, "without its key_multiplier"),
        ({"model_type": "llama4_text", "no_rope_layers": [1, 0]}, "no_rope_layers"),
        (
            {"model_type": "llama4_text", "attention_chunk_size": 8, "max_position_embeddings": 9},
            "attention_chunk_size",
        ),
        ({"model_type": "qwen3_moe", "rope_scaling": YARN}, "scaled by 'yarn'"),
        ({"model_type": "qwen3_moe", "rope_parameters": YARN}, "scaled by 'yarn'"),
        ({"model_type": "glm4_moe", "rope_scaling": {"type": "linear", "factor": 4.0}}, "scaled by 'linear'"),
        ({"model_type": "deepseek_v2", "rope_scaling": LINEAR}, "scaled by 'linear'"),
        ({"model_type": "mamba", "layer_norm_epsilon": 1e-6}, "layer_norm_epsilon in its config.json is '1e-06'"),
        ({"model_type": "nemotron_h", "mamba_hidden_act": "gelu"}, "mamba_hidden_act"),
        ({"model_type": "gpt_oss", "swiglu_alpha": 1.5}, "swiglu_alpha"),
        ({"model_type": "kimi_k2", "rope_interleave": False}, "rope_interleave"),
        ({"model_type": "falcon_h1", "mlp_bias": True}, "mlp_bias"),
        ({"model_type": "falcon_h1", "time_step_limit": [0.1, 0.5]}, "time_step_limit"),
        ({"model_type": "minicpm3", "tie_word_embeddings": True, "hidden_size": 64, "dim_model_base": 8}, "tie_word"),
        (
            {"model_type": "gemma3n", "text_config": {"model_type": "gemma3n_text", "rope_scaling": YARN}},
            "in gemma3n models",
        ),
        (inside("qwen3_vl_moe", "qwen3_vl_moe_text", rope_scaling=YARN), "in qwen3_moe models"),
        ({"model_type": "phimoe", "rope_scaling": LONG}, "in another way for long texts"),
        ({"model_type": "llama", "rope_parameters": {"full_attention": LONG}}, "in another way for long texts"),
        ({"model_type": "llama", "rope_scaling": YARN | {"truncate": False}}, "without truncating"),
        (inside("llava", "gemma"), "a model of type 'gemma' inside, which is not supported in llava models"),
    ],
)
def test_ignored_values_are_refused(config, expected):
    sentence = refusal(config)
    assert expected in sentence
    assert sentence.endswith(".")
    assert sentence.isprintable()


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "llama", "hidden_act": "silu", "rope_scaling": YARN},
        {"model_type": "llama", "rope_scaling": LONG | {"short_factor": LONG["long_factor"]}},
        {"model_type": "phi3", "rope_scaling": LONG},
        {"model_type": "gpt_oss", "rope_scaling": YARN | {"truncate": False}},
        {"model_type": "gpt2", "activation_function": "gelu_new", "scale_attn_weights": True},
        {"model_type": "gemma", "hidden_act": "gelu", "hidden_activation": None},
        {"model_type": "gpt_neox", "hidden_act": "relu"},
        {"model_type": "qwen2_moe", "norm_topk_prob": False, "rope_scaling": None},
        {"model_type": "recurrent_gemma", "partial_rotary_factor": 0.5, "rope_theta": 10000.0},
        {"model_type": "falcon_h1", "mamba_rms_norm": True, "mamba_n_groups": 1, "key_multiplier": 0.4},
        {"model_type": "falcon_h1", "quantization": {"bits": 4}},
        {"model_type": "falcon_h1", "time_step_limit": [0.0, float("inf")]},
        {"model_type": "falcon_h1", "time_step_limit": [0.0, {"__float__": "Infinity"}]},
        {"model_type": "nemotron_h", "mlp_hidden_act": "relu2", "mamba_hidden_act": "silu"},
        {"model_type": "minicpm3", "tie_word_embeddings": True, "hidden_size": 64, "dim_model_base": 64},
        {
            "model_type": "llama4_text",
            "no_rope_layers": [1, 1],
            "attention_chunk_size": 9,
            "max_position_embeddings": 9,
        },
        {"model_type": "qwen2_vl", "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]}},
        inside("llama4", "llama4_text", no_rope_layers=[1, 0], attention_chunk_size=8),
        inside("gemma4", "gemma4_text", use_bidirectional_attention="vision"),
        inside("mistral3", "mistral"),
        inside("llava", "llama"),
        # Old configs do not name the inner type.
        {"model_type": "llava", "text_config": {"rope_theta": 1e6}},
    ],
)
def test_supported_values_are_not_refused(config):
    assert refusal(config) == ""
