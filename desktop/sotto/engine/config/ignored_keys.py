"""What a config can say that changes the result, and that the definition of its model does not look at.

Imports nothing of MLX.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sotto.engine.config.architecture import Architecture
from sotto.engine.config.architecture_table import architecture, checking_architecture, inner_architecture

_ACTIVATION_KEYS = ("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act")
_UNSCALED = ("default", "mrope")


def ignored_settings(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each thing in a config, as written, that its definition would leave out."""
    outer, inner = architecture(config), config.get("text_config")
    if not isinstance(inner, Mapping):
        yield from _one(config, outer)
        return
    kind = inner.get("model_type")
    if outer.inner_types and isinstance(kind, str) and kind and kind not in outer.inner_types:
        yield f"It has a model of type {kind[:64]!r} inside, which is not supported in {outer.name} models."
    yield from _one(inner, outer if outer.computes_inner else checking_architecture(inner_architecture(inner)))


def rope_scalings(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield each way in which a config, old or new, stretches positions."""
    for written in (config.get("rope_scaling"), config.get("rope_parameters")):
        if isinstance(written, Mapping):
            by_layer = [said for said in written.values() if isinstance(said, Mapping)]
            yield from (said for said in by_layer or [written] if rope_type_of(said) not in _UNSCALED)


def rope_type_of(scaling: Mapping[str, Any]) -> str:
    """Return the type of a `rope_scaling` or `rope_parameters`."""
    return str(scaling.get("rope_type") or scaling.get("type") or "default")


def _one(config: Mapping[str, Any], read_by: Architecture) -> Iterator[str]:
    """Yield what is left out of one level of a config."""
    name = read_by.name
    if read_by.refusal is not None and (reason := read_by.refusal(config)):
        yield reason
    for key in _wrong(config, read_by):
        yield f"{key} in its config.json is {str(_value(config, key))[:40]!r}, which is not supported in {name} models."
    for scaling in rope_scalings(config):
        stretch, where = rope_type_of(scaling), f"which is not supported in {name} models."
        if read_by.rope_types is not None and stretch not in read_by.rope_types:
            yield f"Its positions are scaled by {stretch[:40]!r} (rope_scaling), {where}"
        elif not read_by.switches_scaling and scaling.get("short_factor") != scaling.get("long_factor"):
            yield f"Its positions are scaled in another way for long texts (rope_scaling), {where}"
        elif not read_by.supports_untruncated_yarn and stretch == "yarn" and scaling.get("truncate") is False:
            yield f"Its positions are scaled by 'yarn' without truncating (rope_scaling), {where}"


def _wrong(config: Mapping[str, Any], read_by: Architecture) -> Iterator[str]:
    """Yield the keys with values that the definition does not compute with."""
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
    """Return what a config says of positions or anything else, wherever transformers puts it."""
    rope = config.get("rope_parameters")
    return config.get(key, rope.get(key) if isinstance(rope, Mapping) else None)
