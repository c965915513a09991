"""From the names and shapes that files use to those that the model definitions expect.

The definitions rename and rearrange plain weights themselves (`sanitize`). What they do not know is done here first:
Ollama's names for scales, experts that are already stacked, and quantized experts that are fused or apart.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.config.architecture_table import architecture
from sotto.engine.config.quantization import Declaration
from sotto.errors import BrokenModelError

_COMPANIONS = {".scale": ".scales", ".bias": ".biases", ".global_scale": ".global_scale"}
_EXPERT = re.compile(
    r"(?P<owner>.*\blayers\.\d+\.(?:.+\.)?)experts\.(?:(?P<index>\d+)\.)?(?P<projection>\w+?_proj|w[123])"
    r"(?:\.(?P<part>weight|scales|biases|global_scale|bias))?"
)
_LAYER = re.compile(r".*?\blayers\.\d+\.")
# Names of one thing in checkpoints and in definitions.
_CONTAINERS = ("experts", "switch_mlp", "experts.switch_glu")
_PROJECTIONS: Mapping[str, tuple[str, ...]] = {
    "w1": ("gate_proj",),
    "w2": ("down_proj",),
    "w3": ("up_proj",),
    "up_proj": ("up_proj", "fc1"),
    "down_proj": ("down_proj", "fc2"),
}


def is_wanted(config: Mapping[str, Any], draft_prefix: str) -> Callable[[str], bool]:
    """Return whether a tensor of that name belongs to the language model: neither to a draft nor to a tower.

    Args:
        config: `config.json`, as written.
        draft_prefix: What the names of a draft's tensors begin with; empty when there is none.
    """
    aside = architecture(config).ignored_prefixes
    unwanted = (*aside, *(f"model.{prefix}" for prefix in aside), *((draft_prefix,) if draft_prefix else ()))
    return lambda name: not name.startswith(unwanted)


def rename_companions(names: Iterable[str]) -> dict[str, str]:
    """Return MLX's name for each name of Ollama's that differs.

    Only a complete list tells the `.bias` of a scaled tensor from that of a layer: a tensor `X` is quantized iff
    `X.scale` is there too, and then `X.bias` belongs to the scales.
    """
    present = set(names)
    renamed = {}
    for tensor in present:
        if f"{tensor}.scale" not in present:
            continue
        layer = tensor.removesuffix(".weight")
        if layer == tensor:
            renamed[tensor] = f"{layer}.weight"
        for old, new in _COMPANIONS.items():
            if tensor + old in present:
                renamed[tensor + old] = layer + new
    return renamed


def name_body(model: nn.Module, weights: dict[str, mx.array]) -> None:
    """Put `model.` in front of all names, in place, where they are those of a body that was saved by itself.

    Models that were made for vectors of texts are saved without what computes the scores of tokens, and without that.
    """
    body = getattr(model, "model", None)
    if "embed_tokens.weight" in weights and isinstance(body, nn.Module) and "embed_tokens" in body:
        arrays = {f"model.{name}": array for name, array in weights.items()}
        weights.clear()
        weights.update(arrays)


@dataclass(frozen=True, slots=True)
class _Expert:
    """One tensor of experts: of all of them when `index` is None. `part` is empty for a weight that is named bare."""

    name: str
    index: int | None
    projection: str
    part: str


def arrange_experts(model: nn.Module, weights: dict[str, mx.array], declared: dict[str, Declaration]) -> None:
    """Rename, split and stack experts to what `model` takes, where its definition would not do it itself, in place.

    The definitions stack plain experts and split plain fused ones, in the layout of their own family. Quantized ones,
    and those that Ollama stacked, most of them do not know.

    Args:
        model: Not yet loaded; its layers tell which names are expected.
        weights: By MLX's names for companions.
        declared: What files say of quantized weights, by name without `.weight`; renamed along.

    Raises:
        BrokenModelError: Experts of one layer are missing or not alike.
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
        _Arrangement(owner, layers, weights, declared).arrange(experts)


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """The experts of one layer on their way; `owner` is what their names begin with."""

    owner: str
    layers: Mapping[str, nn.Module]
    weights: dict[str, mx.array]
    declared: dict[str, Declaration]

    def arrange(self, experts: list[_Expert]) -> None:
        quantized = any(expert.part == "scales" for expert in experts)
        fused_bare = any(expert.projection == "gate_up_proj" and not expert.part for expert in experts)
        apart: dict[str, dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
        for expert in experts:
            if expert.index is not None:
                apart[expert.projection][expert.part][expert.index] = expert.name
            elif not quantized and (not expert.part and fused_bare):
                continue
            elif expert.projection == "gate_up_proj":
                self._split(expert)
            elif target := self._target(expert.projection):
                self._put(expert.name, {target: self.weights.pop(expert.name)}, expert.part or "weight")
        for projection, parts in apart.items() if quantized else ():
            if target := self._target(projection):
                self._stack(parts, target)

    def _target(self, projection: str) -> str:
        """Return the model's path for a projection of these experts, or an empty text if it has none."""
        tail = _LAYER.sub("", self.owner)
        for container in _CONTAINERS:
            for alias in _PROJECTIONS.get(projection, (projection,)):
                if f"{tail}{container}.{alias}" in self.layers:
                    return f"{self.owner}{container}.{alias}"
        return ""

    def _layer(self, target: str) -> nn.Module:
        return self.layers[_LAYER.sub("", target)]

    def _put(self, name: str, arrays: Mapping[str, mx.array], part: str) -> None:
        """Enter arrays by path in place of what was `name`."""
        origin = name.removesuffix(f".{part}")
        for path, array in arrays.items():
            self.weights[f"{path}.{part}"] = array
            if origin in self.declared:
                self.declared[path] = self.declared[origin]

    def _split(self, expert: _Expert) -> None:
        """Split a fused tensor `[experts, gate and up, in]` in halves; groups run along `in`, so packed ones too."""
        gate, up = self._target("gate_proj"), self._target("up_proj")
        # Families that keep the name `experts` interleave or transpose the two: those their definitions know.
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
        """Join the tensors of experts that are kept apart."""
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
                or len({_sentence(origin) for origin in origins}) > 1
            ):
                raise BrokenModelError(f"The experts of {target} differ in shape or quantization; all should be alike.")
            self._put(names[0], {target: mx.stack(arrays)}, part)


def _sentence(declaration: Declaration | None) -> tuple[str | None, int | None]:
    return (declaration.quant_type, declaration.group_size) if declaration else (None, None)
