"""Writing models as GGUF files with the gguf package, arranged as llama.cpp's converter arranges them.

The converter: https://github.com/ggml-org/llama.cpp (conversion/).
"""

import json
import math
import re
from pathlib import Path

import gguf
import mlx.core as mx
import numpy as np

from sotto.engine.config.normalise import normalise

F32 = gguf.GGMLQuantizationType.F32
# GGUF architectures by model type, where the names differ.
_ARCHITECTURES = {
    "deepseek_v2": "deepseek2",
    "deepseek_v3": "deepseek2",
    "gemma3_text": "gemma3",
    "gpt_oss": "gpt-oss",
    "mistral": "llama",
    "mixtral": "llama",
    "qwen3_moe": "qwen3moe",
}
_PERMUTED = {"granite", "llama", "mistral", "mixtral", "smollm3"}
_PLUS_ONE = {"gemma2", "gemma3_text"}
_KEYS = {
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "rope.freq_base": "rope_theta",
    "vocab_size": "vocab_size",
}
_MORE = {
    "granite": {
        "attention.scale": "attention_multiplier",
        "embedding_scale": "embedding_multiplier",
        "residual_scale": "residual_multiplier",
        "logit_scale": "logits_scaling",
    },
    "qwen3_moe": {
        "expert_count": "num_experts",
        "expert_used_count": "num_experts_per_tok",
        "expert_feed_forward_length": "moe_intermediate_size",
    },
    "mixtral": {"expert_count": "num_local_experts", "expert_used_count": "num_experts_per_tok"},
    "gemma2": {
        "attn_logit_softcapping": "attn_logit_softcapping",
        "final_logit_softcapping": "final_logit_softcapping",
        "attention.sliding_window": "sliding_window",
    },
    "gemma3_text": {"attention.sliding_window": "sliding_window"},
    "phi3": {"rope.scaling.original_context_length": "original_max_position_embeddings"},
    "gpt_oss": {
        "attention.sliding_window": "sliding_window",
        "expert_feed_forward_length": "intermediate_size",
        "expert_count": "num_local_experts",
        "expert_used_count": "num_experts_per_tok",
    },
}
_MORE["deepseek_v2"] = _MORE["deepseek_v3"] = {
    "expert_count": "n_routed_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_shared_count": "n_shared_experts",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_weights_scale": "routed_scaling_factor",
    "expert_group_count": "n_group",
    "expert_group_used_count": "topk_group",
    "leading_dense_block_count": "first_k_dense_replace",
    "attention.kv_lora_rank": "kv_lora_rank",
    "attention.q_lora_rank": "q_lora_rank",
}


# Names that Ollama's converter uses instead, and keys that it omits.
_OLLAMA_NAMES = {"attn_sinks.weight": "attn_sinks", "post_attention_norm": "ffn_norm", "attn_output": "attn_out"}
_OLLAMA_OMITS = (".rope.scaling.type", ".expert_feed_forward_length")


def write_folder(path, folder, kind=F32, **options):
    """Write a model in transformers' format as a GGUF file, and return the path.

    Args:
        path: The file to write.
        folder: The model's folder with config.json and weights.
        kind: The type of the matrices, from the gguf package.
        options: Further arguments of `write_model`.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = {
        name: np.array(array.astype(mx.float32)) for name, array in mx.load(str(folder / "model.safetensors")).items()
    }
    return write_model(path, config, weights, kind, **options)


def write_parts(folder, source, tensors_per_file=8):
    """Write a model in transformers' format as a GGUF file in parts, and return them."""
    folder.mkdir(parents=True, exist_ok=True)
    write_folder(folder / "model.gguf", source, tensors_per_file=tensors_per_file)
    return sorted(folder.glob("model-*-of-*.gguf"))


