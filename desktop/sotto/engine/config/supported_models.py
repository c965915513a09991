"""Which models the engine can compute right, as far as their config.json tells. Imports nothing of MLX.

The lists name model definitions of mlx-lm 0.32. A `model_type` is a text from a stranger that would choose the module
to import, so nothing outside them is ever imported.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from sotto.engine.config.ignored_keys import unread
from sotto.store.facts import ENCODERS

# Architectures by the name of their module; what its file needs beside the config and the weights decides who is here.
ARCHITECTURES = frozenset(
    """
    Klear afm7 afmoe apertus baichuan_m1 bailing_hybrid bailing_moe bailing_moe_linear bailing_moe_v3 bitnet cohere
    cohere2 deepseek deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v41 dots1 ernie4_5 exaone exaone4
    exaone_moe falcon_h1 gear gemma gemma2 gemma3 gemma3_text gemma3n gemma4 gemma4_text glm glm4 glm4_moe glm4_moe_lite
    glm_moe_dsa gpt2 gpt_neox gpt_oss gptj granite granitemoe granitemoehybrid helium hunyuan hunyuan_v1_dense internlm2
    internlm3 iquestloopcoder kimi_k25 kimi_k3 kimi_linear kimi_vl laguna lfm2 lfm2-vl lfm2_moe lille-130m llama
    llama4 llama4_text longcat_flash longcat_flash_ngram mamba mamba2 mellum mimo mimo_v2_flash minicpm minicpm3 minimax
    minimax_m3_vl ministral3 mistral3 mistral4 mixtral muse_glimmer nanbeige nanochat nemotron nemotron-nas nemotron_h
    olmo2 olmo3 olmo_hybrid olmoe openelm phi phi3 phi3small phimoe phixtral pixtral plamo2 plamo3 prism_hadamard_qwen35
    qwen qwen2 qwen2_moe qwen2_vl qwen3 qwen3_5 qwen3_5_moe qwen3_moe qwen3_next qwen3_vl qwen3_vl_moe recurrent_gemma
    rwkv7 seed_oss smollm3 solar_open spark2_5 stablelm starcoder2 step3p5 talkie telechat3 youtu_llm
    """.split()
)
# Model types that another's definition computes.
_ALIASES: Mapping[str, str] = {
    "deepseek_v41_text": "deepseek_v41",
    "falcon_mamba": "mamba",
    "gemma4_unified": "gemma4",
    "gemma4_unified_text": "gemma4_text",
    "iquestcoder": "llama",
    "joyai_llm_flash": "deepseek_v3",
    "kimi_k2": "deepseek_v3",
    "lfm2_vl": "lfm2-vl",
    "llava": "mistral3",
    "minimax_m2": "minimax",
    "mistral": "llama",
    "nemotron_nas": "nemotron-nas",
    "phi-msft": "phixtral",
    "qwen2_5_vl": "qwen2_vl",
    "qwen3_5_moe_text": "qwen3_5_moe",
    "qwen3_5_text": "qwen3_5",
    "xverse": "llama",
    "youtu": "youtu_llm",
}
# Definitions that exist but cannot be used here, and why; each completes "… models cannot run: ".
_REFUSED: Mapping[str, str] = {
    "dbrx": "their definition needs a library that does not come with Sotto",
    "ernie4_5_moe": "the definition at hand leaves out a part of how they choose experts",
    "gpt_bigcode": "their definition needs a library that does not come with Sotto",
    "jamba": "the definition at hand computes something else than their makers' does",
    "muse_spark": "they need kernels and a prompt format of their own",
    "olmo": "the definition of the first OLMo needs a library that does not come with Sotto; OLMo 2 and 3 run",
    "plamo": "their definition needs a library that does not come with Sotto; PLaMo 2 and 3 run",
}
# Ways of quantizing whose packing no definition reads.
_FOREIGN_QUANTIZATION = frozenset(
    """
    aqlm auto-round awq bitsandbytes eetq exl2 exl3 fp_quant gptq higgs hqq quanto quip_sharp spqr torchao vptq
    """.split()
)
# Masks count tokens in 32 bits.
_MOST_TOKENS = 1 << 31
# Larger than any model there is; a config that says more is damaged, or made to exhaust the machine.
_LIMITS: Mapping[str, int] = {
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


def architecture(config: Mapping[str, Any]) -> str:
    """Return the name of the definition that computes a config's model; empty if there is none."""
    kind = config.get("model_type")
    if not isinstance(kind, str):
        return ""
    if kind == "bailing_hybrid" and "BailingMoeV3ForCausalLM" in _texts(config.get("architectures")):
        return "bailing_moe_v3"
    name = _ALIASES.get(kind, kind)
    return name if name in ARCHITECTURES or name in ENCODERS else ""


def is_encoder(config: Mapping[str, Any]) -> bool:
    """Tell whether a config's model makes vectors of texts and writes none."""
    return config.get("model_type") in ENCODERS


def refusal(config: Mapping[str, Any]) -> str:
    """Return one sentence that says why a model with this config cannot run here, or an empty text if it can.

    Args:
        config: `config.json`, as written by whoever made the model.
    """
    kind = config.get("model_type")
    if kind is None:
        return "Its config.json has no model_type, so nothing says how to compute it."
    if not isinstance(kind, str) or not kind.isprintable() or not 0 < len(kind) <= 64:
        return "The model_type in its config.json should be a short text such as 'llama'."
    if reason := _REFUSED.get(kind):
        return f"{kind} models cannot run: {reason}."
    name = architecture(config)
    if not name:
        return f"Sotto has no definition for models of type '{kind}'."
    if name == "bitnet" and sys.platform != "darwin":
        return "bitnet models run only on Apple silicon, because their kernels exist only for Metal."
    method = _quantization_method(config)
    if method in _FOREIGN_QUANTIZATION:
        return (
            f"Its weights are quantized by '{method}', which Sotto cannot read; choose an MLX or unquantized version."
        )
    inner = config.get("text_config")
    inner_name = architecture(inner) if isinstance(inner, Mapping) else ""
    return next(_absurd(config), "") or next(unread(config, name, inner_name), "")


def _quantization_method(config: Mapping[str, Any]) -> str:
    declared = config.get("quantization_config")
    method = declared.get("quant_method") if isinstance(declared, Mapping) else None
    return method.lower() if isinstance(method, str) else ""


def _absurd(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each size that no model has."""
    inner = config.get("text_config")
    for part, where in ((config, ""), (inner if isinstance(inner, Mapping) else {}, "text_config.")):
        types, layers, window = (part.get(key) for key in ("layer_types", "num_hidden_layers", "sliding_window"))
        if isinstance(types, list) and isinstance(layers, int) and 0 < len(types) < layers:
            yield f"{where}layer_types in its config.json has {len(types)} entries; it should have one for each layer."
        if isinstance(window, int) and not 0 <= window < _MOST_TOKENS:
            yield f"{where}sliding_window in its config.json should be between 0 and {_MOST_TOKENS - 1:,}."
        for key, most in _LIMITS.items():
            value = part.get(key)
            if value is None:
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            # Some families give one number for each layer.
            numbers = value if isinstance(value, list) else [value] if whole else []
            if not numbers:
                yield f"{where}{key} in its config.json should be a whole number."
            elif any(not isinstance(number, int) or not 0 <= number <= most for number in numbers):
                yield f"{where}{key} in its config.json should be between 0 and {most:,}."


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
