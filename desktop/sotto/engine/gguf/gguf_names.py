"""What the tensors of GGUF files are called in the definitions of models, and which of them are arranged otherwise.

The names are those of https://github.com/ggml-org/llama.cpp (gguf-py/gguf/constants.py).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Ollama's own converter leaves the ending of sinks out.
_BLOCK = re.compile(r"blk\.(\d+)\.(?:(\w+)\.(weight|bias)|(attn_sinks))")
_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
# They are said in the config, or belong to what sees and hears.
_IGNORED_PREFIXES = ("rope_freqs.", "rope_factors_long.", "rope_factors_short.", "v.", "a.", "mm.")

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
# By model type: what stands between `blk.N.` and the last part.
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
# Encoders have names of their own, without `model.`.
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
# What a definition's layer has in it, however its numbers are held.
_PARTS = frozenset({"weight", "bias", "scales", "biases"})
_LAYER = re.compile(r"(?:model\.)?layers\.(\d+)\.(.+)")
# Names that do not end as all others do.
_WITH_ENDING: Mapping[str, str] = {
    "attn_sinks.weight": "self_attn.sinks",
    "exp_probs_b.bias": "mlp.gate.e_score_correction_bias",
}
# Their two halves of each head were made to take turns, row by row.
_INTERLEAVED = frozenset({"granite", "llama", "mixtral", "smollm3"})
# Their norms were stored with the 1 that the definitions add.
_SHIFTED = frozenset({"gemma2", "gemma3_text"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor goes.

    Attributes:
        name: Its name in the definition.
        heads: How many heads its rows are of, whose halves take turns; 0 where they stand as they should.
        shift: Added to it.
    """

    name: str
    heads: int = 0
    shift: int = 0


def place_of(name: str, config: Mapping[str, Any]) -> Place | None:
    """Return where a tensor goes, or None where it is not needed.

    Names that are not known are left as they are; no definition has a place for them.

    Args:
        name: In the file.
        config: Of its model.
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
    """Return what a GGUF file calls a tensor, or a layer with several, of a definition; as it is where it has no name.

    Args:
        name: In the definition.
        config: Of its model.
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
        found = next((own for own, other in outer.items() if other == body), None)
        return name if found is None else found + ending
    found = next((own for own, other in inner.items() if other == match[2]), None)
    if found is None:
        whole = next((own for own, other in _WITH_ENDING.items() if other == match[2]), None)
        return name if whole is None else f"blk.{match[1]}.{whole}"
    return f"blk.{match[1]}.{found}{ending}"


def _in_encoder(name: str, names: Mapping[str, str]) -> Place:
    """Return where a tensor of an encoder goes."""
    stem, _, part = name.rpartition(".")
    match = _BLOCK.fullmatch(name)
    if match is not None and match[2] in names:
        return Place(f"layers.{match[1]}.{names[match[2]]}.{part}")
    return Place(f"{_ENCODER_OUTER[stem]}.{part}" if stem in _ENCODER_OUTER else name)
