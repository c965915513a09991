"""Which type each tensor of a model is quantized to: Ollama's rules, with those that differ for some architectures.

`model_store.md` of Ollama's importer has no public specification; the rules are those of its code
(https://github.com/ollama/ollama, x/create). Projectors keep their types, though, as the towers before them do: they
are small, and all that a model sees comes through them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sotto.store.facts import is_of_tower
from sotto.store.importing.quant_types import FLOATS, QUANT_TYPES
from sotto.store.importing.recipes import SOURCE, Recipe

_LEAST_ELEMENTS = 1024
_NEVER = ("embed", "norm", "ln_", "layernorm", "audio_tower", "embed_audio")
_GATES = (".mlp.gate.weight", ".mixer.gate.weight", ".shared_expert_gate.weight", ".router.proj.weight")
_EXPERTS = (".experts.", ".mlp.switch_mlp.", ".mlp.shared_experts.", ".mixer.shared_experts.")
_COMPANIONS = (".bias", ".scale", ".qbias")
_SENSITIVE = (".v_proj", ".k_proj", "down_proj")
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")
# The number of layers of a Laguna that does not state it.
_LAGUNA_LAYERS = 40
_FOUR_BITS = frozenset({"int4", "mxfp4", "nvfp4"})


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor whose type is chosen, and the model that it belongs to."""

    name: str
    shape: tuple[int, ...]
    config: Mapping[str, Any]
    wanted: str

    @property
    def is_expert(self) -> bool:
        return any(part in self.name for part in _EXPERTS) and not self.name.endswith(_COMPANIONS)

    @property
    def is_tower(self) -> bool:
        return is_of_tower(self.name) or self.is_any("vision", "visual")

    @property
    def eight(self) -> str:
        """The 8-bit type of the family."""
        return QUANT_TYPES[self.wanted].eight

    def first(self, *kinds: str) -> str:
        """Return the first of some types that rows of this length can have; empty for none."""
        return next((kind for kind in kinds if not self.shape[-1] % QUANT_TYPES[kind].group), "")

    def is_any(self, *parts: str) -> bool:
        return any(part in self.name for part in parts)

    @property
    def layer(self) -> int:
        """The number of its layer; -1 outside of the layers."""
        match = _LAYER.search(self.name)
        return int(match[1]) if match else -1

    @property
    def takes_more(self) -> bool:
        """Whether it is in one of the layers that get more bits."""
        return self.layer >= 0 and takes_more(self.layer, layer_count(self.config))


def takes_more(layer: int, count: int) -> bool:
    """Return whether a layer is one of those that get more bits: the first and last eighth, every third between."""
    return layer < count // 8 or layer >= 7 * count // 8 or (layer - count // 8) % 3 == 2


def layer_count(config: Mapping[str, Any]) -> int:
    """Return the number of layers that a configuration states."""
    inner = config.get("text_config")
    for part in (inner if isinstance(inner, Mapping) else {}, config):
        if isinstance(count := part.get("num_hidden_layers"), int):
            return count
    return 0


def type_of(name: str, dtype: str, shape: tuple[int, ...], recipe: Recipe, config: Mapping[str, Any]) -> str:
    """Return the type that a tensor is quantized to; empty if it keeps its own.

    Args:
        name: The name of the tensor.
        dtype: Its type in the source.
        shape: Its shape.
        recipe: What was asked for.
        config: The contents of `config.json`.
    """
    if dtype not in FLOATS or not shape:
        return ""
    tensor = _Tensor(name, shape, config, recipe.low)
    if (exception := recipe.exception(name)) is not None:
        return "" if exception == SOURCE or len(shape) < 2 else tensor.first(exception)
    if recipe.high:
        return _mixed(tensor, recipe)
    rule = next((rule for part, rule in _RULES.items() if part in _kind(config)), _default)
    return rule(tensor)


def _kind(config: Mapping[str, Any]) -> str:
    """Return what tells architectures apart."""
    names = config.get("architectures")
    texts = [*(names if isinstance(names, list) else ()), config.get("model_type")]
    return " ".join(text.lower().replace("_", "") for text in texts if isinstance(text, str))


def _default(tensor: _Tensor) -> str:
    """Return the type by the rules for most architectures."""
    wanted = tensor.wanted
    if not _may_be_quantized(tensor):
        return ""
    if tensor.name.endswith("lm_head.weight"):
        return tensor.first(tensor.eight)
    if tensor.is_tower:
        return ""
    if tensor.is_any(*_SENSITIVE) and (wanted == "int4" or (wanted in _FOUR_BITS and not tensor.is_expert)):
        return tensor.first(tensor.eight, wanted)
    return tensor.first(wanted)


def _may_be_quantized(tensor: _Tensor) -> bool:
    if not tensor.is_expert and (not tensor.name.endswith(".weight") or tensor.is_any(*_NEVER)):
        return False
    ranks = (2, 3) if tensor.is_expert else (2,)
    elements = 1
    for size in tensor.shape:
        elements *= size
    return len(tensor.shape) in ranks and elements >= _LEAST_ELEMENTS and not tensor.name.endswith(_GATES)


def _mixed(tensor: _Tensor, recipe: Recipe) -> str:
    """Return the type in a mixed recipe: that of mlx-lm, except that routers and vision keep their own."""
    is_embedding = "embed" in tensor.name and tensor.name.endswith(".weight") and len(tensor.shape) == 2
    plain = _may_be_quantized(tensor) and not tensor.is_tower
    if not plain and not (is_embedding and not tensor.is_any("norm", "audio") and not tensor.is_tower):
        return ""
    high = is_embedding and recipe.embeddings
    high = high or "lm_head" in tensor.name
    high = high or (tensor.is_any("v_proj", "v_a_proj", "v_b_proj", "down_proj") and tensor.takes_more)
    return tensor.first(recipe.high if high else recipe.low)


