"""Which models the engine can compute correctly, judging by their config.json. Does not import MLX."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from sotto.engine.config.architecture_table import architecture, refusal_reason
from sotto.engine.config.ignored_keys import ignored_settings
from sotto.store.facts import ENCODERS

# Quantization methods whose packing no definition can read.
_FOREIGN_QUANTIZATION = frozenset(
    """
    aqlm auto-round awq bitsandbytes eetq exl2 exl3 fp_quant gptq higgs hqq quanto quip_sharp spqr torchao vptq
    """.split()
)
# Masks count tokens in signed 32-bit numbers.
_MAX_WINDOW_TOKENS = 1 << 31
# Larger than in any existing model. A config beyond that is damaged, or meant to exhaust the machine.
_MAX_SIZES: Mapping[str, int] = {
    "head_dim": 65_536,
    "hidden_size": 1_048_576,
    "intermediate_size": 16_777_216,
    "n_routed_experts": 65_536,
    "num_attention_heads": 65_536,
    "num_experts": 65_536,
    "num_hidden_layers": 4_096,
    "num_key_value_heads": 65_536,
    "num_local_experts": 65_536,
    "vocab_size": 16_777_216,
}


def is_encoder(config: Mapping[str, Any]) -> bool:
    """Return whether a config describes an encoder, which embeds texts and cannot generate any."""
    return config.get("model_type") in ENCODERS


def refusal(config: Mapping[str, Any]) -> str:
    """Return one sentence saying why a model with this config cannot run here; empty if it can.

    Args:
        config: The content of `config.json`, not normalised.
    """
    kind = config.get("model_type")
    if kind is None:
        return "Its config.json has no model_type, so nothing says how to compute it."
    if not isinstance(kind, str) or not kind.isprintable() or not 0 < len(kind) <= 64:
        return "The model_type in its config.json should be a short text such as 'llama'."
    if reason := refusal_reason(config):
        return f"{kind} models cannot run: {reason}."
    found = architecture(config)
    if not found.name:
        return f"Sotto has no definition for models of type '{kind}'."
    if found.needs_metal and sys.platform != "darwin":
        return f"{found.name} models run only on Apple silicon, because their kernels exist only for Metal."
    method = _quantization_method(config)
    if method in _FOREIGN_QUANTIZATION:
        return (
            f"Its weights are quantized by '{method}', which Sotto cannot read; choose an MLX or unquantized version."
        )
    return next(_impossible_sizes(config), "") or next(ignored_settings(config), "")


def _quantization_method(config: Mapping[str, Any]) -> str:
    declared = config.get("quantization_config")
    method = declared.get("quant_method") if isinstance(declared, Mapping) else None
    return method.lower() if isinstance(method, str) else ""


def _impossible_sizes(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each size that no model can have."""
    inner = config.get("text_config")
    for part, where in ((config, ""), (inner if isinstance(inner, Mapping) else {}, "text_config.")):
        types, layers, window = (part.get(key) for key in ("layer_types", "num_hidden_layers", "sliding_window"))
        if isinstance(types, list) and isinstance(layers, int) and 0 < len(types) < layers:
            yield f"{where}layer_types in its config.json has {len(types)} entries; it should have one for each layer."
        if isinstance(window, int) and not 0 <= window < _MAX_WINDOW_TOKENS:
            yield f"{where}sliding_window in its config.json should be between 0 and {_MAX_WINDOW_TOKENS - 1:,}."
        for key, most in _MAX_SIZES.items():
            value = part.get(key)
            if value is None:
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            # Some families have a list with one number for each layer.
            numbers = value if isinstance(value, list) else [value] if whole else []
            if not numbers:
                yield f"{where}{key} in its config.json should be a whole number."
            elif any(not isinstance(number, int) or not 0 <= number <= most for number in numbers):
                yield f"{where}{key} in its config.json should be between 0 and {most:,}."
