"""Converting what GGUF files say of towers for images to the `config.json` of a model, and that of its preprocessor.

A projector says it in keys that begin with `clip.vision.`, a file with model and tower in keys that begin with the
architecture and `.vision.`. The keys and their defaults are defined by llama.cpp (`conversion/`, `tools/mtmd/clip.cpp`)
and by Ollama's converter (`convert/`); what neither states is as makers have it. See `tower_kinds`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.gguf.metadata_values import Values
from sotto.store.gguf.tower_kinds import tower_kind, vision_refusal
from sotto.store.printable import printable_path

Config = dict[str, Any]

_CHANNELS = 3
_MOST_PINPOINTS = 256


@dataclass(frozen=True, slots=True)
class Sight:
    """What the files of a model that sees say.

    Attributes:
        config: The contents of `config.json`.
        preprocessor: The contents of `preprocessor_config.json`; None if it sees nothing.
    """

    config: Config
    preprocessor: Config | None = None


def sight_of(model: Values, text: Config, projector: Values | None) -> Sight:
    """Return what the files of a model say of images; the config is that of its language model if it sees nothing.

    Args:
        model: The values of the model.
        text: The config of its language model.
        projector: The values of its projector; None if it has none in a file of its own.

    Raises:
        BrokenModelError: A key is missing or invalid.
    """
    tower = projector or model
    kind = tower_kind(tower.architecture, tower.file.values)
    if not kind or vision_refusal(model.architecture, kind):
        return Sight(text)
    if (found := _BUILDERS[kind](_Parts(model, text, tower))) is None:
        return Sight(text)
    # Whoever asks for the language model finds it where all models that see have it.
    config = {"tie_word_embeddings": text.get("tie_word_embeddings", True), **found.config, "text_config": text}
    return Sight(config | {"text_config": text | found.config.get("text_config", {})}, found.preprocessor)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The values of a model, the config of its language model, and the values of its tower."""

    model: Values
    text: Config
    tower: Values

    def encoder(self, *, epsilon: float = 1e-6) -> Config:
        """Return the keys that all encoders have."""
        tower = self.tower
        layers = tower.integer(".vision.block_count")
        there = {name.split(".", 3)[2] for name in tower.file.tensors if name.startswith("v.blk.")}
        if layers > len(there):
            raise tower.error(".vision.block_count", f"at most {len(there)}, as there are tensors for")
        return {
            "hidden_size": tower.integer(".vision.embedding_length"),
            "intermediate_size": self.inner(),
            "num_hidden_layers": layers,
            "num_attention_heads": tower.integer(".vision.attention.head_count"),
            "patch_size": tower.integer(".vision.patch_size"),
            "layer_norm_eps": tower.number(".vision.attention.layer_norm_epsilon", epsilon),
        }

    def inner(self) -> int:
        """Return the width within a feed-forward part, which some files do not state, and others state wrongly."""
        names = (f"v.blk.0.{part}.weight" for part in ("ffn_up", "mlp.fc1", "mlp.linear_fc1", "mlp.up_proj"))
        found = next((name for name in names if self.has(name)), "v.blk.0.ffn_up.weight")
        # The first converter called the layers the other way round, so that the width may be on either side.
        sides = self.tower.dimension(found, 0), self.tower.dimension(found, 1)
        return math.prod(sides) // self.tower.integer(".vision.embedding_length")

    def has(self, tensor: str) -> bool:
        """Return whether the tower has a tensor."""
        return tensor in self.tower.file.tensors

    def normalization(self) -> Config:
        """Return how pixels are scaled, as far as the file says."""
        return {
            name: [float(f"{number:.7g}") for number in numbers]
            for name in ("image_mean", "image_std")
            if (numbers := self._numbers(f".vision.{name}"))
        }

    def _numbers(self, key: str) -> list[float]:
        numbers = self.tower.array(key, (int, float), "three numbers")
        if numbers and len(numbers) != _CHANNELS:
            raise self.tower.error(key, "three numbers")
        return list(numbers)

    def pairs(self, key: str) -> list[list[int]]:
        """Return a list of pairs that is stored as a flat one."""
        flat = self.tower.array(key, int, "pairs of whole numbers")
        if len(flat) % 2 or len(flat) > 2 * _MOST_PINPOINTS:
            raise self.tower.error(key, f"up to {_MOST_PINPOINTS} pairs of whole numbers")
        return [list(flat[at : at + 2]) for at in range(0, len(flat), 2)]

    def side(self, tensor: str) -> int:
        """Return how many rows a table of positions has, one for each place."""
        info = self.tower.file.tensors.get(tensor)
        if info is None or len(info.shape) < 2:
            raise BrokenModelError(f"{printable_path(self.tower.file.path)} has no tensor {tensor} of two dimensions.")
        return info.shape[-2]

    def positions(self) -> Config:
        """Return the language model's positions on three axes, as far as the file says."""
        key = next((key for key in (".rope.dimension_sections", ".rope.mrope_section") if self.model.has(key)), "")
        if not key:
            return {}
        sections = self.model.array(key, int, "whole numbers")
        if not 3 <= len(sections) <= 4 or any(not 0 <= section < 1 << 16 for section in sections):
            raise self.model.error(key, "three whole numbers")
        stated = self.text.get("rope_parameters") or {"rope_type": "default", "rope_theta": self.text["rope_theta"]}
        return {"rope_parameters": {**stated, "mrope_section": list(sections[:3])}}


