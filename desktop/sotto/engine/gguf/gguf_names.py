"""Translation of tensor names between GGUF files and model definitions, and which tensors need rearranging.

The names are those of https://github.com/ggml-org/llama.cpp (gguf-py/gguf/constants.py).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Ollama's own converter omits the ending of attention sinks.
_BLOCK = re.compile(r"blk\.(\d+)\.(?:(\w+)\.(weight|bias)|(attn_sinks))")
_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
# RoPE factors, which the config has as well, and tensors for images and sound.
_IGNORED_PREFIXES = ("rope_freqs.", "rope_factors_long.", "rope_factors_short.", "v.", "a.", "mm.")

# The two halves of a projection from latent keys and values, which definitions have as one.
LATENT_KEYS, LATENT_VALUES = re.compile(r"blk\.(\d+)\.attn_k_b\.weight"), ".attn_v_b.weight"
# Not rounded, because small differences change which experts are chosen.
UNROUNDED = ".e_score_correction_bias"

_ATTENTION = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_out": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
}
_FEED_FORWARD = {"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
_LLAMA = {
    **_ATTENTION,
    **_FEED_FORWARD,
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_GEMMA = {
    **_LLAMA,
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


def _experts(container: str, gate: str) -> dict[str, str]:
    projections = {f"ffn_{part}_exps": f"{container}.{part}_proj" for part in ("gate", "up", "down")}
    return {"ffn_gate_inp": gate, **projections}


_DEEPSEEK = {
    **_LLAMA,
    **_experts("mlp.switch_mlp", "mlp.gate"),
    "attn_q_a": "self_attn.q_a_proj",
    "attn_q_a_norm": "self_attn.q_a_layernorm",
    "attn_q_b": "self_attn.q_b_proj",
    "attn_kv_a_mqa": "self_attn.kv_a_proj_with_mqa",
    "attn_kv_a_norm": "self_attn.kv_a_layernorm",
    "attn_kv_b": "self_attn.kv_b_proj",
    **{f"ffn_{part}_shexp": f"mlp.shared_experts.{part}_proj" for part in ("gate", "up", "down")},
}
# By model type: the part of a name between `blk.N.` and the ending, and its name in the definition.
_NAMES: Mapping[str, Mapping[str, str]] = {
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "gemma2": _GEMMA,
    "gemma3_text": _GEMMA,
    "glm4": {
        **_LLAMA,
        "ffn_up": "mlp.gate_up_proj",
        "post_attention_norm": "post_self_attn_layernorm",
        "post_ffw_norm": "post_mlp_layernorm",
    },
    "gpt_oss": {
        **_LLAMA,
        **_experts("mlp.experts", "mlp.router"),
        "post_attention_norm": "post_attention_layernorm",
    },
    "mixtral": {**_LLAMA, **_experts("block_sparse_moe.switch_mlp", "block_sparse_moe.gate")},
    "olmo2": {
        **_LLAMA,
        "post_attention_norm": "post_attention_layernorm",
        "post_ffw_norm": "post_feedforward_layernorm",
    },
    "phi3": {**_LLAMA, "attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"},
    "qwen3_moe": {**_LLAMA, **_experts("mlp.switch_mlp", "mlp.gate")},
}
# The definitions of encoders use other names, without `model.`.
_ENCODER_OUTER = {
    "token_embd": "embeddings.word_embeddings",
    "token_embd_norm": "embeddings.norm",
    "token_types": "embeddings.token_type_embeddings",
    "position_embd": "embeddings.position_embeddings",
}
_ENCODER = {
    "attn_output": "out",
    "attn_output_norm": "attention_norm",
    "ffn_up": "up",
    "ffn_down": "down",
    "layer_output_norm": "output_norm",
}
_ENCODERS: Mapping[str, Mapping[str, str]] = {
    "bert": {**_ENCODER, "attn_q": "query", "attn_k": "key", "attn_v": "value"},
    "nomic_bert": {**_ENCODER, "attn_qkv": "qkv", "ffn_gate": "gate"},
}
# The arrays of a layer in a definition, quantized or not.
_PARTS = frozenset({"weight", "bias", "scales", "biases"})
_LAYER = re.compile(r"(?:model\.)?layers\.(\d+)\.(.+)")
# Names whose endings differ between the two.
_WITH_ENDING: Mapping[str, str] = {
    "attn_sinks.weight": "self_attn.sinks",
    "exp_probs_b.bias": "mlp.gate.e_score_correction_bias",
}
# llama.cpp's converter interleaves the rows of the two halves of each head of these model types.
_INTERLEAVED = frozenset({"granite", "llama", "mixtral", "smollm3"})
# llama.cpp's converter adds 1 to the norms of these model types, which the definitions do as well.
_SHIFTED = frozenset({"gemma2", "gemma3_text"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor goes in the definition, and how it has to be changed.

    Attributes:
        name: Its name in the definition.
        heads: Number of heads whose two halves have interleaved rows; 0 if the rows are in order.
        shift: Added to each element.
    """

    name: str
    heads: int = 0
    shift: int = 0


