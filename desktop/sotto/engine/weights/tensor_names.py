"""Converts names and shapes of tensors in files to those that model definitions expect.

The definitions rename and rearrange plain weights themselves (`sanitize`). What they do not handle is done here first:
Ollama's names for scales, experts that are already stacked, and quantized experts that are fused or stored one by one.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.config.architecture_table import architecture
from sotto.engine.config.quantization import Declaration
from sotto.engine.config.tower_names import is_of_tower
from sotto.errors import BrokenModelError

_COMPANION_SUFFIXES = {".scale": ".scales", ".bias": ".biases", ".global_scale": ".global_scale"}
_EXPERT = re.compile(
    r"(?P<owner>.*\blayers\.\d+\.(?:.+\.)?)experts\.(?:(?P<index>\d+)\.)?(?P<projection>\w+?_proj|w[123])"
    r"(?:\.(?P<part>weight|scales|biases|global_scale|bias))?"
)
_LAYER = re.compile(r".*?\blayers\.\d+\.")
# Alternative names for the same thing in checkpoints and definitions.
_CONTAINERS = ("experts", "switch_mlp", "experts.switch_glu")
_PROJECTIONS: Mapping[str, tuple[str, ...]] = {
    "w1": ("gate_proj",),
    "w2": ("down_proj",),
    "w3": ("up_proj",),
    "up_proj": ("up_proj", "fc1"),
    "down_proj": ("down_proj", "fc2"),
}


def is_wanted(config: Mapping[str, Any], draft_prefix: str) -> Callable[[str], bool]:
    """Return a function that tells by name whether a tensor belongs to the language model.

    The others belong to a draft model or to a vision or audio tower.

    Args:
        config: The contents of `config.json`.
        draft_prefix: How the names of a draft model's tensors begin; empty if there is none.
    """
    aside = architecture(config).ignored_prefixes
    unwanted = (*aside, *(f"model.{prefix}" for prefix in aside), *((draft_prefix,) if draft_prefix else ()))
    of_tower = is_of_tower(config)
    return lambda name: not name.startswith(unwanted) and not of_tower(name)


def rename_companions(names: Iterable[str]) -> dict[str, str]:
    """Return MLX's names for the names of Ollama that differ from them.

    Only the complete list distinguishes the `.bias` of a quantized tensor from that of a layer: a tensor `X` is
    quantized if and only if there is an `X.scale`, and then `X.bias` belongs to the scales.
    """
    present = set(names)
    renamed = {}
    for tensor in present:
        if f"{tensor}.scale" not in present:
            continue
        layer = tensor.removesuffix(".weight")
        if layer == tensor:
            renamed[tensor] = f"{layer}.weight"
        for old, new in _COMPANION_SUFFIXES.items():
            if tensor + old in present:
                renamed[tensor + old] = layer + new
    return renamed


def name_body(model: nn.Module, weights: dict[str, mx.array]) -> None:
    """Prefix all names with `model.`, in place, if they are those of a model saved without its output layer.

    Embedding models are saved like that.
    """
    body = getattr(model, "model", None)
    if "embed_tokens.weight" in weights and isinstance(body, nn.Module) and "embed_tokens" in body:
        arrays = {f"model.{name}": array for name, array in weights.items()}
        weights.clear()
        weights.update(arrays)


def expert_layer(layers: Container[str], owner: str, projection: str) -> str:
    """Return the layer that computes a projection of experts, or an empty text if there is none.

    Args:
        layers: The names of the layers.
        owner: What comes before `experts` in the names of a checkpoint.
        projection: The last part of those names.
    """
    aliases = _PROJECTIONS.get(projection, (projection,))
    # transformers 5 calls the mixture of every family `mlp`.
    owners = dict.fromkeys((owner, owner.replace(".mlp.", ".block_sparse_moe.")))
    places = (f"{own}{container}.{alias}" for own in owners for container in _CONTAINERS for alias in aliases)
    return next((place for place in places if place in layers), "")


@dataclass(frozen=True, slots=True)
class _Expert:
    """A tensor of one expert, or of all experts if `index` is None; `part` is empty for a weight named without one."""

    name: str
    index: int | None
    projection: str
    part: str


def arrange_experts(
    model: nn.Module, weights: dict[str, mx.array], declared: dict[str, Declaration], *, plain: bool = False
) -> None:
    """Rename, split and stack experts as `model` expects them, in place, where its definition would not do so.

    The definitions stack plain experts and split plain fused ones in the layout of their own family. Most of them do
    not handle quantized experts or those that Ollama stacked.

    Args:
        model: Not yet loaded; its layers give the expected names.
        weights: By name, with MLX's names for scales and biases.
        declared: What the files declare about quantized weights, by name without `.weight`; renamed as well.
        plain: Whether to stack plain experts as well.

    Raises:
        BrokenModelError: Experts of a layer are missing or differ.
    """
    layers = {
        _LAYER.sub("", path): layer
        for path, layer in model.named_modules()
        if hasattr(layer, "num_experts") and "weight" in layer
    }
    owners: dict[str, list[_Expert]] = defaultdict(list)
    for name in weights if layers else ():
        if match := _EXPERT.fullmatch(name):
            index = None if match["index"] is None else int(match["index"])
            owners[match["owner"]].append(_Expert(name, index, match["projection"], match["part"] or ""))
    for owner, experts in owners.items():
        _Arrangement(owner, layers, weights, declared).arrange(experts, plain=plain)


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """Rearranges the experts of one layer; `owner` is the beginning of their names."""

    owner: str
    layers: Mapping[str, nn.Module]
    weights: dict[str, mx.array]
    declared: dict[str, Declaration]

    def arrange(self, experts: list[_Expert], *, plain: bool) -> None:
        quantized = any(expert.part == "scales" for expert in experts)
        fused_bare = any(expert.projection == "gate_up_proj" and not expert.part for expert in experts)
        separate: dict[str, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
        for expert in experts:
            if expert.index is not None:
                separate[expert.projection][expert.part][expert.index] = expert.name
            elif not quantized and (not expert.part and fused_bare):
                continue
            elif expert.projection == "gate_up_proj":
                self._split(expert)
            elif target := self._target(expert.projection):
                self._put(expert.name, {target: self.weights.pop(expert.name)}, expert.part or "weight")
        for projection, parts in separate.items() if quantized or plain else ():
            if target := self._target(projection):
                self._stack(parts, target)

    def _target(self, projection: str) -> str:
        """Return the model's path for a projection of these experts, or an empty string if it has none."""
        tail = _LAYER.sub("", self.owner)
        found = expert_layer(self.layers, tail, projection)
        return self.owner.removesuffix(tail) + found if found else ""

    def _layer(self, target: str) -> nn.Module:
        return self.layers[_LAYER.sub("", target)]

    def _put(self, name: str, arrays: Mapping[str, mx.array], part: str) -> None:
        """Enter arrays, by path, that replace the tensor `name`."""
        origin = name.removesuffix(f".{part}")
        for path, array in arrays.items():
            self.weights[f"{path}.{part}"] = array
            if origin in self.declared:
                self.declared[path] = self.declared[origin]

    def _split(self, expert: _Expert) -> None:
        """Split a fused tensor `[experts, gate and up, in]`; groups run along `in`, so packed ones split alike."""
        gate, up = self._target("gate_proj"), self._target("up_proj")
        # Families that keep the name `experts` interleave or transpose the two; their definitions handle that.
        if not gate or not up or gate.startswith(f"{self.owner}experts.gate"):
            return
        part = expert.part or "weight"
        array = self.weights[expert.name]
        if part == "global_scale":
            halves = [array, array]
        else:
            axis = -1 if part == "bias" else -2
            if array.ndim < 2 or array.shape[axis] != 2 * self._layer(gate).weight.shape[-2]:
                return
            halves = [mx.contiguous(half) for half in mx.split(array, 2, axis=axis)]
        del self.weights[expert.name]
        self._put(expert.name, {gate: halves[0], up: halves[1]}, part)

    def _stack(self, parts: Mapping[str, Mapping[int, str]], target: str) -> None:
        """Stack tensors that each belong to one expert."""
        count = self._layer(target).num_experts
        for part, names in parts.items():
            if sorted(names) != list(range(count)):
                raise BrokenModelError(
                    f"{self.owner}experts has {len(names)} tensors named like {names[min(names)]}, "
                    f"but config.json says {count} experts."
                )
            arrays = [self.weights.pop(names[index]) for index in range(count)]
            origins = {self.declared.get(name.removesuffix(f".{part}")) for name in names.values()}
            if (
                len({(array.shape, array.dtype) for array in arrays}) > 1
                or len({_format(origin) for origin in origins}) > 1
            ):
                raise BrokenModelError(f"The experts of {target} differ in shape or quantization; all should be alike.")
            self._put(names[0], {target: mx.stack(arrays)}, part)


def _format(declaration: Declaration | None) -> tuple[str | None, int | None]:
    return (declaration.quant_type, declaration.group_size) if declaration else (None, None)
