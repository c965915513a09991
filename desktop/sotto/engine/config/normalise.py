"""Conversion of configs to the keys that the model definitions read. Does not import MLX.

WORKAROUND: transformers 5 writes one `rope_parameters` where older releases wrote `rope_theta`, `rope_scaling` and
`partial_rotary_factor`. Most of mlx-lm's definitions know only the old keys and silently fall back to defaults. Check
at each upgrade which of them now read the new one.
"""

import math
from collections.abc import Mapping
from typing import Any

from sotto.engine.config.architecture import Architecture
from sotto.engine.config.architecture_table import architecture, inner_architecture
from sotto.errors import UnsupportedModelError

_ROPE_ALIASES: Mapping[str, str] = {"su": "longrope"}
_FULL, _SLIDING = "full_attention", "sliding_attention"


def normalise(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `config.json` with the keys that the definition of its architecture reads.

    A config that has these keys already is returned unchanged. Nothing that changes the result is dropped: what no
    definition can compute stays in, so that the definition refuses it.
    """
    normalised: dict[str, Any] = _parse_special_floats(dict(config))
    outer = architecture(normalised)
    inner = normalised.get("text_config")
    if isinstance(inner, dict):
        read_by = outer if inner.get("model_type", "") == "" else inner_architecture(inner)
        # transformers 5 writes this of the whole model alone.
        if outer.sees and "tie_word_embeddings" in normalised:
            inner.setdefault("tie_word_embeddings", normalised["tie_word_embeddings"])
        normalised["text_config"] = _normalise_level(inner, read_by)
        if outer.outer_vocabulary and "vocab_size" in inner:
            normalised.setdefault("vocab_size", inner["vocab_size"])
    return _normalise_level(normalised, outer)


def rope_scaling_of(config: Mapping[str, Any]) -> str:
    """Return the type of RoPE scaling in a normalised config; empty for none."""
    scaling = config.get("rope_scaling")
    kind = scaling.get("type", scaling.get("rope_type", "default")) if isinstance(scaling, Mapping) else "default"
    return "" if kind == "default" else str(kind)


def _parse_special_floats(value: Any) -> Any:
    """Return a copy in which floats that JSON cannot express, written as `{"__float__": "Infinity"}`, are floats."""
    if isinstance(value, Mapping):
        if set(value) == {"__float__"} and value["__float__"] in ("Infinity", "-Infinity", "NaN"):
            return float(value["__float__"])
        return {key: _parse_special_floats(inner) for key, inner in value.items()}
    return [_parse_special_floats(inner) for inner in value] if isinstance(value, list) else value


def window_of(config: Mapping[str, Any]) -> int | None:
    """Return the sliding window of a normalised config in tokens; None if all layers see the whole context."""
    window, context = config.get("sliding_window"), config.get("max_position_embeddings")
    if not isinstance(window, int) or window <= 0 or config.get("use_sliding_window") is False:
        return None
    if isinstance(context, int) and window >= context:
        return None
    types = config.get("layer_types")
    return window if not isinstance(types, list) or _SLIDING in types else None


def _normalise_level(config: dict[str, Any], read_by: Architecture) -> dict[str, Any]:
    """Convert one level of a config to the keys of its definition, in place, and return it."""
    rope = config.get("rope_parameters")
    if isinstance(rope, dict) and rope and not read_by.reads_rope_parameters:
        _flatten_rope(config, config.pop("rope_parameters"))
    scaling = config.get("rope_scaling")
    if isinstance(scaling, dict):
        config["rope_scaling"] = _normalise_scaling(scaling, config)
    for key, original in read_by.renamed_keys.items():
        if original in config:
            config.setdefault(key, config[original])
    for key, value in read_by.default_values.items():
        if config.get(key) is None:
            config[key] = value
    types = config.get("layer_types")
    if read_by.layer_types and isinstance(types, list):
        config["layer_types"] = [read_by.layer_types.get(str(kind), kind) for kind in types]
    if read_by.adapt is not None:
        read_by.adapt(config)
    if read_by.pattern_key:
        _set_pattern(config, read_by.pattern_key, as_letters=read_by.pattern_as_letters)
    return config


def _flatten_rope(config: dict[str, Any], rope: Mapping[str, Any]) -> None:
    """Write `rope_parameters` to the old keys."""
    by_layer = {key: value for key, value in rope.items() if isinstance(value, Mapping)}
    sliding = by_layer.get(_SLIDING)
    full = by_layer.get(_FULL) or sliding or rope
    for key in ("rope_theta", "partial_rotary_factor", "mrope_section"):
        if full.get(key) is not None:
            config[key] = full[key]
    if sliding is not None and sliding is not full and sliding.get("rope_theta") is not None:
        config["rope_local_base_freq"] = sliding["rope_theta"]
    kind = full.get("rope_type", full.get("type", "default"))
    if kind == "default":
        config["rope_scaling"] = None
    else:
        config["rope_scaling"] = {key: value for key, value in full.items() if key != "rope_theta"}


def _normalise_scaling(scaling: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `rope_scaling` with its type under both of its names; None if nothing is scaled."""
    kind = scaling.get("rope_type") or scaling.get("type") or "default"
    if kind == "default" and "mrope_section" not in scaling:
        return None
    kind = _ROPE_ALIASES.get(kind, kind) if isinstance(kind, str) else kind
    normalised = {**scaling, "type": kind, "rope_type": kind}
    if kind == "longrope" and "original_max_position_embeddings" in config:
        normalised.setdefault("original_max_position_embeddings", config["original_max_position_embeddings"])
    if kind == "yarn" and not normalised.get("mscale_all_dim"):
        _set_mscale(normalised)
    return normalised


def _set_mscale(yarn: dict[str, Any]) -> None:
    """Derive `mscale` from `attention_factor`, which definitions compute as 1 + mscale * log(factor) / 10."""
    factor, attention_factor = yarn.get("factor"), yarn.get("attention_factor")
    if isinstance(attention_factor, int | float) and isinstance(factor, int | float) and 1 < factor < math.inf:
        yarn.setdefault("mscale", (attention_factor - 1) * 10 / math.log(factor))


def _set_pattern(config: dict[str, Any], key: str, *, as_letters: bool) -> None:
    """Write the pattern of `layer_types` to `key`, as letters or as its period.

    Raises:
        UnsupportedModelError: The pattern has no period, or no layer attends to the whole text, as definitions expect.
    """
    types = config.get("layer_types")
    if not isinstance(types, list) or not types:
        period, layers = config.get(key), config.get("num_hidden_layers")
        if isinstance(period, int) and isinstance(layers, int) and period > layers:
            raise UnsupportedModelError(
                f"One layer of every {period} attends to the whole text ({key}), so there should be at least {period}, "
                f"but num_hidden_layers in its config.json is {layers}."
            )
        return
    if _FULL not in types:
        raise UnsupportedModelError(
            f"None of its layers attends to the whole text (layer_types), which is not supported in "
            f"{config['model_type']} models."
        )
    if as_letters:
        letters = "".join("G" if kind == _FULL else "L" for kind in types)
        config[key] = letters if len(set(letters)) == 2 else None
        return
    period = types.index(_FULL) + 1
    if any((kind == _FULL) != ((index + 1) % period == 0) for index, kind in enumerate(types)):
        raise UnsupportedModelError(
            f"Its layer_types are not regular, which {config['model_type']} models should be: one layer of every "
            f"{period} attends to the whole text."
        )
    config[key] = period