def write_model(
    path,
    written,
    weights,
    kind=F32,
    *,
    architecture=None,
    vocabulary=None,
    split_latent=True,
    ollama=False,
    tensors_per_file=0,
    change=lambda writer: None,
):
    """Write a model as a GGUF file, and return the path.

    Args:
        path: The file to write.
        written: The contents of config.json.
        weights: The weights by transformers' names; uint8 arrays already contain rows of blocks of `kind`.
        kind: The type of the matrices, from the gguf package.
        architecture: The GGUF architecture; None for the usual one for the model type.
        vocabulary: Writes the vocabulary, given the writer and the number of tokens; None for `plain_vocabulary`.
        split_latent: Whether to split `kv_b_proj` into its keys and values, as newer converters do.
        ollama: Whether to use the names of Ollama's converter.
        tensors_per_file: How many tensors a file may have, if the model is to be split; 0 for a whole one.
        change: Called with the writer after all keys have been added.
    """
    config = normalise(written)
    name = config["model_type"]
    architecture = architecture or _ARCHITECTURES.get(name, name)
    stated = architecture.replace("-", "") if ollama else architecture
    writer = gguf.GGUFWriter(path, stated, split_max_tensors=tensors_per_file)
    writer.add_type("model")
    _write_keys(writer, config)
    if ollama:
        for key in _OLLAMA_OMITS:
            writer.kv_data[0].pop(f"{writer.arch}{key}", None)
    (vocabulary or plain_vocabulary)(writer, config["vocab_size"])
    change(writer)
    for tensor, array in _tensors(config, weights, split_latent=split_latent):
        for usual, ollama_name in _OLLAMA_NAMES.items() if ollama else ():
            tensor = tensor.replace(usual, ollama_name)
        if array.dtype == np.uint8:
            writer.add_tensor(tensor, np.ascontiguousarray(array), raw_dtype=kind)
            continue
        array = np.ascontiguousarray(array, np.float32)
        size = gguf.GGML_QUANT_SIZES[kind][0]
        if tensor.endswith(".bias") or array.ndim < 2 or kind == F32 or "gate_inp" in tensor or array.shape[-1] % size:
            writer.add_tensor(tensor, array)
        else:
            writer.add_tensor(tensor, gguf.quants.quantize(array, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Path(path)


# Offsets of the float16 numbers in a block of each type; random bytes could make them infinite.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0],
    "IQ3_S": [0], "IQ1_S": [0], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64], "IQ1_M": [], "MXFP4": [],
}  # fmt: skip


def random_blocks(kind, count, spread=0.01, seed=0):
    """Return random blocks of a type, uint8 [count, bytes], and their values, float32 [count, size]."""
    chance = np.random.default_rng(seed)
    quantization = gguf.GGMLQuantizationType[kind]
    raw = chance.integers(0, 256, (count, gguf.GGML_QUANT_SIZES[quantization][1]), dtype=np.uint8)
    for offset in HALVES[kind]:
        halves = chance.normal(0, spread, count).astype(np.float16)
        raw[:, offset : offset + 2] = halves.view(np.uint8).reshape(-1, 2)
    if kind == "IQ1_M":
        # The uppermost bits of the scale, which spans four bytes.
        raw[:, 55] = raw[:, 55] & 0x0F | 0x20
    elif kind == "MXFP4":
        raw[:, 0] = chance.integers(100, 140, count)
    return raw, gguf.quants.dequantize(raw.reshape(-1), quantization).reshape(count, -1)


def plain_vocabulary(writer, count):
    """Write a vocabulary of `count` tokens without merges."""
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([f"<{index}>" for index in range(count)])
    writer.add_token_types([gguf.TokenType.NORMAL] * count)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def _write_keys(writer, config):
    arch, name = writer.arch, config["model_type"]
    for key, source in {**_KEYS, **_MORE.get(name, {})}.items():
        value = config.get(source)
        if isinstance(value, bool | int):
            writer.add_uint32(f"{arch}.{key}", value)
        elif value is not None:
            writer.add_float32(f"{arch}.{key}", value)
    heads = config["num_attention_heads"]
    dims = config.get("head_dim") or config["hidden_size"] // heads
    if name.startswith("deepseek"):
        rank, rotated = config["kv_lora_rank"], config["qk_rope_head_dim"]
        writer.add_key_length(rank + rotated)
        writer.add_value_length(rank)
        writer.add_key_length_mla(config["qk_nope_head_dim"] + rotated)
        writer.add_value_length_mla(config["v_head_dim"])
        writer.add_rope_dimension_count(rotated)
        if config.get("norm_topk_prob"):
            writer.add_expert_weights_norm(True)
        writer.add_expert_gating_func(
            gguf.ExpertGatingFuncType.SIGMOID if name == "deepseek_v3" else gguf.ExpertGatingFuncType.SOFTMAX
        )
    else:
        writer.add_key_length(dims)
        writer.add_value_length(dims)
        writer.add_rope_dimension_count(int(dims * config.get("partial_rotary_factor", 1)))
    if name == "phi3":
        writer.add_sliding_window(config.get("sliding_window") or 0)
    _write_scaling(writer, config, dims)