def place_of(name: str, config: Mapping[str, Any]) -> Place | None:
    """Return where a tensor goes; None if it is not needed.

    Unknown names stay as they are; no definition has a place for them, so loading them fails.

    Args:
        name: The tensor's name in the file.
        config: The model's config.
    """
    kind = config["model_type"]
    if name.startswith(_IGNORED_PREFIXES):
        return None
    stem, _, part = name.rpartition(".")
    if kind in _ENCODERS:
        return _in_encoder(name, _ENCODERS[kind])
    if stem in _OUTER:
        return Place(f"{_OUTER[stem]}.{part}", shift=-1 if stem == "output_norm" and kind in _SHIFTED else 0)
    match = _BLOCK.fullmatch(name)
    if match is None:
        return Place(name)
    layer, inner, part, bare = match.groups()
    inner, part = inner or bare, part or "weight"
    known = _WITH_ENDING.get(f"{inner}.{part}")
    if known is None:
        known = _NAMES.get(kind, _LLAMA).get(inner)
        if known is None:
            return Place(name)
        known = f"{known}.{part}"
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}.get(inner, "")
    return Place(
        f"model.layers.{layer}.{known}",
        config[heads] if heads and kind in _INTERLEAVED else 0,
        -1 if inner.endswith("norm") and kind in _SHIFTED else 0,
    )


def name_in_file(name: str, config: Mapping[str, Any]) -> str:
    """Return the name in GGUF files of a tensor, or of a layer with several tensors; unknown names stay as they are.

    Args:
        name: The name in the definition.
        config: The model's config.
    """
    kind = config["model_type"]
    body, _, part = name.rpartition(".")
    if part in _PARTS:
        ending = f".{'bias' if part == 'bias' else 'weight'}"
    else:
        body, ending = name, ""
    inner, outer = (_ENCODERS[kind], _ENCODER_OUTER) if kind in _ENCODERS else (_NAMES.get(kind, _LLAMA), _OUTER)
    match = _LAYER.fullmatch(body)
    if match is None:
        found = _key_of(body, outer)
        return name if found is None else found + ending
    found = _key_of(match[2], inner)
    if found is None:
        complete = _key_of(match[2], _WITH_ENDING)
        return name if complete is None else f"blk.{match[1]}.{complete}"
    return f"blk.{match[1]}.{found}{ending}"


def _key_of(value: str, names: Mapping[str, str]) -> str | None:
    """Return the first key with this value; None if there is none."""
    return next((key for key, candidate in names.items() if candidate == value), None)


def _in_encoder(name: str, names: Mapping[str, str]) -> Place:
    """Return where a tensor of an encoder goes."""
    stem, _, part = name.rpartition(".")
    match = _BLOCK.fullmatch(name)
    if match is not None and match[2] in names:
        return Place(f"layers.{match[1]}.{names[match[2]]}.{part}")
    return Place(f"{_ENCODER_OUTER[stem]}.{part}" if stem in _ENCODER_OUTER else name)
