"""The shapes of real models, as the configs that their definitions read."""

from collections.abc import Mapping
from typing import Any

_COMMON = {
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": True,
    "attention_bias": False,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "bfloat16",
}
_CLASSES = {
    "llama": "LlamaForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM",
    "gemma3_text": "Gemma3ForCausalLM",
    "gpt_oss": "GptOssForCausalLM",
    "qwen3_5_text": "Qwen3_5ForCausalLM",
}


def _shape(model_type: str, vocabulary: int, layers: int, width: int, inner: int, heads: tuple[int, int, int], **more):
    """Return a config; `heads` has the number of query heads, the number of key-value heads and their size."""
    return {
        "architectures": [_CLASSES[model_type]],
        "model_type": model_type,
        "vocab_size": vocabulary,
        "num_hidden_layers": layers,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_attention_heads": heads[0],
        "num_key_value_heads": heads[1],
        "head_dim": heads[2],
        "rope_theta": 1e6,
        **_COMMON,
        **more,
    }


# Three of four layers are recurrent.
_QWEN35 = {
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "full_attention_interval": 4,
    "rope_theta": 1e7,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25},
}
_GEMMA3 = {
    "hidden_act": "gelu_pytorch_tanh",
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 256,
    "rope_local_base_freq": 10000.0,
    "sliding_window": 1024,
    "sliding_window_pattern": 6,
}
_LLAMA = {"rms_norm_eps": 1e-5, "rope_theta": 500000.0}
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "smollm2-135m": _shape("llama", 49152, 30, 576, 1536, (9, 3, 64), rms_norm_eps=1e-5, rope_theta=100000.0),
    "qwen3-0.6b": _shape("qwen3", 151936, 28, 1024, 3072, (16, 8, 128)),
    "llama-3.2-1b": _shape("llama", 128256, 16, 2048, 8192, (32, 8, 64), **_LLAMA),
    "qwen3-4b": _shape("qwen3", 151936, 36, 2560, 9728, (32, 8, 128)),
    "qwen3.5-0.8b": _shape("qwen3_5_text", 248320, 24, 1024, 3584, (8, 2, 256), linear_num_value_heads=16, **_QWEN35),
    "qwen3.5-4b": _shape("qwen3_5_text", 248320, 32, 2560, 9216, (16, 4, 256), linear_num_value_heads=32, **_QWEN35),
    "gemma-3-1b": _shape("gemma3_text", 262144, 26, 1152, 6912, (4, 1, 256), **_GEMMA3 | {"sliding_window": 512}),
    "gemma-3-4b": _shape("gemma3_text", 262144, 34, 2560, 10240, (8, 4, 256), **_GEMMA3),
    # A quarter of the 48 layers of qwen3-30b-a3b; the others would not fit into the memory of most machines.
    "qwen3-30b-a3b-12-layers": _shape(
        "qwen3_moe",
        151936,
        12,
        2048,
        6144,
        (32, 4, 128),
        num_experts=128,
        num_experts_per_tok=8,
        moe_intermediate_size=768,
        decoder_sparse_step=1,
        mlp_only_layers=[],
        norm_topk_prob=True,
        tie_word_embeddings=False,
    ),
    # A quarter of the 24 layers of gpt-oss-20b.
    "gpt-oss-20b-6-layers": _shape(
        "gpt_oss",
        201088,
        6,
        2880,
        2880,
        (64, 8, 64),
        num_local_experts=32,
        num_experts=32,
        num_experts_per_tok=4,
        moe_intermediate_size=2880,
        sliding_window=128,
        sliding_window_pattern=2,
        layer_types=["sliding_attention", "full_attention"] * 3,
        rope_theta=150000.0,
        rope_scaling={
            "rope_type": "yarn",
            "factor": 32.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "original_max_position_embeddings": 4096,
        },
        attention_bias=True,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
    ),
    "llama-3.1-8b": _shape("llama", 128256, 32, 4096, 14336, (32, 8, 128), tie_word_embeddings=False, **_LLAMA),
}
# The pair for speculative decoding. The vocabulary is small, so that the draft model is as much cheaper as it would be
# for a much larger model.
PAIR = _shape("llama", 8192, 24, 1024, 4096, (16, 8, 64))