def _gemma3(parts: _Parts) -> Sight:
    vision = parts.encoder() | {"model_type": "siglip_vision_model", "image_size": _image_size(parts)}
    side = vision["image_size"] // vision["patch_size"] // parts.tower.integer(".vision.projector.scale_factor", 4)
    tokens = parts.tower.integer(".mm.tokens_per_image", side * side)
    return Sight(
        {"model_type": "gemma3", "vision_config": vision, "mm_tokens_per_image": tokens}, parts.normalization()
    )


def _gemma4(parts: _Parts) -> Sight:
    encoder = parts.encoder()
    heads = encoder["num_attention_heads"]
    width = parts.tower.dimension("v.blk.0.attn_q.weight", 0) // heads
    vision = encoder | {
        "model_type": "gemma4_vision",
        "rms_norm_eps": encoder.pop("layer_norm_eps"),
        "head_dim": width,
        "num_key_value_heads": parts.tower.dimension("v.blk.0.attn_k.weight", 0) // max(width, 1),
        "pooling_kernel_size": parts.tower.integer(".vision.projector.scale_factor", 3),
        "position_embedding_size": parts.side("v.position_embd.weight"),
        "use_clipped_linears": parts.has("v.blk.0.attn_q.input_max"),
        "standardize": parts.has("v.std_bias"),
    }
    return Sight({"model_type": "gemma4", "vision_config": vision}, {})


def _idefics3(parts: _Parts) -> Sight:
    size = _image_size(parts)
    vision = parts.encoder() | {"model_type": "idefics3_vision", "image_size": size}
    longest = parts.tower.integer(".vision.preproc_image_size", 4 * size)
    return Sight(
        {
            "model_type": "idefics3",
            "vision_config": vision,
            "scale_factor": parts.tower.integer(".vision.projector.scale_factor", 2),
        },
        parts.normalization() | {"size": {"longest_edge": longest}, "max_image_size": {"longest_edge": size}},
    )