def _gemma4(tensor: _Tensor) -> str:
    if tensor.name.endswith("embed_tokens.weight") and "per_layer" not in tensor.name:
        return tensor.first(tensor.eight, tensor.wanted)
    inner = tensor.config.get("text_config")
    experts = (inner if isinstance(inner, Mapping) else tensor.config).get("num_experts")
    if tensor.wanted in _FOUR_BITS and _default(tensor) and tensor.is_any(*_SENSITIVE):
        high = tensor.takes_more and tensor.is_any(".v_proj", "down_proj")
        if experts == 8 and tensor.is_any(".v_proj"):
            high = True
        if experts == 8 and tensor.is_any(".k_proj"):
            high = tensor.takes_more
        return tensor.first(tensor.eight, tensor.wanted) if high else tensor.first(tensor.wanted)
    return _default(tensor)


def _qwen35(tensor: _Tensor) -> str:
    names = ("in_proj_a", "in_proj_b", "in_proj_ba")
    return "" if tensor.is_any(*(f"linear_attn.{name}.weight" for name in names)) else _default(tensor)


def _cohere2_moe(tensor: _Tensor) -> str:
    if tensor.name.endswith("embed_tokens.weight") and len(tensor.shape) == 2:
        return tensor.first(tensor.eight)
    if tensor.wanted in _FOUR_BITS and _default(tensor) and tensor.is_any(*_SENSITIVE):
        return tensor.first(tensor.eight if tensor.takes_more else tensor.wanted)
    return _default(tensor)


def _glimmer(tensor: _Tensor) -> str:
    if tensor.is_any("vision"):
        return ""
    if tensor.name.endswith("embed_tokens.weight"):
        return tensor.first(tensor.eight, tensor.wanted)
    if tensor.wanted in _FOUR_BITS and _default(tensor):
        if tensor.is_any(*(f"self_attn.{name}_proj" for name in "qkvo")):
            return tensor.first(tensor.eight)
        if tensor.is_any("gate_proj", "output_gate_proj", "mlp.down_proj") and tensor.takes_more:
            return tensor.first(tensor.eight, tensor.wanted)
    return _default(tensor)


def _nemotron_h(tensor: _Tensor) -> str:
    kept = (
        "vision_model.",
        "mlp1.",
        "sound_encoder.",
        "sound_projection.",
        ".mixer.gate.weight",
        ".mixer.conv1d.weight",
    )
    if tensor.is_any(*kept):
        return ""
    if tensor.name.endswith(("embeddings.weight", "lm_head.weight")):
        return tensor.first(tensor.eight)
    if tensor.wanted in ("nvfp4", "mxfp4") and _default(tensor):
        if tensor.is_any(*(f".mixer.{name}_proj" for name in "qkvo")):
            return tensor.first("mxfp8")
        is_down = tensor.is_any(".mixer.out_proj", ".mixer.down_proj") or (
            tensor.is_expert and "down_proj" in tensor.name
        )
        if is_down and tensor.takes_more:
            return tensor.first("mxfp8", tensor.wanted)
    return _default(tensor)


def _laguna(tensor: _Tensor) -> str:
    """Return the type in a model of Laguna, whose rules are for floating-point types only."""
    if tensor.wanted.startswith("int"):
        return _default(tensor)
    if tensor.name.endswith(("embed_tokens.weight", "lm_head.weight")):
        return tensor.first("mxfp8")
    if not _may_be_quantized(tensor):
        return ""
    eight = tensor.wanted == "mxfp8"
    layer, count = tensor.layer, layer_count(tensor.config) or _LAGUNA_LAYERS
    # As elsewhere, but the middle ends earlier.
    middle = count // 8 <= layer < count // 2 - 4 and (layer - count // 8) % 3 == 2
    often = layer < count // 8 or layer >= 7 * count // 8 or middle
    if tensor.is_any("shared_expert"):
        if tensor.is_any("down_proj"):
            return tensor.first("mxfp8") if often and not eight else ""
        return tensor.first(tensor.wanted) if tensor.is_any("gate_proj", "up_proj") else ""
    if tensor.is_any(".experts.", ".switch_mlp."):
        return "" if eight and often and "down_proj" in tensor.name else tensor.first(tensor.wanted)
    if tensor.is_any(*(f"self_attn.{name}_proj" for name in "qkvog")):
        return "" if eight else tensor.first(tensor.wanted)
    return tensor.first(tensor.wanted) if ".mlp." in tensor.name and layer in _dense_layers(tensor.config) else ""


def _dense_layers(config: Mapping[str, Any]) -> set[int]:
    """Return the layers without experts."""
    types, only = config.get("mlp_layer_types"), config.get("mlp_only_layers")
    if isinstance(types, list):
        return {number for number, kind in enumerate(types) if kind == "dense"}
    return {number for number in only if isinstance(number, int)} if isinstance(only, list) else {0}


# By a part of the architecture's name, in lower case and without underscores.
_RULES: Mapping[str, Callable[[_Tensor], str]] = {
    "gemma4": _gemma4,
    "qwen35": _qwen35,
    "qwen3next": _qwen35,
    "cohere2moe": _cohere2_moe,
    "laguna": _laguna,
    "museglimmer": _glimmer,
    "nemotronh": _nemotron_h,
}
