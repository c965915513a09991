"""What a config can say that changes the result, and that the definition of its model does not look at.

Found by comparing logits with those of transformers; a definition that is not listed was not seen to leave anything
out. Imports nothing of MLX.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

_SILU = frozenset({"silu", "swish"})
_GELU = frozenset({"gelu", "gelu_fast", "gelu_new", "gelu_python", "gelu_pytorch_tanh"})
_RELU2 = frozenset({"relu2"})
_ACTIVATION_KEYS = ("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act")
# What each definition computes, whatever its config names. Those that read the name are not listed.
_ACTIVATIONS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        """
        afmoe cohere cohere2 deepseek_v2 deepseek_v3 deepseek_v32 dots1 ernie4_5 exaone4 exaone_moe falcon_h1 glm glm4
        glm4_moe glm4_moe_lite glm_moe_dsa granite granitemoe granitemoehybrid helium hunyuan_v1_dense internlm3
        kimi_linear laguna llama llama4 llama4_text longcat_flash mamba mamba2 mellum minicpm3 minimax ministral3
        mistral4 mixtral muse_glimmer olmo2 olmo3 olmo_hybrid olmoe phi3 phimoe qwen2 qwen2_moe qwen3 qwen3_5
        qwen3_5_moe qwen3_moe qwen3_next seed_oss smollm3 solar_open stablelm youtu_llm
        """.split(),
        _SILU,
    ),
    **dict.fromkeys("gemma gemma2 gemma3_text gemma3n gemma4_text gpt2 gptj phi recurrent_gemma".split(), _GELU),
    **dict.fromkeys("bitnet nanochat nemotron nemotron_h".split(), _RELU2),
}
_ENCODER: Mapping[str, tuple[Any, ...]] = {
    "add_cross_attention": (False,),
    "is_decoder": (False,),
    "position_embedding_type": ("absolute",),
}
# The values with which a definition is right, by key; so it is where a key is missing or null.
_RIGHT: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "bert": _ENCODER,
    "camembert": _ENCODER,
    "deepseek_v2": {"norm_topk_prob": (False,), "scoring_func": ("softmax",)},
    "deepseek_v3": {"rope_interleave": (True,)},
    # Factors are multiplied into weights, and would have to be into these as well.
    "falcon_h1": {
        **dict.fromkeys(("attention_bias", "mamba_proj_bias", "mlp_bias", "projectors_bias"), (False,)),
        "time_step_limit": ([0, math.inf], [0, {"__float__": "Infinity"}]),
    },
    "gemma3_text": {
        "attn_logit_softcapping": (),
        "final_logit_softcapping": (),
        "use_bidirectional_attention": (False,),
    },
    # Only images are seen in both directions by "vision".
    "gemma4_text": {"use_bidirectional_attention": (False, "vision")},
    "glm4_moe_lite": {"rope_interleave": (True,)},
    "gpt2": {"scale_attn_by_inverse_layer_idx": (False,), "scale_attn_weights": (True,)},
    "gpt_oss": {"swiglu_alpha": (1.702,), "swiglu_limit": (7,)},
    "granitemoehybrid": {"mamba_n_groups": (1,)},
    "kimi_linear": {"tie_word_embeddings": (False,)},
    "mamba": {"layer_norm_epsilon": (1e-5,)},
    "mamba2": {"layer_norm_epsilon": (1e-5,), "n_groups": (1,)},
    "nemotron_h": {"mamba_hidden_act": tuple(_SILU)},
    "nomic_bert": {
        "activation_function": ("swiglu",),
        "hidden_act": ("silu",),
        "rotary_emb_fraction": (1,),
        **dict.fromkeys(("causal", "parallel_block", "prenorm", "rotary_emb_interleaved", "use_rms_norm"), (False,)),
    },
    "olmoe": {"clip_qkv": ()},
    "qwen2_moe": {"norm_topk_prob": (False,)},
    "recurrent_gemma": {"partial_rotary_factor": (0.5,), "rope_theta": (10000,)},
    "roberta": _ENCODER,
    "xlm-roberta": _ENCODER,
    "youtu_llm": {"rope_interleave": (True,)},
}
# Where null would mean that something is left out, and definitions cannot do without.
_NEEDED: Mapping[str, tuple[str, ...]] = {"gemma2": ("attn_logit_softcapping", "final_logit_softcapping")}
# How positions can be stretched where a definition knows only some ways and passes over the others in silence.
_STRETCHED: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        """
        cohere cohere2 ernie4_5 gemma gemma2 gemma3n glm glm4 glm4_moe gpt_neox helium lfm2 lfm2_moe llama4_text
        mimo_v2_flash minimax mixtral muse_glimmer nanochat olmo_hybrid phi qwen2_moe qwen3_moe recurrent_gemma stablelm
        starcoder2
        """.split(),
        frozenset(),
    ),
    "deepseek_v2": frozenset({"yarn", "deepseek_yarn"}),
    "minicpm3": frozenset({"longrope", "su"}),
    "nemotron": frozenset({"linear"}),
    "phimoe": frozenset({"longrope", "su"}),
}
_UNSTRETCHED = ("default", "mrope")
# Definitions that compute the inner model of others, by its model type.
_INNER: Mapping[str, str] = {
    "gemma3n_text": "gemma3n",
    "muse_glimmer_text": "muse_glimmer",
    "qwen2_5_vl_text": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen3_vl_text": "qwen3",
}
# Definitions that take whatever is inside them for a Llama, with the inner models that are one.
_LLAMAS = frozenset({"llama", "ministral3", "mistral", "mistral4"})
_INNER_LLAMA: Mapping[str, frozenset[str]] = {"mistral3": _LLAMAS, "pixtral": _LLAMAS - {"ministral3", "mistral4"}}


def unread(config: Mapping[str, Any], name: str, inner_name: str) -> Iterator[str]:
    """Yield a sentence for each thing in a config that its definition would leave out.

    Args:
        config: `config.json`, as written.
        name: The definition.
        inner_name: The definition that the `model_type` in `text_config` has by itself; empty if none.
    """
    inner = config.get("text_config")
    if not isinstance(inner, Mapping):
        yield from _one(config, name)
        return
    kind = inner.get("model_type")
    kind = kind if isinstance(kind, str) else ""
    allowed = _INNER_LLAMA.get(name)
    if allowed and kind and kind not in allowed:
        yield f"It has a model of type {kind[:64]!r} inside, which is not supported in {name} models."
    yield from _one(inner, name if name == "llama4" else inner_name or _INNER.get(kind, ""))


def stretches(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield each way in which a config, old or new, stretches positions."""
    for written in (config.get("rope_scaling"), config.get("rope_parameters")):
        if isinstance(written, Mapping):
            by_layer = [said for said in written.values() if isinstance(said, Mapping)]
            yield from (said for said in by_layer or [written] if stretch_of(said) not in _UNSTRETCHED)