def _llava(parts: _Parts) -> Sight:
    size = _image_size(parts)
    is_clip = parts.has("v.class_embd")
    layers = parts.tower.array(".vision.feature_layer", int, "whole numbers")
    config = {
        "model_type": "llava",
        "vision_config": parts.encoder(epsilon=1e-5)
        | {
            "model_type": "clip_vision_model" if is_clip else "siglip_vision_model",
            "hidden_act": _activation(parts, is_clip=is_clip),
            "image_size": size,
        },
        # The layer after the one whose states are taken is not counted.
        "vision_feature_layer": list(layers) or -1,
        "vision_feature_select_strategy": "default" if is_clip else "full",
        "multimodal_projector_bias": parts.has("mm.0.bias"),
    }
    square = {"height": size, "width": size}
    preprocessor = parts.normalization() | {"size": {"shortest_edge": size}, "crop_size": square}
    has_newline = parts.has("v.image_newline") or parts.has("model.image_newline")
    if has_newline and parts.tower.string(".vision.mm_patch_merge_type", "flat") == "spatial_unpad":
        config |= {"model_type": "llava_next"}
        if pinpoints := parts.pairs(".vision.image_grid_pinpoints"):
            config["image_grid_pinpoints"] = pinpoints
            preprocessor["image_grid_pinpoints"] = pinpoints
    else:
        # As its makers trained it; the margins are of the mean colour.
        preprocessor["do_pad"] = True
    return Sight(config, preprocessor)


def _activation(parts: _Parts, *, is_clip: bool) -> str:
    if not is_clip:
        return "gelu_pytorch_tanh"
    return "gelu" if parts.tower.boolean("clip.use_gelu", default=False) else "quick_gelu"


def _lfm2(parts: _Parts) -> Sight:
    factor = parts.tower.integer(".vision.projector.scale_factor", 2)
    vision = parts.encoder() | {
        "model_type": "siglip2_vision_model",
        "num_patches": parts.side("v.position_embd.weight"),
    }
    return Sight(
        {
            "model_type": "lfm2_vl",
            "vision_config": vision,
            "downsample_factor": factor,
            "projector_hidden_size": parts.tower.dimension("mm.1.weight", 0),
            "projector_bias": parts.has("mm.1.bias"),
            "projector_use_layernorm": parts.has("mm.input_norm.weight"),
        },
        parts.normalization(),
    )


