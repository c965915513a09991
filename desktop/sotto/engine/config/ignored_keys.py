"""Detection of config values that change the result, but that a model's definition ignores.

Does not import MLX.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sotto.engine.config.architecture import Architecture
from sotto.engine.config.architecture_table import architecture, checking_architecture, inner_architecture

_ACTIVATION_KEYS = ("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act")
_UNSCALED = ("default", "mrope")


def ignored_settings(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each setting of a config, as written, that its definition would ignore."""
    outer, inner = architecture(config), config.get("text_config")
    if not isinstance(inner, Mapping):
        yield from _ignored_in_level(config, outer)
        return
    kind = inner.get("model_type")
    if outer.inner_types and isinstance(kind, str) and kind and kind not in outer.inner_types:
        yield f"It has a model of type {kind[:64]!r} inside, which is not supported in {outer.name} models."
    checked_by = outer if outer.computes_inner else checking_architecture(inner_architecture(inner))
    yield from _ignored_in_level(inner, checked_by)


def rope_scalings(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield each setting of a config, in the old or the new form, that scales rotary positions."""
    for written in (config.get("rope_scaling"), config.get("rope_parameters")):
        if isinstance(written, Mapping):
            by_layer = [scaling for scaling in written.values() if isinstance(scaling, Mapping)]
            yield from (scaling for scaling in by_layer or [written] if rope_type_of(scaling) not in _UNSCALED)


def rope_type_of(scaling: Mapping[str, Any]) -> str:
    """Return the type of a `rope_scaling` or `rope_parameters`."""
    return str(scaling.get("rope_type") or scaling.get("type") or "default")


def _ignored_in_level(config: Mapping[str, Any], read_by: Architecture) -> Iterator[str]:
    """Yield a sentence for each setting that is ignored in one level of a config."""
    name = read_by.name
    if read_by.refusal is not None and (reason := read_by.refusal(config)):
        yield reason
    for key in _unsupported_keys(config, read_by):
        yield f"{key} in its config.json is {str(_value(config, key))[:40]!r}, which is not supported in {name} models."
    for scaling in rope_scalings(config):
        rope_type, where = rope_type_of(scaling), f"which is not supported in {name} models."
        if read_by.rope_types is not None and rope_type not in read_by.rope_types:
            yield f"Its positions are scaled by {rope_type[:40]!r} (rope_scaling), {where}"
        elif not read_by.switches_scaling and scaling.get("short_factor") != scaling.get("long_factor"):
            yield f"Its positions are scaled in another way for long texts (rope_scaling), {where}"
        elif not read_by.supports_untruncated_yarn and rope_type == "yarn" and scaling.get("truncate") is False:
            yield f"Its positions are scaled by 'yarn' without truncating (rope_scaling), {where}"


def _unsupported_keys(config: Mapping[str, Any], read_by: Architecture) -> Iterator[str]:
    """Yield the keys whose values the definition does not support."""
    for key in _ACTIVATION_KEYS if read_by.activations is not None else ():
        if config.get(key) is not None and str(config[key]) not in (read_by.activations or ()):
            yield key
    for key, supported in read_by.supported_values.items():
        value = _value(config, key)
        if value is not None and value not in supported:
            yield key
    yield from (key for key in read_by.needed_keys if config.get(key, "") is None)
    if read_by.ignores is not None:
        yield from read_by.ignores(config)


def _value(config: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key, which newer configs may have in `rope_parameters`."""
    rope = config.get("rope_parameters")
    return config.get(key, rope.get(key) if isinstance(rope, Mapping) else None)
