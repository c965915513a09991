"""The table of all supported and refused architectures. Does not import MLX.

It lists the model definitions of mlx-lm 0.32 and our own. A `model_type` comes from an untrusted file and chooses the
module to import, so only modules in this table are ever imported. What each definition ignores was found by comparing
its logits with those of transformers; no such entry means that nothing was found.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sotto.engine.config import config_quirks
from sotto.engine.config.architecture import UNKNOWN, Architecture, Prediction

_SILU = frozenset({"silu", "swish"})
_GELU = frozenset({"gelu", "gelu_fast", "gelu_new", "gelu_python", "gelu_pytorch_tanh"})
_RELU2 = frozenset({"relu2"})
_VISION = ("vision_tower.", "multi_modal_projector.")
_QWEN_VISION = ("visual.", "vision_tower.")
# No type of RoPE scaling is supported.
_UNSCALED: frozenset[str] = frozenset()
_MISTRAL_INSIDE = frozenset({"llama", "ministral3", "mistral", "mistral4"})
_ENCODER: Mapping[str, tuple[Any, ...]] = {
    "add_cross_attention": (False,),
    "is_decoder": (False,),
    "position_embedding_type": ("absolute",),
}

ARCHITECTURES = (
    Architecture("afm7", batches=False),
    Architecture("afmoe", batches=True, activations=_SILU),
    Architecture("apertus", batches=True, default_values={"mlp_bias": False, "post_norm": False, "qk_norm": True}),
    Architecture("baichuan_m1", batches=False),
    Architecture("bailing_hybrid", batches=False, by_class={"BailingMoeV3ForCausalLM": "bailing_moe_v3"}),
    Architecture("bailing_moe", batches=False),
    Architecture("bailing_moe_linear", batches=False),
    Architecture("bailing_moe_v3", batches=True),
    Architecture("bert", batches=False, definition="bert", supported_values=_ENCODER),
    Architecture("bitnet", batches=False, needs_metal=True, activations=_RELU2),
    Architecture("camembert", batches=False, definition="bert", supported_values=_ENCODER),
    Architecture("cohere", batches=True, activations=_SILU, rope_types=_UNSCALED),
    Architecture(
        "cohere2", batches=True, activations=_SILU, rope_types=_UNSCALED, pattern_key="sliding_window_pattern"
    ),
    Architecture("dbrx", batches=False, refused="their definition needs a library that does not come with Sotto"),
    Architecture("deepseek", batches=False),
    Architecture(
        "deepseek_v2",
        batches=True,
        activations=_SILU,
        rope_types=frozenset({"deepseek_yarn", "yarn"}),
        # A factor of 1 scales nothing, but this definition requires the key.
        default_values={"rope_scaling": {"type": "yarn", "rope_type": "yarn", "factor": 1.0}},
        supported_values={"norm_topk_prob": (False,), "scoring_func": ("softmax",)},
    ),
    Architecture(
        "deepseek_v3",
        batches=True,
        aliases=("joyai_llm_flash", "kimi_k2"),
        activations=_SILU,
        prediction=Prediction.LAYER,
        supported_values={"rope_interleave": (True,)},
    ),
    Architecture("deepseek_v32", batches=False, activations=_SILU),
    Architecture("deepseek_v41", batches=False, aliases=("deepseek_v41_text",)),
    Architecture("dots1", batches=True, activations=_SILU),
    Architecture("ernie4_5", batches=True, activations=_SILU, rope_types=_UNSCALED),
    Architecture(
        "ernie4_5_moe",
        batches=True,
        definition="ernie4_5_moe",
        ignored_prefixes=("mtp_block.", "mtp_linear_proj.", "mtp_hidden_norm.", "mtp_emb_norm."),
        activations=_SILU,
        rope_types=_UNSCALED,
    ),
    Architecture("exaone", batches=False),
    Architecture(
        "exaone4", batches=True, activations=_SILU, pattern_key="sliding_window_pattern", pattern_as_letters=True
    ),
    Architecture(
        "exaone_moe", batches=True, activations=_SILU, ignored_prefixes=("mtp.",), adapt=config_quirks.adapt_exaone_moe
    ),
    Architecture(
        "falcon_h1",
        batches=True,
        activations=_SILU,
        adapt=config_quirks.adapt_falcon_h1,
        # The multipliers are applied to the weights, but would have to be applied to these biases as well.
        supported_values={
            "attention_bias": (False,),
            "mamba_proj_bias": (False,),
            "mlp_bias": (False,),
            "projectors_bias": (False,),
            "time_step_limit": ([0, math.inf], [0, {"__float__": "Infinity"}]),
        },
        ignores=config_quirks.falcon_h1_ignores,
        refusal=config_quirks.falcon_h1_refusal,
    ),
    Architecture("gear", batches=False),
    Architecture("gemma", batches=True, definition="gemma", activations=_GELU, rope_types=_UNSCALED),
    Architecture(
        "gemma2",
        batches=False,
        definition="gemma2",
        activations=_GELU,
        rope_types=_UNSCALED,
        needed_keys=("attn_logit_softcapping", "final_logit_softcapping"),
    ),
    Architecture(
        "gemma3",
        batches=True,
        definition="seeing.gemma3",
        sees="gemma3",
        ignored_prefixes=_VISION,
        outer_vocabulary=True,
    ),
    Architecture(
        "gemma3_text",
        batches=True,
        definition="gemma3_text",
        activations=_GELU,
        pattern_key="sliding_window_pattern",
        supported_values={
            "attn_logit_softcapping": (),
            "final_logit_softcapping": (),
            "use_bidirectional_attention": (False,),
        },
    ),
    Architecture(
        "gemma3n",
        batches=True,
        definition="gemma3n",
        activations=_GELU,
        ignored_prefixes=("vision_tower.", "audio_tower.", "embed_vision.", "embed_audio."),
        rope_types=_UNSCALED,
    ),
    Architecture("gemma3n_text", batches=False, checked_as_type="gemma3n"),
    Architecture(
        "gemma4",
        batches=True,
        aliases=("gemma4_unified",),
        definition="seeing.gemma4",
        sees="gemma4",
        ignored_prefixes=(*_VISION, "audio_tower.", "embed_vision.", "embed_audio.", "vision_embedder."),
        outer_vocabulary=True,
    ),
    Architecture(
        "gemma4_text",
        batches=True,
        aliases=("gemma4_unified_text",),
        activations=_GELU,
        reads_rope_parameters=True,
        adapt=config_quirks.adapt_gemma4_text,
        # With "vision", only images are attended to in both directions.
        supported_values={"use_bidirectional_attention": (False, "vision")},
    ),
    Architecture("glm", batches=True, definition="glm", activations=_SILU, rope_types=_UNSCALED),
    Architecture("glm4", batches=True, activations=_SILU, rope_types=_UNSCALED),
    Architecture("glm4_moe", batches=True, activations=_SILU, rope_types=_UNSCALED, prediction=Prediction.LAYER),
    Architecture(
        "glm4_moe_lite",
        batches=True,
        activations=_SILU,
        prediction=Prediction.LAYER,
        supported_values={"rope_interleave": (True,)},
    ),
    Architecture(
        "glm_moe_dsa",
        batches=False,
        activations=_SILU,
        reads_rope_parameters=True,
        default_values={"moe_layer_freq": 1, "scoring_func": "sigmoid", "topk_method": "noaux_tc"},
    ),
    Architecture(
        "glm_ocr",
        batches=True,
        definition="seeing.glm_ocr",
        sees="patch_merger",
        ignored_prefixes=_QWEN_VISION,
        supported_values={"tie_word_embeddings": (False,)},
    ),
    Architecture("glm_ocr_text", batches=False, checked_as_type="glm4"),
    Architecture(
        "gpt2",
        batches=True,
        activations=_GELU,
        renamed_keys={"n_ctx": "n_positions"},
        supported_values={"scale_attn_by_inverse_layer_idx": (False,), "scale_attn_weights": (True,)},
    ),
    Architecture(
        "gpt_bigcode", batches=False, refused="their definition needs a library that does not come with Sotto"
    ),
    Architecture(
        "gpt_neox",
        batches=True,
        definition="gpt_neox",
        rope_types=_UNSCALED,
        renamed_keys={"rotary_pct": "partial_rotary_factor", "rotary_emb_base": "rope_theta"},
    ),
    Architecture(
        "gpt_oss",
        batches=True,
        definition="gpt_oss",
        supports_untruncated_yarn=True,
        supported_values={"swiglu_alpha": (1.702,), "swiglu_limit": (7,)},
    ),
    Architecture("gptj", batches=True, activations=_GELU),
    Architecture("granite", batches=True, activations=_SILU),
    Architecture("granitemoe", batches=True, activations=_SILU),
    Architecture(
        "granitemoehybrid",
        batches=True,
        definition="granitemoehybrid",
        activations=_SILU,
        layer_types={"linear_attention": "mamba", "full_attention": "attention"},
        # The definition takes a missing value for "rope".
        default_values={"position_embedding_type": "nope"},
        adapt=config_quirks.adapt_granitemoehybrid,
        supported_values={"mamba_n_groups": (1,)},
    ),
    Architecture("helium", batches=True, activations=_SILU, rope_types=_UNSCALED),
    Architecture("hunyuan", batches=False),
    Architecture("hunyuan_v1_dense", batches=True, activations=_SILU),
    Architecture(
        "hunyuan_v1_moe",
        batches=True,
        definition="hunyuan_v1_moe",
        activations=_SILU,
        stacks_experts=False,
        supported_values={"use_cla": (False,), "use_mixed_mlp_moe": (True,)},
    ),
    Architecture(
        "idefics3",
        batches=True,
        definition="seeing.seeing_decoder",
        aliases=("smolvlm",),
        ignored_prefixes=("vision_model.", "connector."),
        sees="idefics3",
        adapt=config_quirks.adapt_seeing_decoder,
        inner_types=frozenset({"llama"}),
    ),
    Architecture("internlm2", batches=False),
    Architecture("internlm3", batches=False, activations=_SILU),
    Architecture("iquestloopcoder", batches=False),
    Architecture(
        "jamba", batches=False, refused="the definition at hand computes something else than their makers' does"
    ),
    Architecture(
        "jina_embeddings_v3",
        batches=False,
        definition="jina_embeddings_v3",
        rope_types=_UNSCALED,
    ),
    Architecture("kimi_k25", batches=False, ignored_prefixes=(*_VISION, "vision_model.", "mm_projector.")),
    Architecture("kimi_k3", batches=False, ignored_prefixes=(*_VISION, "vision_model.", "mm_projector.", "mtp.")),
    Architecture(
        "kimi_linear",
        batches=True,
        activations=_SILU,
        ignored_prefixes=("mtp.",),
        supported_values={"tie_word_embeddings": (False,)},
    ),
    Architecture("kimi_vl", batches=False, ignored_prefixes=_VISION),
    Architecture("Klear", batches=False),
    Architecture("laguna", batches=True, activations=_SILU, reads_rope_parameters=True),
    Architecture("lfm2", batches=True, rope_types=_UNSCALED, renamed_keys={"block_dim": "hidden_size"}),
    Architecture(
        "lfm2-vl",
        batches=False,
        aliases=("lfm2_vl",),
        definition="seeing.lfm2_vl",
        sees="lfm2_vl",
        ignored_prefixes=_VISION,
    ),
    Architecture("lfm2_moe", batches=True, rope_types=_UNSCALED),
    Architecture("lille-130m", batches=False),
    Architecture("llama", batches=True, aliases=("iquestcoder", "xverse"), activations=_SILU),
    Architecture(
        "llama4",
        batches=False,
        activations=_SILU,
        ignored_prefixes=("vision_model.", "multi_modal_projector."),
        computes_inner=True,
    ),
    Architecture(
        "llama4_text",
        batches=True,
        activations=_SILU,
        rope_types=_UNSCALED,
        ignores=config_quirks.llama4_text_ignores,
    ),
    Architecture(
        "llava",
        batches=True,
        definition="seeing.seeing_decoder",
        ignored_prefixes=_VISION,
        sees="llava",
        adapt=config_quirks.adapt_seeing_decoder,
        inner_types=_MISTRAL_INSIDE | {"qwen2"},
    ),
    Architecture(
        "llava_next",
        batches=True,
        definition="seeing.seeing_decoder",
        ignored_prefixes=(*_VISION, "image_newline"),
        sees="llava_next",
        adapt=config_quirks.adapt_seeing_decoder,
        inner_types=frozenset({"granite", "llama", "mistral", "qwen2"}),
    ),
    Architecture(
        "longcat_flash",
        batches=True,
        activations=_SILU,
        ignored_prefixes=("mtp.",),
        default_values={
            "attention_method": "MLA",
            "mla_scale_kv_lora": True,
            "mla_scale_q_lora": True,
            "zero_expert_type": "identity",
        },
    ),
    Architecture("longcat_flash_ngram", batches=False),
    Architecture(
        "mamba",
        batches=False,
        aliases=("falcon_mamba",),
        activations=_SILU,
        supported_values={"layer_norm_epsilon": (1e-5,)},
    ),
    Architecture(
        "mamba2",
        batches=True,
        activations=_SILU,
        supported_values={"layer_norm_epsilon": (1e-5,), "n_groups": (1,)},
    ),
    Architecture(
        "mellum",
        batches=True,
        activations=_SILU,
        reads_rope_parameters=True,
        renamed_keys={"num_experts": "num_local_experts"},
    ),
    Architecture("mimo", batches=False, ignored_prefixes=("mtp_layers.",)),
    Architecture("mimo_v2_flash", batches=True, ignored_prefixes=("mtp.",), rope_types=_UNSCALED),
    Architecture("minicpm", batches=False),
    Architecture(
        "minicpm3",
        batches=True,
        activations=_SILU,
        rope_types=frozenset({"longrope", "su"}),
        ignores=config_quirks.minicpm3_ignores,
    ),
    Architecture(
        "minimax",
        batches=True,
        aliases=("minimax_m2",),
        activations=_SILU,
        rope_types=_UNSCALED,
        default_values={"shared_intermediate_size": 0},
        adapt=config_quirks.adapt_minimax,
    ),
    Architecture(
        "minimax_m3_vl", batches=False, ignored_prefixes=(*_VISION, "patch_merge_mlp."), reads_rope_parameters=True
    ),
    Architecture("minimax_m3_vl_text", batches=False, checked_as_type="minimax_m3_vl", reads_rope_parameters=True),
    Architecture("ministral3", batches=True, activations=_SILU, reads_rope_parameters=True, windows_by_default=True),
    Architecture("mistral", batches=True, definition="mistral", activations=_SILU, windows_by_default=True),
    Architecture(
        "mistral3",
        batches=True,
        definition="seeing.seeing_decoder",
        ignored_prefixes=_VISION,
        sees="pixtral",
        adapt=config_quirks.adapt_seeing_decoder,
        inner_types=_MISTRAL_INSIDE,
    ),
    Architecture("mistral4", batches=True, activations=_SILU, reads_rope_parameters=True),
    Architecture("mixtral", batches=True, definition="mixtral", activations=_SILU, rope_types=_UNSCALED),
    Architecture(
        "modernbert",
        batches=False,
        definition="modernbert",
        activations=_GELU,
        rope_types=_UNSCALED,
        renamed_keys={"rope_theta": "global_rope_theta", "rope_local_base_freq": "local_rope_theta"},
    ),
    Architecture(
        "muse_glimmer",
        batches=False,
        activations=_SILU,
        ignored_prefixes=("vision_tower.", "vision_adapter.", "vision_projection."),
        reads_rope_parameters=True,
        rope_types=_UNSCALED,
    ),
    Architecture("muse_glimmer_text", batches=False, checked_as_type="muse_glimmer"),
    Architecture("muse_spark", batches=False, refused="they need kernels and a prompt format of their own"),
    Architecture("nanbeige", batches=False),
    Architecture("nanochat", batches=False, activations=_RELU2, rope_types=_UNSCALED),
    Architecture("nemotron", batches=True, activations=_RELU2, rope_types=frozenset({"linear"})),
    Architecture("nemotron-nas", batches=False, aliases=("nemotron_nas",)),
    Architecture(
        "nemotron_h",
        batches=True,
        activations=_RELU2,
        ignored_prefixes=("vision_model.", "mlp1.", "sound_encoder.", "sound_projection.", "mtp."),
        supported_values={"mamba_hidden_act": tuple(_SILU)},
    ),
    Architecture(
        "nomic_bert",
        batches=False,
        definition="nomic_bert",
        # The first checkpoints use the key names of GPT-2.
        renamed_keys={
            "hidden_size": "n_embd",
            "intermediate_size": "n_inner",
            "layer_norm_eps": "layer_norm_epsilon",
            "max_position_embeddings": "max_trained_positions",
            "num_attention_heads": "n_head",
            "num_hidden_layers": "n_layer",
            "rope_theta": "rotary_emb_base",
        },
        supported_values={
            "activation_function": ("swiglu",),
            "hidden_act": ("silu",),
            "rotary_emb_fraction": (1,),
            "causal": (False,),
            "parallel_block": (False,),
            "prenorm": (False,),
            "rotary_emb_interleaved": (False,),
            "use_rms_norm": (False,),
        },
    ),
    Architecture(
        "olmo",
        batches=False,
        refused="the definition of the first OLMo needs a library that does not come with Sotto; OLMo 2 and 3 run",
    ),
    Architecture("olmo2", batches=True, activations=_SILU),
    Architecture("olmo3", batches=True, activations=_SILU),
    Architecture("olmo_hybrid", batches=True, activations=_SILU, reads_rope_parameters=True, rope_types=_UNSCALED),
    Architecture("olmoe", batches=True, activations=_SILU, supported_values={"clip_qkv": ()}),
    Architecture("openelm", batches=False),
    Architecture("phi", batches=True, activations=_GELU, rope_types=_UNSCALED),
    Architecture("phi3", batches=True, definition="phi3", activations=_SILU, switches_scaling=True),
    Architecture("phi3small", batches=False),
    Architecture("phimoe", batches=True, activations=_SILU, rope_types=frozenset({"longrope", "su"})),
    Architecture("phixtral", batches=False, aliases=("phi-msft",)),
    Architecture(
        "pixtral",
        batches=True,
        definition="seeing.seeing_decoder",
        ignored_prefixes=_VISION,
        sees="pixtral",
        adapt=config_quirks.adapt_seeing_decoder,
        inner_types=frozenset({"llama", "mistral"}),
    ),
    Architecture(
        "plamo",
        batches=False,
        refused="their definition needs a library that does not come with Sotto; PLaMo 2 and 3 run",
    ),
    Architecture("plamo2", batches=False),
    Architecture("plamo3", batches=False),
    Architecture("prism_hadamard_qwen35", batches=False),
    Architecture("qwen", batches=False),
    Architecture("qwen2", batches=True, activations=_SILU),
    Architecture("qwen2_5_vl_text", batches=False, checked_as_type="qwen2"),
    Architecture(
        "qwen2_moe",
        batches=True,
        activations=_SILU,
        rope_types=_UNSCALED,
        supported_values={"norm_topk_prob": (False,)},
    ),
    Architecture(
        "qwen2_vl",
        batches=True,
        definition="seeing.qwen2_vl",
        aliases=("qwen2_5_vl",),
        sees="patch_merger",
        ignored_prefixes=_QWEN_VISION,
    ),
    Architecture("qwen2_vl_text", batches=False, checked_as_type="qwen2"),
    Architecture("qwen3", batches=True, activations=_SILU),
    Architecture(
        "qwen3_5",
        batches=True,
        definition="seeing.qwen3_5",
        aliases=("qwen3_5_text",),
        activations=_SILU,
        sees="patch_merger",
        ignored_prefixes=_QWEN_VISION,
        prediction=Prediction.NAMED,
        reads_rope_parameters=True,
        pattern_key="full_attention_interval",
    ),
    Architecture(
        "qwen3_5_moe",
        batches=True,
        definition="seeing.qwen3_5_moe",
        aliases=("qwen3_5_moe_text",),
        activations=_SILU,
        sees="patch_merger",
        ignored_prefixes=_QWEN_VISION,
        stacks_experts=False,
        prediction=Prediction.NAMED,
        reads_rope_parameters=True,
        pattern_key="full_attention_interval",
    ),
    Architecture(
        "qwen3_moe",
        batches=True,
        activations=_SILU,
        rope_types=_UNSCALED,
        renamed_keys={"num_experts": "num_local_experts"},
    ),
    Architecture(
        "qwen3_next",
        batches=True,
        definition="qwen3_next",
        activations=_SILU,
        prediction=Prediction.NAMED,
        pattern_key="full_attention_interval",
    ),
    Architecture(
        "qwen3_vl", batches=True, definition="seeing.qwen3_vl", sees="patch_merger", ignored_prefixes=_QWEN_VISION
    ),
    Architecture(
        "qwen3_vl_moe",
        batches=True,
        definition="seeing.qwen3_vl_moe",
        sees="patch_merger",
        ignored_prefixes=_QWEN_VISION,
        adapt=config_quirks.adapt_qwen3_vl_moe,
    ),
    Architecture(
        "qwen3_vl_moe_text",
        batches=False,
        checked_as_type="qwen3_moe",
        renamed_keys={"num_experts": "num_local_experts"},
        default_values={"norm_topk_prob": True},
    ),
    Architecture("qwen3_vl_text", batches=False, checked_as_type="qwen3"),
    Architecture(
        "recurrent_gemma",
        batches=True,
        activations=_GELU,
        rope_types=_UNSCALED,
        supported_values={"partial_rotary_factor": (0.5,), "rope_theta": (10000,)},
    ),
    Architecture("roberta", batches=False, definition="bert", supported_values=_ENCODER),
    Architecture("rwkv7", batches=False),
    Architecture("seed_oss", batches=True, activations=_SILU),
    Architecture("smollm3", batches=True, activations=_SILU),
    Architecture(
        "solar_open",
        batches=True,
        activations=_SILU,
        default_values={"first_k_dense_replace": 0, "partial_rotary_factor": 1.0},
    ),
    Architecture("spark2_5", batches=False, reads_rope_parameters=True),
    Architecture("stablelm", batches=False, activations=_SILU, rope_types=_UNSCALED),
    Architecture("starcoder2", batches=True, definition="starcoder2", rope_types=_UNSCALED),
    Architecture("step3p5", batches=False),
    Architecture("talkie", batches=False),
    Architecture("telechat3", batches=False),
    Architecture("xlm-roberta", batches=False, definition="bert", supported_values=_ENCODER),
    Architecture(
        "youtu_llm",
        batches=True,
        aliases=("youtu",),
        activations=_SILU,
        supported_values={"rope_interleave": (True,)},
    ),
)
"""All known architectures, in alphabetical order."""
_BY_TYPE: Mapping[str, Architecture] = {
    kind: architecture for architecture in ARCHITECTURES for kind in (architecture.name, *architecture.aliases)
}


def architecture(config: Mapping[str, Any]) -> Architecture:
    """Return the architecture that computes a config's model; `UNKNOWN` if there is none."""
    found = _by_type(config)
    if found.refused or found.checked_as_type:
        return UNKNOWN
    return next((_BY_TYPE[found.by_class[name]] for name in _classes(config) if name in found.by_class), found)


def inner_architecture(config: Mapping[str, Any]) -> Architecture:
    """Return the architecture of a `text_config`, including those that never occur alone."""
    found = _by_type(config)
    return found if found.checked_as_type else architecture(config)


def checking_architecture(found: Architecture) -> Architecture:
    """Return the architecture whose checks apply to a model."""
    return _BY_TYPE.get(found.checked_as_type, found)


def refusal_reason(config: Mapping[str, Any]) -> str:
    """Return why the model of a config is refused although it is known; empty if it is not refused or not known."""
    return _by_type(config).refused


def _by_type(config: Mapping[str, Any]) -> Architecture:
    kind = config.get("model_type")
    return _BY_TYPE.get(kind, UNKNOWN) if isinstance(kind, str) else UNKNOWN


def _classes(config: Mapping[str, Any]) -> Iterator[str]:
    names = config.get("architectures")
    return (name for name in names if isinstance(name, str)) if isinstance(names, list) else iter(())
