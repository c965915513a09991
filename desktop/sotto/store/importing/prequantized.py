"""The blobs of weights that are quantized already: by MLX, compressed-tensors or NVIDIA's ModelOpt."""

import struct
from collections.abc import Mapping
from typing import Any

from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.files import open_regular, read_exactly
from sotto.store.importing.import_plan import NamedTensor, Part, PlannedBlob, Segment, tensor_blob
from sotto.store.importing.quant_types import DTYPE_BYTES, FLOATS, QUANT_TYPES
from sotto.store.printable import printable

# The scales of activations, which are not quantized here.
_DROPPED = (".input_scale", ".input_global_scale")
# Where a configuration may say how weights are quantized.
_KEYS = ("quantization", "quantization_config", "compression_config")
# Bits of a group of a type whose scales have one byte.
_BY_GROUP_BITS = {kind.bits * kind.group: name for name, kind in QUANT_TYPES.items() if kind.mode != "affine"}
_WORD_BYTES, _WORD_BITS = 4, 32


def prequantized_blobs(parts: Mapping[str, Part], config: Mapping[str, Any]) -> tuple[list[PlannedBlob], set[str]]:
    """Return the blobs, and the types of the quantized tensors; a type that cannot be told is an empty text.

    Args:
        parts: The tensors by name.
        config: The contents of `config.json`.

    Raises:
        BrokenModelError: A tensor that belongs to another one is missing or does not fit it.
        UnsupportedModelError: The weights are packed in a way that cannot be read.
    """
    rest = dict(parts)
    blobs: dict[str, PlannedBlob] = {}
    kinds = set()
    for name in parts:
        if name.endswith(".scales"):
            base = name.removesuffix(".scales")
            kind, group, tensors = _of_mlx(base, rest, config)
        elif name.endswith(".weight_packed"):
            base = name.removesuffix(".weight_packed")
            kind, group, tensors = _nvfp4(base, "weight_packed", "weight_global_scale", rest, inverse=True)
        elif name.endswith(".weight_scale") and parts.get(name.removesuffix("_scale"), parts[name]).dtype in (
            "U8",
            "U32",
        ):
            base = name.removesuffix(".weight_scale")
            kind, group, tensors = _nvfp4(base, "weight", "weight_scale_2", rest, inverse=False)
        else:
            continue
        metadata = {"quant_type": kind, "group_size": str(group)} if kind else {}
        blobs[f"{base}.weight"] = tensor_blob(f"{base}.weight", tensors, metadata)
        kinds.add(kind)
    for name, part in rest.items():
        if name.endswith(_DROPPED):
            continue
        if name in blobs:
            raise BrokenModelError(f"{printable(name)} is there twice, once quantized; it should be there once.")
        if part.dtype not in DTYPE_BYTES:
            raise UnsupportedModelError(
                f"{printable(name)} is stored as {part.dtype}, a type that cannot be computed with; choose another "
                "version."
            )
        blobs[name] = tensor_blob(name, [_stored(name, part)])
    return [blobs[name] for name in sorted(blobs)], kinds


def _of_mlx(base: str, rest: dict[str, Part], config: Mapping[str, Any]) -> tuple[str, int, list[NamedTensor]]:
    """Return the type, group size and tensors of a matrix that MLX quantized; take them out of the rest."""
    weight, scales = _take(f"{base}.weight", rest), _take(f"{base}.scales", rest)
    biases = rest.pop(f"{base}.biases", None)
    fits = weight.shape[:-1] == scales.shape[:-1] and (biases is None or biases.shape == scales.shape)
    if weight.dtype != "U32" or not weight.shape or not scales.shape or not fits or not scales.shape[-1]:
        raise BrokenModelError(
            f"{printable(base)}.weight is {weight.dtype} of shape {list(weight.shape)} and its scales have shape "
            f"{list(scales.shape)}, which do not fit each other; download the model again."
        )
    kind, group = _type(base, weight, scales, config)
    name = f"{base}.weight"
    tensors = [_stored(name, weight), _stored(f"{name}.scale", scales)]
    if biases is not None:
        tensors.append(_stored(f"{name}.bias", biases))
    return kind, group, tensors