def stretch_of(scaling: Mapping[str, Any]) -> str:
    """Return the type of a `rope_scaling` or `rope_parameters`."""
    return str(scaling.get("rope_type") or scaling.get("type") or "default")


def half_rotated(name: str) -> bool:
    """Return whether a definition rotates a part of each head that its config need not tell."""
    return "partial_rotary_factor" in _RIGHT.get(name, {})


def _one(config: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield what is left out of one level of a config."""
    if name == "falcon_h1" and "quantization" in config and config.get("key_multiplier") not in (None, 1):
        # Where MLX's own converter multiplied the weights, it passed over the keys; from elsewhere they come as made.
        yield "It was converted to MLX's layout without its key_multiplier; choose a version in the makers' layout."
    for key in _wrong(config, name):
        yield f"{key} in its config.json is {str(_value(config, key))[:40]!r}, which is not supported in {name} models."
    for scaling in stretches(config):
        stretch, where = stretch_of(scaling), f"which is not supported in {name} models."
        if name in _STRETCHED and stretch not in _STRETCHED[name]:
            yield f"Its positions are scaled by {stretch[:40]!r} (rope_scaling), {where}"
        elif name != "phi3" and scaling.get("short_factor") != scaling.get("long_factor"):
            yield f"Its positions are scaled in another way for long texts (rope_scaling), {where}"
        elif name != "gpt_oss" and stretch == "yarn" and scaling.get("truncate") is False:
            yield f"Its positions are scaled by 'yarn' without truncating (rope_scaling), {where}"


def _wrong(config: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the keys with values that the definition does not compute with."""
    for key in _ACTIVATION_KEYS if name in _ACTIVATIONS else ():
        if config.get(key) is not None and str(config[key]) not in _ACTIVATIONS[name]:
            yield key
    for key, right in _RIGHT.get(name, {}).items():
        value = _value(config, key)
        if value is not None and value not in right:
            yield key
    yield from (key for key in _NEEDED.get(name, ()) if config.get(key, "") is None)
    if name == "falcon_h1" and config.get("mamba_rms_norm") and config.get("mamba_n_groups") not in (None, 1):
        yield "mamba_rms_norm"
    plain = config.get("dim_model_base") == config.get("hidden_size")
    if name == "minicpm3" and config.get("tie_word_embeddings") and not plain:
        yield "tie_word_embeddings"
    if name == "llama4_text":
        rotated, chunk, context = map(config.get, ("no_rope_layers", "attention_chunk_size", "max_position_embeddings"))
        elsewhere = config.get("use_qk_norm") is not False or config.get("attn_temperature_tuning") is not False
        if isinstance(rotated, list) and not all(rotated) and elsewhere:
            yield "no_rope_layers"
        if isinstance(chunk, int) and isinstance(context, int) and chunk < context:
            yield "attention_chunk_size"


def _value(config: Mapping[str, Any], key: str) -> Any:
    """Return what a config says of positions or anything else, wherever transformers puts it."""
    rope = config.get("rope_parameters")
    return config.get(key, rope.get(key) if isinstance(rope, Mapping) else None)
