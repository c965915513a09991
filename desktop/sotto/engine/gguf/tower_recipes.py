"""The plan for converting the tower for images in a GGUF file to the tensors of its makers' checkpoint.

llama.cpp's converter takes some tensors apart, whose parts are joined again here, and puts others in another order.
All are held unquantized: towers are small, and most files keep them so.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import mlx.core as mx

from sotto.engine.gguf.gguf_names import Order
from sotto.engine.gguf.gguf_tower_names import PREFIXES, TowerNames, canonical, name_in_checkpoint, names_of
from sotto.engine.gguf.repack import PLAIN_DTYPES
from sotto.errors import BrokenModelError
from sotto.store.printable import printable, printable_path
from sotto.store.records import TensorFile, TensorInfo

_DTYPE_NAMES = {mx.float32: "F32", mx.float16: "F16", mx.bfloat16: "BF16"}
_LAYER = re.compile(r"v\.blk\.(\d+)\.(.+)")
_PATCHES, _SECOND_FRAME = "v.patch_embd.weight", "v.patch_embd.weight.1"
# What Ollama's converter calls the kernels of the two frames.
_FRAMES = {"v.patch_embd_0.weight": _PATCHES, "v.patch_embd_1.weight": _SECOND_FRAME}
_KERNEL_AXES, _CHANNELS = 4, 3
_SOFT_NORM = "mm.soft_emb_norm.weight"
# Its name in Ollama's own files, whose rows are in order.
_OLLAMAS_PIXTRAL = "v.patch_conv.weight"
_QUERIES_OR_KEYS = re.compile(r"v\.blk\.\d+\.attn_[qk]\.weight")
_LIMIT = re.compile(r".+\.(?:in|out)put_(?:min|max)")


class Making(Enum):
    """How a tensor is made of its parts."""

    AS_IT_IS = auto()
    ROWS = auto()
    """One after another."""
    FRAMES = auto()
    """The kernels of two frames, [out, in, height, width], side by side: [out, in, 2, height, width]."""
    SPLIT_KERNELS = auto()
    """A kernel whose two outer dimensions were joined, [out * in, 2, height, width], is split there again."""
    PIXELS = auto()
    """A kernel [out, in, height, width] becomes rows with all channels of a pixel together."""
    NUMBER = auto()
    """A row of one number becomes that number."""

    def shape(self, parts: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
        """Return the shape that results from those of the parts; ValueError if they do not fit."""
        first = parts[0]
        if self is Making.AS_IT_IS:
            return first
        if self is Making.NUMBER:
            if math.prod(first) != 1:
                raise ValueError("one number")
            return ()
        if self is Making.ROWS:
            if len({part[1:] for part in parts}) > 1:
                raise ValueError("matrices of the same width")
            return sum(part[0] for part in parts), *first[1:]
        if self is Making.SPLIT_KERNELS:
            if len(first) != _KERNEL_AXES or first[0] % _CHANNELS:
                raise ValueError(f"kernels for {_CHANNELS} channels")
            return first[0] // _CHANNELS, _CHANNELS, *first[1:]
        kernels = [part[:2] + part[3:] if len(part) > _KERNEL_AXES and part[2] == 1 else part for part in parts]
        if len(set(kernels)) > 1 or len(kernels[0]) != _KERNEL_AXES:
            raise ValueError("kernels of four dimensions")
        out, channels, height, width = kernels[0]
        return (out, channels, 2, height, width) if self is Making.FRAMES else (out, channels * height * width)

    def make(self, parts: list[mx.array], shape: tuple[int, ...]) -> mx.array:
        """Return the tensor of that shape."""
        if self is Making.ROWS:
            return mx.concatenate(parts)
        if self is Making.FRAMES:
            out, channels, _, height, width = shape
            return mx.stack([part.reshape(out, channels, height, width) for part in parts], axis=2)
        if self is Making.PIXELS:
            return parts[0].transpose(0, 2, 3, 1).reshape(shape)
        return parts[0].reshape(shape)


@dataclass(frozen=True, slots=True)
class TowerRecipe:
    """How one tensor of a tower is made from a file.

    Attributes:
        name: Its name in the makers' checkpoint.
        parts: The tensors of the file.
        making: How it is made of them.
        dtype: The type of its elements.
        order: How its rows are reordered; None if they are in order.
        shift: Added to each element.
    """

    name: str
    parts: tuple[TensorInfo, ...]
    making: Making
    dtype: mx.Dtype
    order: Order | None = None
    shift: int = 0

    @property
    def layout(self) -> None:
        """How it is quantized: not at all."""
        return

    @property
    def nbytes(self) -> int:
        """Size of its parts in the file, in bytes."""
        return sum(part.nbytes for part in self.parts)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.making.shape(tuple(part.shape for part in self.parts))

    def made(self, parts: list[mx.array], reorder: Callable[[mx.array, Order | None], mx.array]) -> mx.array:
        """Return the tensor, given the numbers of its parts in float32, each in its shape."""
        made = reorder(self.making.make(parts, self.shape), self.order)
        return (made + self.shift if self.shift else made).astype(self.dtype)

    def outputs(self) -> Iterator[tuple[str, TensorInfo]]:
        """Yield the name, type and shape of the resulting tensor."""
        shape = self.shape
        yield self.name, TensorInfo(_DTYPE_NAMES[self.dtype], shape, 0, math.prod(shape) * self.dtype.size)


def tower_recipes(file: TensorFile, config: Mapping[str, Any], *, on_cpu: bool) -> Iterator[TowerRecipe]:
    """Yield how the tensors of a tower are made; none if the config describes no tower.

    Args:
        file: The file with the tower.
        config: The contents of `config.json`.
        on_cpu: Whether it is computed on a CPU, where types are kept. Elsewhere all get the same one: that of the
            makers' checkpoints, which has the range of float32.

    Raises:
        BrokenModelError: Parts of a tensor are missing, or do not fit each other.
    """
    names = names_of(config)
    if names is None:
        return
    tensors = _canonical_tensors(file, config["vision_config"])
    common = None if on_cpu else _common_dtype(tensors)
    deep = list(config["vision_config"].get("deepstack_visual_indexes", ()))
    heads = _interleaved_heads(file, config["vision_config"])
    for group, making in _grouped(tensors, config, names):
        parts = tuple(tensors[name] for name in group)
        target = name_in_checkpoint(_joined_name(group), names, deep)
        if target is None:
            continue
        dtype = PLAIN_DTYPES.get(parts[0].dtype, mx.float16) if common is None else common
        order = Order(heads, 2) if heads and _QUERIES_OR_KEYS.fullmatch(group[0]) else None
        recipe = TowerRecipe(target, parts, making, dtype, order, -1 if group[0] == _SOFT_NORM else 0)
        try:
            shape = recipe.shape
        except ValueError as error:
            raise BrokenModelError(
                f"{printable_path(file.path)}: {printable(group[0])} has the shape "
                f"{printable(str(list(parts[0].shape)))}; it should be {error}."
            ) from error
        if recipe.order and not recipe.order.fits(shape[0]):
            raise BrokenModelError(
                f"{printable_path(file.path)}: {printable(group[0])} has {shape[0]} rows, which cannot be split into "
                f"{recipe.order.groups} heads of two halves, as the file says."
            )
        yield recipe


def _canonical_tensors(file: TensorFile, vision: Mapping[str, Any]) -> dict[str, TensorInfo]:
    """Return the tensors of a tower by llama.cpp's names.

    Raises:
        BrokenModelError: Two have the same.
    """
    tensors: dict[str, TensorInfo] = {}
    for stored, info in file.tensors.items():
        if stored.startswith(PREFIXES):
            name = _FRAMES.get(stored) or canonical(stored)
            if name in tensors:
                raise BrokenModelError(
                    f"{printable_path(file.path)}: two of its tensors are {printable(name)}; there should be one."
                )
            tensors[name] = info
    down = tensors.get("v.blk.0.ffn_down.weight")
    width = vision.get("embed_dim", vision.get("hidden_size"))
    if down and len(down.shape) == 2 and down.shape[1] == width != down.shape[0]:
        # The first converter called them the other way round.
        swapped = {"ffn_down": "ffn_up", "ffn_up": "ffn_down"}
        return {_with_inner(name, swapped): info for name, info in tensors.items()}
    return tensors


def _with_inner(name: str, names: Mapping[str, str]) -> str:
    match = _LAYER.fullmatch(name)
    if not match:
        return name
    inner, _, ending = match[2].rpartition(".")
    return f"v.blk.{match[1]}.{names.get(inner, inner)}.{ending}"


def _grouped(
    tensors: Mapping[str, TensorInfo], config: Mapping[str, Any], names: TowerNames
) -> Iterator[tuple[tuple[str, ...], Making]]:
    """Yield the names of the tensors that make one, and how; each tensor once."""
    joins = "attn_qkv" in names.inner
    for name, info in tensors.items():
        if joins and (match := re.fullmatch(r"(v\.blk\.\d+\.attn_)([qkv])(\.(?:weight|bias))", name)):
            group = tuple(f"{match[1]}{part}{match[3]}" for part in "qkv")
            if match[2] == "q" and all(part in tensors for part in group):
                yield group, Making.ROWS
            elif not all(part in tensors for part in group):
                yield (name,), Making.AS_IT_IS
        elif name == _PATCHES and _SECOND_FRAME in tensors:
            yield (_PATCHES, _SECOND_FRAME), Making.FRAMES
        elif name == _SECOND_FRAME:
            continue
        elif name == _PATCHES and "temporal_patch_size" in config["vision_config"]:
            yield (name,), Making.SPLIT_KERNELS if len(info.shape) == _KERNEL_AXES else Making.AS_IT_IS
        elif name == _PATCHES and config["model_type"] in ("gemma4", "lfm2_vl"):
            yield (name,), Making.PIXELS
        else:
            yield (name,), Making.NUMBER if _LIMIT.fullmatch(name) else Making.AS_IT_IS


def _joined_name(group: tuple[str, ...]) -> str:
    return group[0] if len(group) < len("qkv") else group[0].replace(".attn_q.", ".attn_qkv.")


def _interleaved_heads(file: TensorFile, vision: Mapping[str, Any]) -> int:
    """Return the number of heads whose rows of two halves llama.cpp has interleaved; 0 if they are in order."""
    is_interleaved = vision["model_type"] == "pixtral" and _OLLAMAS_PIXTRAL not in file.tensors
    return vision["num_attention_heads"] if is_interleaved else 0


def _common_dtype(tensors: Mapping[str, TensorInfo]) -> mx.Dtype:
    """Return the type of a whole tower."""
    matrices = {info.dtype for info in tensors.values() if len(info.shape) == 2}
    return mx.float32 if matrices == {"F32"} else mx.bfloat16
