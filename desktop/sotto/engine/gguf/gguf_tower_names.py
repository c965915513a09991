"""Translation of the names of towers for images between GGUF files and the checkpoints that they were converted from.

The names are those of https://github.com/ggml-org/llama.cpp (gguf-py/gguf/constants.py); files by Ollama's converter
have others for the same (https://github.com/ollama/ollama, `convert/`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PREFIXES = ("v.", "mm.", "model.image_newline")
# For sound, and copies of rows of the language model's embeddings.
_IGNORED = ("mm.a.", "v.token_embd.")

_LAYER = re.compile(r"v\.blk\.(\d+)\.(.+?)\.(weight|bias|(?:in|out)put_(?:min|max))")
_DEEP = re.compile(r"v\.deepstack(?:_merger)?\.(\d+)\.(?:linear_)?(norm|fc1|fc2)\.(weight|bias)")
_ENDING = re.compile(r"(.+)\.(weight|bias|(?:in|out)put_(?:min|max))")
# Ollama's names, and llama.cpp's.
_INNER_ALIASES: Mapping[str, str] = {
    "attn_norm": "ln1",
    "attn_output": "attn_out",
    "ffn_norm": "ln2",
    "layer_norm1": "ln1",
    "layer_norm2": "ln2",
    "mlp.down_proj": "ffn_down",
    "mlp.fc1": "ffn_up",
    "mlp.fc2": "ffn_down",
    "mlp.gate_proj": "ffn_gate",
    "mlp.linear_fc1": "ffn_up",
    "mlp.linear_fc2": "ffn_down",
    "mlp.up_proj": "ffn_up",
    "norm1": "ln1",
    "norm2": "ln2",
}
_OUTER_ALIASES: Mapping[str, str] = {
    "mm.linear_1": "mm.1",
    "mm.linear_2": "mm.2",
    "mm.mm_input_projection": "mm.input_projection",
    "mm.mm_soft_emb_norm": "mm.soft_emb_norm",
    "mm.norm": "mm.input_norm",
    "mm.patch_merger.merging_layer": "mm.patch_merger",
    "v.encoder_norm": "v.pre_ln",
    "v.merger.linear_fc1": "mm.0",
    "v.merger.linear_fc2": "mm.2",
    "v.merger.ln_q": "v.post_ln",
    "v.merger.mlp.0": "mm.0",
    "v.merger.mlp.2": "mm.2",
    "v.merger.norm": "v.post_ln",
    "v.patch_conv": "v.patch_embd",
    "v.patch_embed": "v.patch_embd",
    "v.patch_embedding": "v.patch_embd",
    "v.pos_embed": "v.position_embd",
    "v.position_embedding": "v.position_embd",
    "v.post_layernorm": "v.post_ln",
}


@dataclass(frozen=True, slots=True)
class TowerNames:
    """The names of a kind of tower in the checkpoints of its makers.

    Attributes:
        layers: What is before the number of a layer.
        inner: The part of a name within a layer, by llama.cpp's; without endings.
        outer: The names of other tensors, by llama.cpp's; without endings, and with them where these differ.
        root: What unknown names are put behind.
    """

    layers: str
    inner: Mapping[str, str]
    outer: Mapping[str, str]
    root: str = "vision_tower."
    deep: Mapping[str, str] = field(default_factory=dict)


_SIGLIP_INNER = {
    "attn_k": "self_attn.k_proj",
    "attn_out": "self_attn.out_proj",
    "attn_q": "self_attn.q_proj",
    "attn_v": "self_attn.v_proj",
    "ffn_down": "mlp.fc2",
    "ffn_up": "mlp.fc1",
    "ln1": "layer_norm1",
    "ln2": "layer_norm2",
}


def _siglip(prefix: str, outer: Mapping[str, str]) -> TowerNames:
    """Return the names of CLIP or SigLIP behind a prefix, with those of the projector."""
    return TowerNames(
        f"{prefix}encoder.layers.",
        _SIGLIP_INNER,
        {
            "v.class_embd": f"{prefix}embeddings.class_embedding",
            "v.patch_embd": f"{prefix}embeddings.patch_embedding",
            "v.position_embd": f"{prefix}embeddings.position_embedding",
            "v.post_ln": f"{prefix}post_layernorm",
            "v.pre_ln": f"{prefix}pre_layrnorm",
            **outer,
        },
        prefix,
    )


_VISION, _PROJECTOR = "vision_tower.vision_model.", "multi_modal_projector."
_LLAVA = {
    "mm.0": f"{_PROJECTOR}linear_1",
    "mm.2": f"{_PROJECTOR}linear_2",
    "model.image_newline": "image_newline",
    "v.image_newline": "image_newline",
}
_PIXTRAL = TowerNames(
    "vision_tower.transformer.layers.",
    {
        "attn_k": "attention.k_proj",
        "attn_out": "attention.o_proj",
        "attn_q": "attention.q_proj",
        "attn_v": "attention.v_proj",
        "ffn_down": "feed_forward.down_proj",
        "ffn_gate": "feed_forward.gate_proj",
        "ffn_up": "feed_forward.up_proj",
        "ln1": "attention_norm",
        "ln2": "ffn_norm",
    },
    {
        "mm.1": f"{_PROJECTOR}linear_1",
        "mm.2": f"{_PROJECTOR}linear_2",
        "mm.input_norm": f"{_PROJECTOR}norm",
        "mm.patch_merger": f"{_PROJECTOR}patch_merger.merging_layer",
        "v.patch_embd": "vision_tower.patch_conv",
        "v.pre_ln": "vision_tower.ln_pre",
    },
)
_GATED = {"ffn_down": "mlp.down_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj"}
_VISUAL_INNER = {"attn_out": "attn.proj", "attn_qkv": "attn.qkv", "ln1": "norm1", "ln2": "norm2"}
_QWEN25 = TowerNames(
    "visual.blocks.",
    {**_VISUAL_INNER, **_GATED},
    {
        "mm.0": "visual.merger.mlp.0",
        "mm.2": "visual.merger.mlp.2",
        "v.patch_embd": "visual.patch_embed.proj",
        "v.post_ln": "visual.merger.ln_q",
    },
    "visual.",
)
_QWEN3 = TowerNames(
    "visual.blocks.",
    {**_VISUAL_INNER, "ffn_down": "mlp.linear_fc2", "ffn_up": "mlp.linear_fc1"},
    {
        "mm.0": "visual.merger.linear_fc1",
        "mm.2": "visual.merger.linear_fc2",
        "v.patch_embd": "visual.patch_embed.proj",
        "v.position_embd": "visual.pos_embed",
        "v.post_ln": "visual.merger.norm",
    },
    "visual.",
    {"fc1": "linear_fc1", "fc2": "linear_fc2", "norm": "norm"},
)
_QWEN2 = TowerNames(
    "visual.blocks.", {**_VISUAL_INNER, "ffn_down": "mlp.fc2", "ffn_up": "mlp.fc1"}, _QWEN25.outer, "visual."
)
_GLM = TowerNames(
    "visual.blocks.",
    {**_VISUAL_INNER, **_GATED, "attn_k_norm": "attn.k_norm", "attn_q_norm": "attn.q_norm"},
    {
        "mm.down": "visual.merger.down_proj",
        "mm.gate": "visual.merger.gate_proj",
        "mm.model.fc": "visual.merger.proj",
        "mm.patch_merger": "visual.downsample",
        "mm.post_norm": "visual.merger.post_projection_norm",
        "mm.up": "visual.merger.up_proj",
        "v.patch_embd": "visual.patch_embed.proj",
        "v.post_ln": "visual.post_layernorm",
    },
    "visual.",
)
_GEMMA4 = TowerNames(
    "vision_tower.encoder.layers.",
    {
        "attn_k": "self_attn.k_proj.linear",
        "attn_k_norm": "self_attn.k_norm",
        "attn_out": "self_attn.o_proj.linear",
        "attn_post_norm": "post_attention_layernorm",
        "attn_q": "self_attn.q_proj.linear",
        "attn_q_norm": "self_attn.q_norm",
        "attn_v": "self_attn.v_proj.linear",
        "ffn_down": "mlp.down_proj.linear",
        "ffn_gate": "mlp.gate_proj.linear",
        "ffn_post_norm": "post_feedforward_layernorm",
        "ffn_up": "mlp.up_proj.linear",
        "ln1": "input_layernorm",
        "ln2": "pre_feedforward_layernorm",
    },
    {
        "mm.input_projection": "embed_vision.embedding_projection",
        "v.patch_embd": "vision_tower.patch_embedder.input_proj",
        "v.position_embd.weight": "vision_tower.patch_embedder.position_embedding_table",
        "v.std_bias": "vision_tower.std_bias",
        "v.std_scale": "vision_tower.std_scale",
    },
)
_GEMMA3 = _siglip(
    _VISION,
    {
        "mm.input_projection.weight": f"{_PROJECTOR}mm_input_projection_weight",
        "mm.soft_emb_norm": f"{_PROJECTOR}mm_soft_emb_norm",
    },
)
_LFM2 = _siglip(
    _VISION,
    {
        "mm.1": f"{_PROJECTOR}linear_1",
        "mm.2": f"{_PROJECTOR}linear_2",
        "mm.input_norm": f"{_PROJECTOR}layer_norm",
    },
)
_KINDS: Mapping[str, TowerNames] = {
    "gemma3": _GEMMA3,
    "gemma4": _GEMMA4,
    "glm_ocr": _GLM,
    "idefics3": _siglip("vision_model.", {"mm.model.fc": "connector.modality_projection.proj"}),
    "lfm2_vl": _LFM2,
    "llava": _siglip(_VISION, _LLAVA),
    "llava_next": _siglip(_VISION, _LLAVA),
    "mistral3": _PIXTRAL,
    "qwen2_5_vl": _QWEN25,
    "qwen2_vl": _QWEN2,
    "qwen3_5": _QWEN3,
    "qwen3_5_moe": _QWEN3,
    "qwen3_vl": _QWEN3,
    "qwen3_vl_moe": _QWEN3,
}


def names_of(config: Mapping[str, Any]) -> TowerNames | None:
    """Return the names of the tower that a config describes; None if it describes none."""
    vision = config.get("vision_config")
    if not isinstance(vision, Mapping):
        return None
    return _PIXTRAL if vision.get("model_type") == "pixtral" else _KINDS.get(str(config.get("model_type")))


def canonical(name: str) -> str:
    """Return llama.cpp's name of a tensor, which may have Ollama's."""
    if match := _LAYER.fullmatch(name):
        layer, inner, ending = match.groups()
        return f"v.blk.{layer}.{_INNER_ALIASES.get(inner, inner)}.{ending}"
    if match := _ENDING.fullmatch(name):
        stem, ending = match.groups()
        return f"{_OUTER_ALIASES.get(stem, stem)}.{ending}"
    return name


def name_in_checkpoint(name: str, names: TowerNames, deep: list[int]) -> str | None:
    """Return a tensor's name in the makers' checkpoint; None if it is not needed.

    Args:
        name: llama.cpp's name, as `canonical` returns it.
        names: The names of its kind of tower.
        deep: The layers whose states are added to the language model's, in order.
    """
    if name.startswith(_IGNORED):
        return None
    if match := _LAYER.fullmatch(name):
        layer, inner, ending = match.groups()
        known = names.inner.get(inner, inner)
        if ending not in ("weight", "bias"):
            known = known.removesuffix(".linear")
        return f"{names.layers}{layer}.{known}.{ending}"
    if match := _DEEP.fullmatch(name):
        number, part, ending = int(match[1]), match[2], match[3]
        # llama.cpp counts layers of the tower, makers and Ollama their mergers.
        index = deep.index(number) if number in deep and "merger" not in name else number
        return f"{names.root}deepstack_merger_list.{index}.{names.deep.get(part, part)}.{ending}"
    if name in names.outer:
        return names.outer[name]
    match = _ENDING.fullmatch(name)
    if match and match[1] in names.outer:
        return f"{names.outer[match[1]]}.{match[2]}"
    return names.root + name
