"""GGUF files with random weights in the shapes of `bench_models`, for llama.cpp.

The format follows ggml's documentation (docs/gguf.md, version 3): a header, key-value pairs, the table of tensors, and
their data, each aligned to 32 bytes. All matrices, including the tied embedding, have the same type, so that the file
has the same number of bits as the checkpoint it is compared with; norms are float32.
"""

import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

_ALIGNMENT = 32
_BLOCK = 32
_F32, _Q4_0, _Q8_0, _BF16 = 0, 2, 8, 30
# The types by the number of bits of the weights; None is bfloat16.
TYPES: Mapping[int | None, tuple[str, int]] = {4: ("Q4_0", _Q4_0), 8: ("Q8_0", _Q8_0), None: ("BF16", _BF16)}
# The bytes of a block, and the number of weights in it.
_SIZES = {_F32: (4, 1), _BF16: (2, 1), _Q4_0: (2 + _BLOCK // 2, _BLOCK), _Q8_0: (2 + _BLOCK, _BLOCK)}


def write_gguf(path: Path, config: Mapping[str, Any], bits: int | None) -> Path:
    """Write a model in the shape of `config`, a llama or a qwen3, with random weights of that many bits."""
    kind = TYPES[bits][1]
    tensors = list(_tensors(config, kind))
    pairs = list(_pairs(config))
    spread = 1 / math.sqrt(config["hidden_size"])
    chance = np.random.default_rng(0)
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)))
        for key, value in pairs:
            file.write(_text(key) + value)
        offset = 0
        for name, shape, of in tensors:
            dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
            file.write(_text(name) + dimensions + struct.pack("<IQ", of, offset))
            offset += -(-_nbytes(shape, of) // _ALIGNMENT) * _ALIGNMENT
        for _, shape, of in tensors:
            _align(file)
            file.write(_data(chance, shape, of, spread))
        _align(file)
    return path


def _pairs(config: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    name = config["model_type"]
    yield "general.architecture", _string(name)
    # There is no vocabulary, because the benchmark feeds token ids.
    yield "tokenizer.ggml.model", _string("none")
    for key, number in (
        ("vocab_size", config["vocab_size"]),
        ("block_count", config["num_hidden_layers"]),
        ("context_length", config["max_position_embeddings"]),
        ("embedding_length", config["hidden_size"]),
        ("feed_forward_length", config["intermediate_size"]),
        ("attention.head_count", config["num_attention_heads"]),
        ("attention.head_count_kv", config["num_key_value_heads"]),
        ("attention.key_length", config["head_dim"]),
        ("attention.value_length", config["head_dim"]),
        ("rope.dimension_count", config["head_dim"]),
    ):
        yield f"{name}.{key}", struct.pack("<II", 4, number)
    for key, value in (
        ("attention.layer_norm_rms_epsilon", config["rms_norm_eps"]),
        ("rope.freq_base", config["rope_theta"]),
    ):
        yield f"{name}.{key}", struct.pack("<If", 6, value)


def _tensors(config: Mapping[str, Any], kind: int) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield the name, the shape and the type of each tensor."""
    width, inner, size = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    queries, pairs = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    yield "token_embd.weight", (config["vocab_size"], width), kind
    yield "output_norm.weight", (width,), _F32
    for layer in range(config["num_hidden_layers"]):
        for name, shape in (
            ("attn_q", (queries, width)),
            ("attn_k", (pairs, width)),
            ("attn_v", (pairs, width)),
            ("attn_output", (width, queries)),
            ("ffn_gate", (inner, width)),
            ("ffn_up", (inner, width)),
            ("ffn_down", (width, inner)),
        ):
            yield f"blk.{layer}.{name}.weight", shape, kind
        norms = [("attn_norm", width), ("ffn_norm", width)]
        if config["model_type"] == "qwen3":
            norms += [("attn_q_norm", size), ("attn_k_norm", size)]
        for name, length in norms:
            yield f"blk.{layer}.{name}.weight", (length,), _F32


def _nbytes(shape: tuple[int, ...], kind: int) -> int:
    size, weights = _SIZES[kind]
    return math.prod(shape) // weights * size


def _data(chance: np.random.Generator, shape: tuple[int, ...], kind: int, spread: float) -> bytes:
    """Return random weights within `spread` of 0: blocks of a float16 scale and integers, or plain numbers."""
    if kind == _F32:
        return np.ones(shape, np.float32).tobytes()
    raw = np.frombuffer(chance.bytes(_nbytes(shape, kind)), np.uint8).copy()
    if kind == _BF16:
        numbers = raw.view(np.uint16)
        return ((numbers & 0x807F) | (126 + math.floor(math.log2(spread))) << 7).astype(np.uint16).tobytes()
    largest = 8 if kind == _Q4_0 else 128
    blocks = raw.reshape(-1, _SIZES[kind][0])
    blocks[:, :2] = np.frombuffer(np.float16(spread / largest).tobytes(), np.uint8)
    return blocks.tobytes()


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _string(text: str) -> bytes:
    return struct.pack("<I", 8) + _text(text)


def _align(file: BinaryIO) -> None:
    file.write(bytes(-file.tell() % _ALIGNMENT))
