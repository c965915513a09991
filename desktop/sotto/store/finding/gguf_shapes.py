"""The shapes of a GGUF model from the beginning of its file, under the names that `config.json` has for them.

The keys that tell them come before the vocabulary, which is most of a header, so the first bytes of a file are enough.
"""

import io
from collections.abc import Mapping
from typing import Any

from sotto.store.gguf.reader import ARRAY, TEXT, Reader

BEGINNING = 64 << 10
"""How many bytes of a file to read."""

_MAX_STRING = 256
# Types of `config.json` by `general.architecture`, of those that differ.
_TYPES = {
    "gemma3": "gemma3_text",
    "gpt-oss": "gpt_oss",
    "gptoss": "gpt_oss",
    "mistral3": "llama",
    "qwen3moe": "qwen3_moe",
}
# Keys without the architecture in front.
_NAMES = {
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_used_count": "num_experts_per_tok",
    "feed_forward_length": "intermediate_size",
}
_GEMMA3_PATTERN = 6


def gguf_shapes(beginning: bytes) -> dict[str, Any]:
    """Return what the first bytes of a GGUF file tell of its shapes; empty if they are no such file."""
    values = _values(beginning)
    architecture = values.get("general.architecture")
    if not isinstance(architecture, str):
        return {}
    config: dict[str, Any] = {"model_type": _TYPES.get(architecture, architecture), "sliding_window": None}
    for key, name in _NAMES.items():
        if f"{architecture}.{key}" in values:
            config[name] = values[f"{architecture}.{key}"]
    if architecture == "gemma3":
        config["sliding_window_pattern"] = _GEMMA3_PATTERN
    return config


def _values(beginning: bytes) -> Mapping[str, Any]:
    """Return the numbers and short texts up to the first array of texts, or to where the bytes end."""
    values: dict[str, Any] = {}
    reader = Reader(io.BytesIO(beginning), len(beginning))
    try:
        _, pairs = reader.counts()
        for _ in range(pairs):
            key, kind = reader.name("key"), reader.u32()
            if kind != ARRAY:
                values[key] = reader.text(_MAX_STRING) if kind == TEXT else reader.scalar(kind)
                continue
            kind, count = reader.u32(), reader.u64()
            if kind in (ARRAY, TEXT):
                return values
            reader.skip_scalars(kind, count)
    except ValueError:
        # Only the beginning is here, so what was read until its end is all there is.
        return values
    return values
