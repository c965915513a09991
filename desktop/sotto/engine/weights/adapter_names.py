"""The tensors of an adapter, sorted by the layer that they belong to. Nothing is read."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx

from sotto.engine.config.adapter_config import AdapterConfig, AdapterForm
from sotto.engine.gguf import repack
from sotto.engine.gguf.conversion import ConvertedFile, Recipe
from sotto.engine.gguf.gguf_names import Place, place_of
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.printable import printable, printable_path
from sotto.store.records import TensorFile

# PEFT's names of the parts, by those that are used here; mlx-lm's are in `_MLX_PARTS`.
_PEFT_PARTS = {
    "lora_A": "down",
    "lora_B": "up",
    "lora_embedding_A": "down",
    "lora_embedding_B": "up",
    "lora_magnitude_vector": "length",
}
_MLX_PARTS = {"lora_a": "down", "lora_b": "up", "m": "length"}
_PEFT = re.compile(rf"(?P<layer>.+?)\.(?P<part>{'|'.join(_PEFT_PARTS)})(?:\.weight)?")
_MLX = re.compile(rf"(?P<layer>.+)\.(?P<part>{'|'.join(_MLX_PARTS)})")
_GGUF = re.compile(r"(?P<tensor>.+\.weight)\.(?P<part>lora_a|lora_b)")
_PEFT_PREFIX = "base_model.model."
_FROM_LAYERS = re.compile(r"(?:.*?\.)?(layers\.\d+\..+)")
# Tensors of a head for multi-token prediction, whose layers are numbered from 0, too.
_HEAD = re.compile(r"(?:.+\.)?mtp\.")


@dataclass(slots=True)
class Addition:
    """The tensors that are added to one layer, by their names in the file.

    Attributes:
        layer: The layer's name in the adapter.
        parts: Names of tensors by part: `down`, `up` and, for DoRA, `length`.
    """

    layer: str
    parts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AdapterNames:
    """What an adapter holds.

    Attributes:
        additions: One for each layer.
        replacements: Names of tensors by the names of the weights that they replace.
    """

    additions: tuple[Addition, ...]
    replacements: Mapping[str, str]


def readable(config: AdapterConfig, model_config: Mapping[str, Any]) -> TensorFile:
    """Return the file of an adapter as it is read: the tensors of a GGUF file get PEFT's names and order of rows.

    Args:
        config: How the adapter is applied.
        model_config: The config of the model, with the keys of its definition.

    Raises:
        BrokenModelError: A tensor of a GGUF file has an unknown name.
        UnsupportedModelError: A tensor has a type that is not read.
    """
    file = config.source.tensor_file
    if config.form is not AdapterForm.GGUF:
        return file
    recipes, path = [], printable_path(file.path)
    for name, info in file.tensors.items():
        match = _GGUF.fullmatch(name)
        place = place_of(match["tensor"], model_config) if match else None
        if match is None or place is None:
            raise BrokenModelError(f"{path}: {printable(name)} is not an addition to a layer of this model.")
        if info.dtype not in repack.PLAIN_DTYPES:
            raise UnsupportedModelError(f"{path}: {printable(name)} is stored as {info.dtype}; F32 or F16 can be read.")
        part = "lora_A" if match["part"] == "lora_a" else "lora_B"
        # Only the rows of the second matrix are rows of the layer.
        order = place.order if part == "lora_B" else None
        if order and not order.fits(info.shape[0]):
            raise BrokenModelError(
                f"{path}: {printable(name)} has {info.shape[0]} rows, which {order.groups} heads cannot have."
            )
        named = Place(f"{place.name.removesuffix('.weight')}.{part}.weight", order)
        recipes.append(Recipe(named, (info,), None, mx.float32))
    tensors = dict(output for recipe in recipes for output in recipe.outputs())
    return ConvertedFile(file.path, file.digest, tensors, file.metadata, format=file.format, recipes=tuple(recipes))


def sort_names(config: AdapterConfig, names: Iterable[str]) -> AdapterNames:
    """Sort the tensors of an adapter.

    Args:
        config: How the adapter is applied.
        names: The names of its tensors, as in the file that `readable` returns.

    Raises:
        BrokenModelError: A tensor is none that such an adapter has, or half of an addition is missing.
    """
    additions: dict[str, Addition] = {}
    replacements: dict[str, str] = {}
    is_mlx = config.form is AdapterForm.MLX
    place = printable_path(config.source.tensor_file.path)
    for name in names:
        own = name if is_mlx else name.removeprefix(_PEFT_PREFIX)
        match = (_MLX if is_mlx else _PEFT).fullmatch(own)
        if match and config.adds:
            part = (_MLX_PARTS if is_mlx else _PEFT_PARTS)[match["part"]]
            additions.setdefault(match["layer"], Addition(match["layer"])).parts[part] = name
        elif config.form is AdapterForm.PEFT or not config.adds:
            # PEFT saves a copy of the embeddings of the model beside an addition to them.
            if not own.endswith(".base_layer.weight"):
                replacements[own.replace(".base_layer.", ".")] = name
        else:
            raise BrokenModelError(f"{place}: {printable(name)} is not a tensor of an adapter.")
    wanted = {"down", "up", "length"} if config.dora else {"down", "up"}
    for addition in additions.values():
        if wrong := wanted ^ addition.parts.keys():
            some = "lacks a part" if wrong & wanted else "has a length, which only DoRA has"
            raise BrokenModelError(f"{place}: the addition to {printable(addition.layer)} {some}; save it again.")
    if not additions and not replacements:
        raise BrokenModelError(f"{place} is empty; it should have the tensors of an adapter.")
    return AdapterNames(tuple(additions.values()), replacements)


def short_name(name: str) -> str:
    """Return a name without what models and their parts put before it: from `layers.` on, else the last word or two.

    The same layer may be `model.language_model.layers.0.mlp.up_proj` and `language_model.model.layers.0.mlp.up_proj`.
    """
    if _HEAD.match(name):
        return name
    if match := _FROM_LAYERS.fullmatch(name):
        return match[1]
    words = name.split(".")
    return ".".join(words[-2:] if words[-1] in ("weight", "bias") else words[-1:])


def by_short_name(names: Iterable[str]) -> dict[str, str]:
    """Return names by their short names; of several alike, the shortest."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[short_name(name)].append(name)
    return {short: min(group, key=len) for short, group in groups.items()}