def _type(base: str, weight: Part, scales: Part, config: Mapping[str, Any]) -> tuple[str, int]:
    """Return the type and group size of a matrix that MLX quantized; an empty text if they cannot be told."""
    group_bits, odd = divmod(weight.shape[-1] * _WORD_BITS, scales.shape[-1])
    if scales.dtype not in FLOATS:
        kind = "" if odd else _BY_GROUP_BITS.get(group_bits, "")
        if not kind:
            raise UnsupportedModelError(f"{printable(base)} is quantized to a type of MLX that Sotto does not know.")
        return kind, QUANT_TYPES[kind].group
    stated = _stated(config)
    own = stated.get(base)
    for settings in (own, stated):
        bits = settings.get("bits") if isinstance(settings, Mapping) else None
        if type(bits) is not int or f"int{bits}" not in QUANT_TYPES:
            continue
        group, left = divmod(group_bits, bits)
        if odd or left:
            break
        return f"int{bits}", group
    # Loading tells it from the width of the layer.
    return "", 0


def _stated(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a configuration says about quantization; empty if it says nothing."""
    for outer in (config, config.get("text_config")):
        for key in _KEYS:
            found = outer.get(key) if isinstance(outer, Mapping) else None
            if isinstance(found, Mapping) and found.get("bits"):
                return found
    return {}


def _nvfp4(
    base: str, weight_name: str, global_name: str, rest: dict[str, Part], *, inverse: bool
) -> tuple[str, int, list[NamedTensor]]:
    """Return the type, group size and tensors of a matrix in NVFP4 of another producer; take them out of the rest."""
    weight, scale = _take(f"{base}.{weight_name}", rest), _take(f"{base}.weight_scale", rest)
    kind = QUANT_TYPES["nvfp4"]
    packs = weight.dtype in ("U8", "U32") and len(weight.shape) == len(scale.shape) >= 2
    words, left = divmod(weight.end - weight.start, _WORD_BYTES)
    shape = (*weight.shape[:-1], weight.shape[-1] // (_WORD_BYTES if weight.dtype == "U8" else 1)) if packs else ()
    columns = shape[-1] * _WORD_BITS // kind.bits if shape else 0
    expected = (*shape[:-1], columns // kind.group)
    if left or not words or scale.dtype not in ("F8_E4M3", "U8") or scale.shape != expected or columns % kind.group:
        raise UnsupportedModelError(
            f"{printable(base)} is packed in a way that cannot be read; of the types of compressed-tensors and "
            "ModelOpt only NVFP4 can be imported, others in a version for MLX or unquantized."
        )
    name = f"{base}.weight"
    tensors = [
        NamedTensor(name, Segment(weight.path, weight.start, weight.end), "U32", shape),
        NamedTensor(f"{name}.scale", Segment(scale.path, scale.start, scale.end), "U8", scale.shape),
    ]
    if f"{base}.{global_name}" in rest:
        factor = _number(f"{base}.{global_name}", rest)
        if inverse and not factor:
            raise BrokenModelError(f"{printable(base)}.{global_name} is 0; it should be another number.")
        content = struct.pack("<f", 1 / factor if inverse else factor)
        tensors.append(NamedTensor(f"{name}.global_scale", content, "F32", ()))
    return "nvfp4", kind.group, tensors


def _number(name: str, rest: dict[str, Part]) -> float:
    """Return the value of a tensor of one number; take it out of the rest."""
    part = rest.pop(name)
    if part.dtype != "F32" or part.end - part.start != _WORD_BYTES:
        raise BrokenModelError(
            f"{printable(name)} is {part.dtype} of shape {list(part.shape)}; it should be one number in F32."
        )
    with open_regular(part.path) as (file, _):
        file.seek(part.start)
        (value,) = struct.unpack("<f", read_exactly(file, _WORD_BYTES, part.path))
    return float(value)


def _take(name: str, rest: dict[str, Part]) -> Part:
    if name not in rest:
        raise BrokenModelError(f"{printable(name)} is missing, but a tensor that belongs to it is there.")
    return rest.pop(name)


def _stored(name: str, part: Part) -> NamedTensor:
    return NamedTensor(name, Segment(part.path, part.start, part.end), part.dtype, part.shape)
