"""GGUF files with random weights in the shapes of `shapes`, for llama.cpp and for Sotto.

The format follows ggml's documentation (docs/gguf.md, version 3): a header, key-value pairs, the table of tensors, and
their data, each aligned to 32 bytes. All matrices, including the embedding, have the same type, except in Q4_K_M, which
mixes types as llama.cpp's own program for it does; norms and the choice of experts are in float32.
"""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from gguf_blocks import NUMBERS, RandomBlocks, nbytes
from vocabulary import TEMPLATE, words

_ALIGNMENT = 32
_ARCHITECTURES = {
    "llama": "llama",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
    "qwen3_5_text": "qwen35",
    "gemma3_text": "gemma3",
    "gpt_oss": "gpt-oss",
}
_MIX = "Q4_K_M"
_UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_NORMAL, _CONTROL = 1, 3


def write_gguf(path: Path, config: Mapping[str, Any], kind: str) -> Path:
    """Write a model in the shape of `config`, with random weights of a type such as `Q4_0` or `Q4_K_M`."""
    tensors = list(_tensors(config, kind))
    pairs = list(_pairs(config, sum(math.prod(shape) for _, shape, _ in tensors)))
    blocks = RandomBlocks(1 / math.sqrt(config["hidden_size"]))
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)))
        for key, value in pairs:
            file.write(_text(key) + value)
        offset = 0
        for name, shape, of in tensors:
            dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
            file.write(_text(name) + dimensions + struct.pack("<IQ", NUMBERS[of], offset))
            offset += -(-nbytes(shape, of) // _ALIGNMENT) * _ALIGNMENT
        for name, shape, of in tensors:
            _align(file)
            # The logarithms of decays are negative.
            ones = np.full(shape, -1 if name.endswith("ssm_a") else 1, np.float32)
            for piece in (ones.tobytes(),) if of == "F32" and len(shape) == 1 else blocks.data(shape, of):
                file.write(piece)
        _align(file)
    return path


def _tensors(config: Mapping[str, Any], kind: str) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Yield the name, the shape and the type of each tensor."""
    width, layers = config["hidden_size"], config["num_hidden_layers"]
    tied = config["tie_word_embeddings"]
    usual, finer = ("Q4_K", "Q6_K") if kind == _MIX else (kind, kind)
    yield "token_embd.weight", (config["vocab_size"], width), finer if tied else usual
    yield "output_norm.weight", (width,), "F32"
    if not tied:
        yield "output.weight", (config["vocab_size"], width), finer
    for layer in range(layers):
        # The layers to which llama.cpp gives more bits (`use_more_bits` in llama-quant.cpp).
        eighth = layers // 8
        special = finer if layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2 else usual
        mixing = _recurrent if _is_recurrent(config, layer) else _attention
        for name, shape, of in (
            *mixing(config, usual, special),
            *_feed_forward(config, usual, special),
            *((f"{name}.weight", (length,), "F32") for name, length in _norms(config, layer)),
        ):
            yield f"blk.{layer}.{name}", shape, of


def _is_recurrent(config: Mapping[str, Any], layer: int) -> bool:
    return (layer + 1) % config.get("full_attention_interval", 1) > 0


def _attention(config: Mapping[str, Any], usual: str, special: str) -> Iterator[tuple[str, tuple[int, ...], str]]:
    width, size = config["hidden_size"], config["head_dim"]
    queries, pairs = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    # Each query comes with a gate.
    gated = 2 if config["model_type"] == "qwen3_5_text" else 1
    yield "attn_q.weight", (gated * queries, width), usual
    yield "attn_k.weight", (pairs, width), usual
    yield "attn_v.weight", (pairs, width), special
    yield "attn_output.weight", (width, queries), usual
    if config["attention_bias"]:
        lengths = {"q": queries, "k": pairs, "v": pairs, "output": width}
        yield from ((f"attn_{name}.bias", (length,), "F32") for name, length in lengths.items())
    if config["model_type"] == "gpt_oss":
        yield "attn_sinks.weight", (config["num_attention_heads"],), "F32"


def _recurrent(config: Mapping[str, Any], usual: str, special: str) -> Iterator[tuple[str, tuple[int, ...], str]]:
    width, heads = config["hidden_size"], config["linear_num_value_heads"]
    values = heads * config["linear_value_head_dim"]
    mixed = values + 2 * config["linear_num_key_heads"] * config["linear_key_head_dim"]
    yield "attn_qkv.weight", (mixed, width), special
    yield "attn_gate.weight", (values, width), usual
    yield "ssm_conv1d.weight", (mixed, config["linear_conv_kernel_dim"]), "F32"
    yield "ssm_dt.bias", (heads,), "F32"
    yield "ssm_a", (heads,), "F32"
    yield "ssm_beta.weight", (heads, width), usual
    yield "ssm_alpha.weight", (heads, width), usual
    yield "ssm_out.weight", (width, values), usual


def _feed_forward(config: Mapping[str, Any], usual: str, special: str) -> Iterator[tuple[str, tuple[int, ...], str]]:
    width, experts = config["hidden_size"], config.get("num_experts", 0)
    if experts:
        inner = config["moe_intermediate_size"]
        yield "ffn_gate_inp.weight", (experts, width), "F32"
        yield "ffn_gate_exps.weight", (experts, inner, width), usual
        yield "ffn_up_exps.weight", (experts, inner, width), usual
        yield "ffn_down_exps.weight", (experts, width, inner), special
        if config["model_type"] == "gpt_oss":
            yield "ffn_gate_inp.bias", (experts,), "F32"
            for name, length in (("gate", inner), ("up", inner), ("down", width)):
                yield f"ffn_{name}_exps.bias", (experts, length), "F32"
    else:
        inner = config["intermediate_size"]
        yield "ffn_gate.weight", (inner, width), usual
        yield "ffn_up.weight", (inner, width), usual
        yield "ffn_down.weight", (width, inner), special


def _norms(config: Mapping[str, Any], layer: int) -> Iterator[tuple[str, int]]:
    width, size, kind = config["hidden_size"], config["head_dim"], config["model_type"]
    second = "post_attention_norm" if kind in ("qwen3_5_text", "gpt_oss") else "ffn_norm"
    yield from (("attn_norm", width), (second, width))
    if _is_recurrent(config, layer):
        yield "ssm_norm", config["linear_value_head_dim"]
    elif kind not in ("llama", "gpt_oss"):
        yield from (("attn_q_norm", size), ("attn_k_norm", size))
    if kind == "gemma3_text":
        yield from (("post_attention_norm", width), ("post_ffw_norm", width))


def _pairs(config: Mapping[str, Any], parameters: int) -> Iterator[tuple[str, bytes]]:
    name = _ARCHITECTURES[config["model_type"]]
    yield "general.architecture", _string(name)
    # As converters write it; without it, the vocabulary has to be skipped before the weights can be counted.
    yield "general.size_label", _string(f"{parameters / 1e9:.1f}B")
    yield from _tokenizer(config["vocab_size"])
    recurrent = config.get("linear_num_value_heads")
    numbers = {
        "vocab_size": config["vocab_size"],
        "block_count": config["num_hidden_layers"],
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "feed_forward_length": config["intermediate_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": config["num_key_value_heads"],
        "attention.key_length": config["head_dim"],
        "attention.value_length": config["head_dim"],
        "rope.dimension_count": config["head_dim"] // (4 if recurrent else 1),
        "attention.sliding_window": config.get("sliding_window"),
        "expert_count": config.get("num_experts"),
        "expert_used_count": config.get("num_experts_per_tok"),
        "expert_feed_forward_length": config.get("moe_intermediate_size"),
        "full_attention_interval": config.get("full_attention_interval"),
        "ssm.conv_kernel": config.get("linear_conv_kernel_dim"),
        "ssm.inner_size": recurrent and recurrent * config["linear_value_head_dim"],
        "ssm.state_size": config.get("linear_key_head_dim"),
        "ssm.time_step_rank": recurrent,
        "ssm.group_count": config.get("linear_num_key_heads"),
    }
    for key, number in numbers.items():
        if number is not None:
            yield f"{name}.{key}", struct.pack("<II", _UINT32, number)
    fractions = {
        "attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "rope.freq_base": config["rope_theta"],
        "rope.freq_base_swa": config.get("rope_local_base_freq"),
    }
    for key, value in fractions.items():
        if value is not None:
            yield f"{name}.{key}", struct.pack("<If", _FLOAT32, value)
    if recurrent:
        # How many pairs turn with each axis of a position.
        yield f"{name}.rope.dimension_sections", _array(_INT32, [struct.pack("<i", size) for size in (11, 11, 10, 0)])
    if scaling := config.get("rope_scaling"):
        original = scaling["original_max_position_embeddings"]
        yield f"{name}.rope.scaling.type", _string(scaling["rope_type"])
        yield f"{name}.rope.scaling.factor", struct.pack("<If", _FLOAT32, scaling["factor"])
        yield f"{name}.rope.scaling.original_context_length", struct.pack("<II", _UINT32, original)
    if config["model_type"] == "gemma3_text":
        # Otherwise the positions of a long context are taken to be scaled.
        yield f"{name}.rope.scaling.type", _string("none")


def _tokenizer(vocabulary: int) -> Iterator[tuple[str, bytes]]:
    texts = words(vocabulary)
    kinds = [_CONTROL if number < 3 else _NORMAL for number in range(vocabulary)]
    yield "tokenizer.ggml.model", _string("gpt2")
    yield "tokenizer.ggml.pre", _string("gpt-2")
    yield "tokenizer.ggml.tokens", _array(_STRING, [_text(text) for text in texts])
    yield "tokenizer.ggml.token_type", _array(_INT32, [struct.pack("<i", kind) for kind in kinds])
    yield "tokenizer.ggml.merges", _array(_STRING, [])
    for key, token in (("unknown", 0), ("bos", 1), ("eos", 2)):
        yield f"tokenizer.ggml.{key}_token_id", struct.pack("<II", _UINT32, token)
    yield "tokenizer.ggml.add_bos_token", struct.pack("<IB", _BOOL, 0)
    yield "tokenizer.chat_template", _string(TEMPLATE)


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _string(text: str) -> bytes:
    return struct.pack("<I", _STRING) + _text(text)


def _array(kind: int, items: Sequence[bytes]) -> bytes:
    return struct.pack("<IIQ", _ARRAY, kind, len(items)) + b"".join(items)


def _align(file: BinaryIO) -> None:
    file.write(bytes(-file.tell() % _ALIGNMENT))
