"""Configurations brought to the keys that the borrowed model definitions read. Imports nothing of MLX.

Transformers 5 writes one `rope_parameters` where older releases wrote `rope_theta`, `rope_scaling` and
`partial_rotary_factor`. Most definitions know only the old keys and fall back to defaults silently.
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
    """Return a copy of `config.json` in the keys that the definition of its architecture reads.

    Configs that are in these keys already come back as they are. What no definition could compute is left for the
    definition to be asked about; nothing is dropped that changes the result.
    """
    normalised: dict[str, Any] = _numbers(dict(config))
    outer = architecture(normalised)
    inner = normalised.get("text_config")
    if isinstance(inner, dict):
        read_by = outer if inner.get("model_type", "") == "" else inner_architecture(inner)
        normalised["text_config"] = _one(inner, read_by)
        if outer.outer_vocabulary and "vocab_size" in inner:
            normalised.setdefault("vocab_size", inner["vocab_size"])
    return _one(normalised, outer)


def rope_scaling_of(config: Mapping[str, Any]) -> str:
    """Return the type by which a normalised config stretches rotary positions; empty where it does not."""
    scaling = config.get("rope_scaling")
    kind = scaling.get("type", scaling.get("rope_type", "default")) if isinstance(scaling, Mapping) else "default"
    return "" if kind == "default" else str(kind)


def _numbers(value: Any) -> Any:
    """Return a copy in which numbers that JSON cannot write, for example `{"__float__": "Infinity"}`, are numbers."""
    if isinstance(value, Mapping):
        if set(value) == {"__float__"} and value["__float__"] in ("Infinity", "-Infinity", "NaN"):
            return float(value["__float__"])
        return {key: _numbers(inner) for key, inner in value.items()}
    return [_numbers(inner) for inner in value] if isinstance(value, list) else value


def window_of(config: Mapping[str, Any]) -> int | None:
    """Return over how many tokens a normalised config lets some layers see back; None where all see everything."""
    window, context = config.get("sliding_window"), config.get("max_position_embeddings")
    if not isinstance(window, int) or window <= 0 or config.get("use_sliding_window") is False:
        return None
    if isinstance(context, int) and window >= context:
        return None
    types = config.get("layer_types")
    return window if not isinstance(types, list) or _SLIDING in types else None


def _one(config: dict[str, Any], read_by: Architecture) -> dict[str, Any]:
    """Bring one level of a config to the keys of its definition, in place, and return it."""
    rope = config.get("rope_parameters")
    if isinstance(rope, dict) and rope and not read_by.reads_rope_parameters:
        _flatten(config, config.pop("rope_parameters"))
    scaling = config.get("rope_scaling")
    if isinstance(scaling, dict):
        config["rope_scaling"] = _scaling(scaling, config)
    for key, common in read_by.renamed_keys.items():
        if common in config:
            config.setdefault(key, config[common])
    for key, value in read_by.default_values.items():
        if config.get(key) is None:
            config[key] = value
    types = config.get("layer_types")
    if read_by.layer_types and isinstance(types, list):
        config["layer_types"] = [read_by.layer_types.get(str(kind), kind) for kind in types]
    if read_by.adapt is not None:
        read_by.adapt(config)
    if read_by.pattern_key:
        _pattern(config, read_by.pattern_key, spelt=read_by.pattern_as_letters)
    return config


def _flatten(config: dict[str, Any], rope: Mapping[str, Any]) -> None:
    """Spread `rope_parameters` over the old keys."""
    by_layer = {key: value for key, value in rope.items() if isinstance(value, Mapping)}
    sliding = by_layer.get(_SLIDING)
    full = by_layer.get(_FULL) or sliding or rope
    for key in ("rope_theta", "partial_rotary_factor"):
        if full.get(key) is not None:
            config[key] = full[key]
    if sliding is not None and sliding is not full and sliding.get("rope_theta") is not None:
        config["rope_local_base_freq"] = sliding["rope_theta"]
    kind = full.get("rope_type", full.get("type", "default"))
    if kind == "default":
        config["rope_scaling"] = None
    else:
        config["rope_scaling"] = {key: value for key, value in full.items() if key != "rope_theta"}


def _scaling(scaling: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `rope_scaling` with its type under both of its names; None where it says that nothing is scaled."""
    kind = scaling.get("rope_type") or scaling.get("type") or "default"
    if kind == "default" and "mrope_section" not in scaling:
        return None
    kind = _ROPE_ALIASES.get(kind, kind) if isinstance(kind, str) else kind
    said = {**scaling, "type": kind, "rope_type": kind}
    if kind == "longrope" and "original_max_position_embeddings" in config:
        said.setdefault("original_max_position_embeddings", config["original_max_position_embeddings"])
    if kind == "yarn" and not said.get("mscale_all_dim"):
        _say_strength(said)
    return said


def _say_strength(yarn: dict[str, Any]) -> None:
    """Say what `attention_factor` says in the way that definitions work it out: 1 + mscale * log(factor) / 10."""
    factor, strength = yarn.get("factor"), yarn.get("attention_factor")
    if isinstance(strength, int | float) and isinstance(factor, int | float) and 1 < factor < math.inf:
        yarn.setdefault("mscale", (strength - 1) * 10 / math.log(factor))


def _pattern(config: dict[str, Any], key: str, spelt: bool) -> None:
    """Say by a pattern under `key` what `layer_types` says layer by layer.

    Raises:
        UnsupportedModelError: It is not regular, or no layer attends to the whole text.
    """
    types = config.get("layer_types")
    if not isinstance(types, list) or not types:
        return
    if _FULL not in types:
        raise UnsupportedModelError(
            f"None of its layers attends to the whole text (layer_types), which is not supported in "
            f"{config['model_type']} models."
        )
    if spelt:
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