def _pixtral(parts: _Parts) -> Sight:
    encoder = parts.encoder(epsilon=1e-5)
    heads = encoder["num_attention_heads"]
    vision = encoder | {
        "model_type": "pixtral",
        "head_dim": parts.tower.integer(".vision.attention.key_length", encoder["hidden_size"] // heads),
        "hidden_act": "gelu" if parts.tower.boolean("clip.use_gelu", default=False) else "silu",
        "image_size": _image_size(parts),
        "rope_theta": parts.tower.number(".vision.rope.freq_base", 10000.0),
    }
    merges = parts.has("mm.patch_merger.weight") or parts.has("mm.patch_merger.merging_layer.weight")
    # Ollama's converter has no `vision` in this key.
    merge = parts.tower.integer(".spatial_merge_size", parts.tower.integer(".vision.spatial_merge_size", 2))
    config: Config = {
        "model_type": "mistral3" if merges else "llava",
        "vision_config": vision,
        "vision_feature_layer": -1,
        "vision_feature_select_strategy": "full",
        "multimodal_projector_bias": parts.has("mm.1.bias") or parts.has("mm.linear_1.bias"),
    }
    if merges:
        config["spatial_merge_size"] = merge
    patch = vision["patch_size"]
    preprocessor = parts.normalization() | {
        "size": {"longest_edge": vision["image_size"]},
        "patch_size": {"height": patch, "width": patch},
    }
    return Sight(config, preprocessor)


def _qwen2(parts: _Parts) -> Sight:
    encoder = parts.encoder()
    patches = _patches(parts, encoder)
    width, inner = patches.pop("hidden_size"), patches.pop("intermediate_size")
    vision = patches | {
        "model_type": "qwen2_vl",
        "embed_dim": width,
        "hidden_size": parts.text["hidden_size"],
        "mlp_ratio": inner // width,
        "hidden_act": "quick_gelu",
    }
    return Sight(
        {"model_type": "qwen2_vl", "vision_config": vision, "text_config": parts.positions()}, parts.normalization()
    )


def _qwen25(parts: _Parts) -> Sight:
    encoder = parts.encoder()
    layers, tower = encoder["num_hidden_layers"], parts.tower
    whole = list(tower.array(".vision.fullatt_block_indexes", int, "whole numbers"))
    if not whole:
        period = tower.integer(".vision.n_wa_pattern", 8)
        whole = list(range(period - 1, layers, period))
    vision = _patches(parts, encoder) | {
        "model_type": "qwen2_5_vl",
        "hidden_act": "silu",
        "out_hidden_size": parts.text["hidden_size"],
        "window_size": tower.integer(".vision.window_size", 112),
        "fullatt_block_indexes": whole,
    }
    return Sight(
        {"model_type": "qwen2_5_vl", "vision_config": vision, "text_config": parts.positions()}, parts.normalization()
    )


def _qwen3(parts: _Parts) -> Sight:
    tower, encoder = parts.tower, parts.encoder()
    deep = list(tower.array(".vision.deepstack_visual_indexes", int, "whole numbers"))
    flags = tower.array(".vision.is_deepstack_layers", bool, "true or false for each layer")
    deep = deep or [layer for layer, is_deep in enumerate(flags) if is_deep]
    table = next((name for name in ("v.pos_embed.weight", "v.position_embd.weight") if parts.has(name)), "")
    kind = parts.text["model_type"].removesuffix("_text")
    kind = {"qwen3": "qwen3_vl", "qwen3_moe": "qwen3_vl_moe"}.get(kind, kind)
    vision = _patches(parts, encoder) | {
        "model_type": kind,
        "hidden_act": "gelu_pytorch_tanh",
        "out_hidden_size": parts.text["hidden_size"],
        "num_position_embeddings": parts.side(table or "v.position_embd.weight"),
        "deepstack_visual_indexes": deep,
    }
    edges = {name: tower.integer(f".vision.{name}", 0, 0) for name in ("shortest_edge", "longest_edge")}
    size = {"size": edges} if all(edges.values()) else {}
    return Sight(
        {"model_type": kind, "vision_config": vision, "text_config": parts.positions()}, parts.normalization() | size
    )


def _glm_ocr(parts: _Parts) -> Sight | None:
    if not parts.has("v.blk.0.attn_q_norm.weight"):
        # GLM-4.1V has the same kind of projector, and another tower.
        return None
    encoder = parts.encoder(epsilon=1e-5)
    vision = _patches(parts, encoder) | {
        "model_type": "glm_ocr_vision",
        "hidden_act": "silu",
        "rms_norm_eps": encoder["layer_norm_eps"],
        "out_hidden_size": parts.tower.dimension("mm.model.fc.weight", 0),
        "attention_bias": parts.has("v.blk.0.attn_qkv.bias"),
        "image_size": _image_size(parts),
    }
    return Sight(
        {"model_type": "glm_ocr", "vision_config": vision, "text_config": parts.positions()}, parts.normalization()
    )


def _patches(parts: _Parts, encoder: Config) -> Config:
    """Return an encoder's config with the names that families with merged patches have."""
    return {
        "hidden_size": encoder["hidden_size"],
        "intermediate_size": encoder["intermediate_size"],
        "depth": encoder["num_hidden_layers"],
        "num_heads": encoder["num_attention_heads"],
        "patch_size": encoder["patch_size"],
        "in_channels": _CHANNELS,
        "temporal_patch_size": parts.tower.integer(".vision.temporal_patch_size", 2),
        "spatial_merge_size": parts.tower.integer(".vision.spatial_merge_size", 2),
    }


def _image_size(parts: _Parts) -> int:
    return parts.tower.integer(".vision.image_size")


_BUILDERS: Mapping[str, Callable[[_Parts], Sight | None]] = {
    "gemma3": _gemma3,
    "gemma4v": _gemma4,
    "glm4v": _glm_ocr,
    "idefics3": _idefics3,
    "lfm2": _lfm2,
    "mlp": _llava,
    "pixtral": _pixtral,
    "qwen2.5vl_merger": _qwen25,
    "qwen2vl_merger": _qwen2,
    "qwen3vl_merger": _qwen3,
}