def _write_scaling(writer, config, dims):
    scaling = config.get("rope_scaling") or {}
    kind = scaling.get("rope_type", "default")
    if kind == "yarn" and scaling["factor"] > 1:
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(scaling["factor"])
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
        if "mscale_all_dim" in scaling:
            writer.add_rope_scaling_yarn_log_mul(0.1 * scaling["mscale_all_dim"])
    elif kind == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(scaling["factor"])
    elif kind == "llama3":
        low = scaling["original_max_position_embeddings"] / scaling["low_freq_factor"]
        high = scaling["original_max_position_embeddings"] / scaling["high_freq_factor"]
        factors = []
        for index in range(dims // 2):
            wave = 2 * math.pi * config["rope_theta"] ** (2 * index / dims)
            smooth = (low * scaling["low_freq_factor"] / wave - scaling["low_freq_factor"]) / (
                scaling["high_freq_factor"] - scaling["low_freq_factor"]
            )
            between = 1 / ((1 - smooth) / scaling["factor"] + smooth)
            factors.append(1 if wave < high else scaling["factor"] if wave > low else between)
        writer.add_tensor("rope_freqs.weight", np.array(factors, np.float32))
    elif kind == "longrope":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LONGROPE)
        ratio = config["max_position_embeddings"] / scaling["original_max_position_embeddings"]
        writer.add_rope_scaling_attn_factors(
            math.sqrt(1 + math.log(ratio) / math.log(scaling["original_max_position_embeddings"]))
        )
        for length in ("long", "short"):
            writer.add_tensor(f"rope_factors_{length}.weight", np.array(scaling[f"{length}_factor"], np.float32))


def _tensors(config, weights, *, split_latent):
    """Yield the tensors with GGUF's names, arranged as llama.cpp expects them."""
    name, layers = config["model_type"], config["num_hidden_layers"]
    arch = next(key for key, text in gguf.MODEL_ARCH_NAMES.items() if text == _ARCHITECTURES.get(name, name))
    known = gguf.get_tensor_name_map(arch, layers)
    for tensor, array in _stacked(config, weights):
        if name in _PLUS_ONE and tensor.endswith("norm.weight"):
            array = array + 1
        for projection, heads in (("q_proj", "num_attention_heads"), ("k_proj", "num_key_value_heads")):
            if name in _PERMUTED and f".{projection}." in tensor:
                halves = array.reshape(config[heads], 2, -1, *array.shape[1:])
                array = halves.swapaxes(1, 2).reshape(array.shape)
        if tensor.endswith("kv_b_proj.weight") and split_latent:
            nope, value = config["qk_nope_head_dim"], config["v_head_dim"]
            keys, values = np.split(array.reshape(-1, nope + value, array.shape[-1]), [nope], axis=1)
            layer = tensor.split(".")[2]
            yield f"blk.{layer}.attn_k_b.weight", keys.swapaxes(1, 2)
            yield f"blk.{layer}.attn_v_b.weight", values
            continue
        gguf_name = known.get_name(tensor, try_suffixes=(".weight", ".bias"))
        assert gguf_name, tensor
        yield gguf_name, array


def _stacked(config, weights):
    """Yield the tensors, with the tensors of experts stacked and fused tensors split."""
    experts = {}
    for tensor, array in weights.items():
        if tensor == "lm_head.weight" and config.get("tie_word_embeddings"):
            continue
        if match := re.fullmatch(r"(.+\.experts)\.(\d+)\.(\w+)\.weight", tensor):
            experts.setdefault((match[1], match[3]), {})[int(match[2])] = array
        elif tensor.endswith("e_score_correction_bias"):
            yield tensor.replace("e_score_correction_bias", "e_score_correction.bias"), array
        elif tensor.endswith("sinks"):
            yield f"{tensor}.weight", array
        elif config["model_type"] == "gpt_oss" and ".experts." in tensor:
            yield from _gpt_oss_experts(tensor, array)
        else:
            yield tensor.replace(".switch_mlp.", ".experts."), array
    for (container, projection), arrays in experts.items():
        stacked = np.stack([arrays[index] for index in range(len(arrays))])
        if "block_sparse_moe" in container:
            container = container.replace("model.", "").replace("block_sparse_moe", "feed_forward")
        yield f"{container}.{projection}.weight", stacked


def _gpt_oss_experts(tensor, array):
    """Yield the projections of gpt-oss experts, transposed, with the interleaved gate and up projections separated."""
    bias = tensor.endswith("_bias")
    stem = tensor.removesuffix("_bias")
    array = array if bias else array.swapaxes(-1, -2)
    part = ".bias" if bias else ".weight"
    if stem.endswith("down_proj"):
        yield stem + part, array
        return
    for offset, projection in enumerate(("gate_proj", "up_proj")):
        half = array[:, offset::2] if bias else array[:, offset::2, :]
        yield stem.replace("gate_up_proj", projection) + part, half
