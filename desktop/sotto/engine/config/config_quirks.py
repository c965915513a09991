"""What single architectures need of a config beyond what `Architecture` can express. Imports nothing of MLX."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sotto.errors import UnsupportedModelError


def adapt_exaone_moe(config: dict[str, Any]) -> None:
    """Say of each layer whether it has experts."""
    kinds = config.get("mlp_layer_types")
    if isinstance(kinds, list):
        config.setdefault("is_moe_layer", [kind == "sparse" for kind in kinds])


def adapt_falcon_h1(config: dict[str, Any]) -> None:
    """Move factors to where the definition applies them: it forgets that of the keys, and that of all on the values.

    It multiplies queries and keys alike, so each takes the root of what only the keys should.
    """
    keys, entry = config.get("key_multiplier"), config.get("attention_in_multiplier", 1.0)
    if isinstance(keys, int | float) and keys > 0 and isinstance(entry, int | float) and entry > 0:
        config["attention_in_multiplier"] = entry * math.sqrt(keys)
        config["attention_out_multiplier"] = config.get("attention_out_multiplier", 1.0) * entry
        config["key_multiplier"] = 1.0


def adapt_gemma4_text(config: dict[str, Any]) -> None:
    """Say once what `per_layer_config` says of each layer that attends to everything.

    Raises:
        UnsupportedModelError: It does not say the same of all of them.
    """
    layers = config.pop("per_layer_config", None)
    if not isinstance(layers, dict):
        return
    said = [layer for layer in layers.values() if isinstance(layer, dict)]
    for key, own in (("global_head_dim", "head_dim"), ("num_global_key_value_heads", "num_key_value_heads")):
        found = {layer[own] for layer in said if isinstance(layer.get(own), int)}
        if len(found) > 1:
            raise UnsupportedModelError(
                f"Its per_layer_config gives layers more than one {own}, which is not supported."
            )
        config.setdefault(key, found.pop() if found else config.get(own))


def adapt_granitemoehybrid(config: dict[str, Any]) -> None:
    """Give a model without experts the size of what they would share, which is all that is left then."""
    shared = config.get("shared_intermediate_size")
    if not config.get("num_local_experts") and shared:
        config["intermediate_size"] = shared


def adapt_minimax(config: dict[str, Any]) -> None:
    """Say how many numbers of each head are rotated, instead of which part."""
    dims, part = config.get("head_dim"), config.get("partial_rotary_factor", 1.0)
    if isinstance(dims, int) and isinstance(part, int | float) and 0 <= part <= 1:
        config.setdefault("rotary_dim", int(dims * part))


def falcon_h1_refusal(config: Mapping[str, Any]) -> str:
    """Refuse a model in MLX's layout that lacks its factor of keys.

    Where MLX's own converter multiplied the weights, it passed over the keys; from elsewhere they come as made.
    """
    if "quantization" not in config or config.get("key_multiplier") in (None, 1):
        return ""
    return "It was converted to MLX's layout without its key_multiplier; choose a version in the makers' layout."


def falcon_h1_ignores(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the norm, where it would have to be taken over each of several groups."""
    if config.get("mamba_rms_norm") and config.get("mamba_n_groups") not in (None, 1):
        yield "mamba_rms_norm"


def llama4_text_ignores(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what only the definition of a whole Llama 4 computes."""
    rotated, chunk, context = map(config.get, ("no_rope_layers", "attention_chunk_size", "max_position_embeddings"))
    elsewhere = config.get("use_qk_norm") is not False or config.get("attn_temperature_tuning") is not False
    if isinstance(rotated, list) and not all(rotated) and elsewhere:
        yield "no_rope_layers"
    if isinstance(chunk, int) and isinstance(context, int) and chunk < context:
        yield "attention_chunk_size"


def minicpm3_ignores(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield tied embeddings, where the scores of tokens would have to be scaled."""
    plain = config.get("dim_model_base") == config.get("hidden_size")
    if config.get("tie_word_embeddings") and not plain:
        yield "tie_word_embeddings"
