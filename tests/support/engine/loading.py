"""Models with random weights for loader tests, and comparing loaded models with expected logits."""

from collections import namedtuple

import mlx.core as mx
from mlx.utils import tree_flatten

from checkpoints import LLAMA, QWEN3_MOE, Watch, metadata_of, quantize, write_blob
from sotto.engine.architectures import zoo
from sotto.engine.memory.memory_plan import Limits
from sotto.engine.weights import loader

PLENTY = Limits(2**40, 2**40, "a test")
TOKENS = mx.array([[3, 99, 7, 42, 42, 11, 0, 158]])
TIED = LLAMA | {"tie_word_embeddings": True}
LATENT = LLAMA | {
    "model_type": "deepseek_v3",
    "architectures": ["DeepseekV3ForCausalLM"],
    "num_key_value_heads": 4,
    "moe_intermediate_size": 64,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "kv_lora_rank": 64,
    "q_lora_rank": 64,
    "qk_rope_head_dim": 16,
    "qk_nope_head_dim": 32,
    "v_head_dim": 32,
    "routed_scaling_factor": 1.0,
    "norm_topk_prob": True,
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
    "attention_bias": False,
    "rope_scaling": None,
}
HYBRID = {
    "model_type": "qwen3_5_moe",
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "tie_word_embeddings": False,
    "text_config": QWEN3_MOE
    | {
        "model_type": "qwen3_5_moe_text",
        "num_hidden_layers": 4,
        "shared_expert_intermediate_size": 64,
        "full_attention_interval": 4,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "partial_rotary_factor": 0.25,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
    },
}
INTERLEAVED = {
    "model_type": "gpt_oss",
    "architectures": ["GptOssForCausalLM"],
    "num_hidden_layers": 2,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "vocab_size": 160,
    "hidden_size": 64,
    "intermediate_size": 64,
    "head_dim": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "sliding_window": 16,
    "layer_types": ["sliding_attention", "full_attention"],
    "max_position_embeddings": 256,
    "rope_theta": 150000,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 32.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "original_max_position_embeddings": 4096,
    },
    "quantization_config": {"quant_method": "mxfp4"},
}


def load(source, watch=None, limits=PLENTY):
    watch = watch or Watch()
    return loader.load(source, limits=limits, progress=watch, cancelled=watch.cancelled)


def random_weights(config, seed=0):
    """Return random weights with the names and shapes of a model's definition."""
    mx.random.seed(seed)
    model, _ = zoo.build(config)
    return {
        name: mx.random.normal(array.shape) * (0.08 if array.ndim > 1 else 0.1) + (0 if array.ndim > 1 else 1)
        for name, array in tree_flatten(model.parameters())
    }


def logits_of(config, weights):
    """Return the logits of a model with these weights, by the names of its definition."""
    model, _ = zoo.build(config)
    model.load_weights(list(weights.items()), strict=True)
    model.eval()
    return model(TOKENS)


def assert_same(model, expected, tolerance=2e-4):
    logits = model(TOKENS).astype(mx.float32)
    scale = mx.abs(expected).max().item()
    assert mx.abs(logits - expected).max().item() <= tolerance * max(scale, 1)
    assert mx.array_equal(mx.argmax(logits, -1), mx.argmax(expected, -1))


def is_matrix(name):
    return name.endswith("_proj.weight")


Checkpoint = namedtuple("Checkpoint", "files weights")


def quantized_checkpoint(folder, weights, kind, *, choose=is_matrix, metadata=True, dtype=mx.float32, factor=None):
    """Write a blob for each tensor, and return them with the dequantized weights.

    Args:
        folder: Where the blobs are written.
        weights: The weights by name.
        kind: One of `checkpoints.TYPES`.
        choose: Returns whether to quantize the weight with a name.
        metadata: Whether the blobs state how they are quantized.
        dtype: The type of the weights before quantization.
        factor: A global scale; None for none.
    """
    files, dequantized = [], {}
    for name, weight in weights.items():
        weight = weight.astype(dtype)
        if choose(name):
            tensors, dequantized[name] = quantize(name, weight, kind, factor)
            files.append(write_blob(folder, tensors, metadata_of(kind) if metadata else None))
        else:
            files.append(write_blob(folder, {name: weight}))
            dequantized[name] = weight.astype(mx.float32)
    return Checkpoint(files, dequantized)
