"""Adaptations and checks of configs that single architectures need beyond the fields of `Architecture`.

Does not import MLX. WORKAROUND: all of them make up for gaps in mlx-lm's definitions. Check at each upgrade which of
them are still needed.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sotto.errors import UnsupportedModelError

_LLAMA_SIZES: Mapping[str, Any] = {
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "rms_norm_eps": 1e-6,
    "vocab_size": 32000,
}
_INNER_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "llama": _LLAMA_SIZES,
    "mistral": {**_LLAMA_SIZES, "intermediate_size": 14336, "num_key_value_heads": 8, "sliding_window": 4096},
    "qwen2": {
        **_LLAMA_SIZES,
        "intermediate_size": 22016,
        "max_position_embeddings": 32768,
        "num_key_value_heads": 32,
        "vocab_size": 151936,
    },
}


def adapt_exaone_moe(config: dict[str, Any]) -> None:
    """Derive `is_moe_layer`, a flag for each layer, from `mlp_layer_types`."""
    kinds = config.get("mlp_layer_types")
    if isinstance(kinds, list):
        config.setdefault("is_moe_layer", [kind == "sparse" for kind in kinds])


def adapt_falcon_h1(config: dict[str, Any]) -> None:
    """Move multipliers to where the definition applies them.

    It ignores `key_multiplier`, and does not apply `attention_in_multiplier` to the values. But it multiplies queries
    and keys alike, so giving each the square root of the key multiplier has the same effect on the scores.
    """
    keys, entry = config.get("key_multiplier"), config.get("attention_in_multiplier", 1.0)
    if isinstance(keys, int | float) and keys > 0 and isinstance(entry, int | float) and entry > 0:
        config["attention_in_multiplier"] = entry * math.sqrt(keys)
        config["attention_out_multiplier"] = config.get("attention_out_multiplier", 1.0) * entry
        config["key_multiplier"] = 1.0


def adapt_gemma4_text(config: dict[str, Any]) -> None:
    """Replace `per_layer_config`, which lists each full-attention layer, by keys that apply to all of them.

    Layers of unified models have no inputs of their own, and their configs have no key that says so.

    Raises:
        UnsupportedModelError: The layers differ.
    """
    if config.get("model_type") == "gemma4_unified_text":
        config.setdefault("hidden_size_per_layer_input", 0)
    layers = config.pop("per_layer_config", None)
    if not isinstance(layers, dict):
        return
    settings = [layer for layer in layers.values() if isinstance(layer, dict)]
    for key, layer_key in (("global_head_dim", "head_dim"), ("num_global_key_value_heads", "num_key_value_heads")):
        found = {layer[layer_key] for layer in settings if isinstance(layer.get(layer_key), int)}
        if len(found) > 1:
            raise UnsupportedModelError(
                f"Its per_layer_config gives layers more than one {layer_key}, which is not supported."
            )
        config.setdefault(key, found.pop() if found else config.get(layer_key))


def adapt_granitemoehybrid(config: dict[str, Any]) -> None:
    """Give a model without experts the size of the shared expert, which is then its whole feed-forward part."""
    shared = config.get("shared_intermediate_size")
    if not config.get("num_local_experts") and shared:
        config["intermediate_size"] = shared


def adapt_minimax(config: dict[str, Any]) -> None:
    """Convert the rotated fraction of each head to a number of dimensions, `rotary_dim`."""
    dims, part = config.get("head_dim"), config.get("partial_rotary_factor", 1.0)
    if isinstance(dims, int) and isinstance(part, int | float) and 0 <= part <= 1:
        config.setdefault("rotary_dim", int(dims * part))


def adapt_qwen3_vl_moe(config: dict[str, Any]) -> None:
    """Have the whole model say whether embeddings are tied: transformers 5 writes what does not apply inside of it."""
    inner, tied = config.get("text_config"), config.get("tie_word_embeddings")
    if isinstance(inner, dict) and isinstance(tied, bool):
        inner["tie_word_embeddings"] = tied


def adapt_seeing_decoder(config: dict[str, Any]) -> None:
    """Fill in what the config of a text model inside another leaves out, because it is transformers' default.

    The makers of LLaVA and Pixtral left out even sizes.
    """
    text = config.get("text_config")
    if not isinstance(text, dict):
        return
    kind = text.get("model_type") or "llama"
    for key, value in _INNER_DEFAULTS.get(kind, {}).items():
        text.setdefault(key, value)


def falcon_h1_refusal(config: Mapping[str, Any]) -> str:
    """Refuse a model in MLX's layout whose weights lack the key multiplier.

    mlx-lm's converter multiplies weights by their multipliers, but leaves out the keys. Weights in the makers' layout
    are not multiplied at all.
    """
    if "quantization" not in config or config.get("key_multiplier") in (None, 1):
        return ""
    return "It was converted to MLX's layout without its key_multiplier; choose a version in the makers' layout."


def falcon_h1_ignores(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield `mamba_rms_norm` if it would have to be computed for each of several groups."""
    if config.get("mamba_rms_norm") and config.get("mamba_n_groups") not in (None, 1):
        yield "mamba_rms_norm"


def llama4_text_ignores(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys that only the definition of a complete Llama 4 supports."""
    rotated, chunk, context = map(config.get, ("no_rope_layers", "attention_chunk_size", "max_position_embeddings"))
    elsewhere = config.get("use_qk_norm") is not False or config.get("attn_temperature_tuning") is not False
    if isinstance(rotated, list) and not all(rotated) and elsewhere:
        yield "no_rope_layers"
    if isinstance(chunk, int) and isinstance(context, int) and chunk < context:
        yield "attention_chunk_size"


def minicpm3_ignores(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield `tie_word_embeddings` if the logits would have to be scaled."""
    plain = config.get("dim_model_base") == config.get("hidden_size")
    if config.get("tie_word_embeddings") and not plain:
        yield "tie_word_embeddings"
