"""The blobs of unquantized weights, and of those in FP8 with a scale for each block of 128 x 128."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.importing.experts import stacks
from sotto.store.importing.fusing_plan import NO_ADAPTER, FusingPlan
from sotto.store.importing.import_plan import Computed, Making, NamedTensor, Part, PlannedBlob, Segment, tensor_blob
from sotto.store.importing.policy import type_of
from sotto.store.importing.quant_types import DTYPE_BYTES, QUANT_TYPES
from sotto.store.importing.recipes import Recipe
from sotto.store.printable import printable

BLOCK = 128
# The type that FP8 is quantized to.
_FP8_TYPE = "mxfp8"


def float_blobs(
    parts: Mapping[str, Part], recipe: Recipe | None, config: Mapping[str, Any], fusing: FusingPlan = NO_ADAPTER
) -> list[PlannedBlob]:
    """Return the blobs of unquantized weights.

    Args:
        parts: The tensors by name.
        recipe: What to quantize to; None to keep what is there.
        config: The contents of `config.json`.
        fusing: What an adapter changes.

    Raises:
        BrokenModelError: Experts are missing or differ.
    """
    stacked = stacks(parts)
    aside = {name for stack in stacked for name in stack.names}
    blobs = {
        name: quantized_blob(name, [fusing.applied(_tensor(name, (part,), part.shape, recipe, config), (name,))])
        for name, part in parts.items()
        if name not in aside
    }
    groups: dict[str, list[NamedTensor]] = defaultdict(list)
    for stack in sorted(stacked, key=lambda stack: stack.name):
        stacked_tensor = _tensor(stack.name, stack.parts, stack.shape, recipe, config)
        groups[stack.group].append(fusing.applied(stacked_tensor, stack.names))
    for group, tensors in groups.items():
        _add_group(blobs, group, tensors)
    return [blobs[name] for name in sorted(blobs)]


def fp8_blobs(
    parts: Mapping[str, Part], config: Mapping[str, Any], fusing: FusingPlan = NO_ADAPTER
) -> list[PlannedBlob]:
    """Return the blobs of weights in FP8, which are quantized to mxfp8 by the usual rules.

    Raises:
        BrokenModelError: A scale is missing or does not fit, or experts are missing or differ.
        UnsupportedModelError: The scales do not belong to blocks of 128 x 128.
    """
    if _block_size(config) != [BLOCK, BLOCK]:
        raise UnsupportedModelError(
            f"Its weights are in FP8 with scales that are not for blocks of {BLOCK} x {BLOCK}, which cannot be "
            "imported; choose a version in bfloat16."
        )
    recipe = Recipe(_FP8_TYPE)
    stacked = [stack for stack in stacks(parts) if stack.parts[0].dtype == "F8_E4M3"]
    aside = {name for stack in stacked for name in stack.names}
    scales = {f"{name}{ending}" for name in parts for ending in ("_scale_inv", "_scale")}
    blobs = {}
    for name, part in parts.items():
        if name in aside or (name in scales and parts[_weight_of(name)].dtype == "F8_E4M3"):
            continue
        if name.endswith("weight") and part.dtype == "F8_E4M3":
            scale = parts.get(f"{name}_scale_inv") or parts.get(f"{name}_scale")
            tensor = _from_fp8(name, (part,), (scale,) if scale else (), part.shape, recipe, config)
        else:
            tensor = _tensor(name, (part,), part.shape, None, config)
        blobs[name] = quantized_blob(name, [fusing.applied(tensor, (name,))])
    groups: dict[str, list[NamedTensor]] = defaultdict(list)
    for stack in sorted(stacked, key=lambda stack: stack.name):
        tensor = _from_fp8(stack.name, stack.parts, stack.scales, stack.shape, recipe, config)
        groups[stack.group].append(fusing.applied(tensor, stack.names))
    for group, tensors in groups.items():
        _add_group(blobs, group, tensors)
    return [blobs[name] for name in sorted(blobs)]


def quantized_blob(name: str, tensors: Sequence[NamedTensor]) -> PlannedBlob:
    """Return a blob of tensors that are quantized alike, with metadata that say how."""
    piece = tensors[0].piece
    kind = piece.quantization if isinstance(piece, Computed) else ""
    metadata = {"quant_type": kind, "group_size": str(QUANT_TYPES[kind].group)} if kind else {}
    return tensor_blob(name, tensors, metadata)


def _add_group(blobs: dict[str, PlannedBlob], group: str, tensors: Sequence[NamedTensor]) -> None:
    """Add one blob for the projections of a group of experts, or one for each if they are quantized differently."""
    if len({_kind_of(tensor) for tensor in tensors}) == 1:
        blobs[group] = quantized_blob(group, tensors)
    else:
        blobs.update({tensor.name: quantized_blob(tensor.name, [tensor]) for tensor in tensors})


def _kind_of(tensor: NamedTensor) -> str:
    return tensor.piece.quantization if isinstance(tensor.piece, Computed) else ""


def _tensor(
    name: str, parts: tuple[Part, ...], shape: tuple[int, ...], recipe: Recipe | None, config: Mapping[str, Any]
) -> NamedTensor:
    dtype = parts[0].dtype
    if dtype not in DTYPE_BYTES:
        raise UnsupportedModelError(
            f"{printable(name)} is stored as {dtype}, a type that cannot be computed with; choose another version."
        )
    kind = type_of(name, dtype, shape, recipe, config) if recipe else ""
    if kind:
        return NamedTensor(name, Computed(parts, shape, dtype, kind))
    if len(parts) > 1:
        return NamedTensor(name, Computed(parts, shape, dtype))
    return NamedTensor(name, Segment(parts[0].path, parts[0].start, parts[0].end), dtype, shape)


def _from_fp8(
    name: str,
    parts: tuple[Part, ...],
    scales: tuple[Part, ...],
    shape: tuple[int, ...],
    recipe: Recipe,
    config: Mapping[str, Any],
) -> NamedTensor:
    if not scales or len(shape) not in (2, 3):
        raise BrokenModelError(f"{printable(name)} is in FP8 without scales; it should have one for each block.")
    *outer, rows, columns = parts[0].shape
    expected = (*outer, -(-rows // BLOCK), -(-columns // BLOCK))
    if any(scale.shape != expected or scale.dtype not in ("BF16", "F16", "F32") for scale in scales):
        raise BrokenModelError(
            f"The scales of {printable(name)} are {scales[0].dtype} of shape {list(scales[0].shape)}; they should be "
            f"numbers of shape {list(expected)}."
        )
    kind = type_of(name, "BF16", shape, recipe, config)
    return NamedTensor(name, Computed(parts, shape, "BF16", kind, Making.BLOCK_FP8, scales))


def _weight_of(scale: str) -> str:
    return scale.removesuffix("_scale_inv").removesuffix("_scale")


def _block_size(config: Mapping[str, Any]) -> object:
    """Return the block size that a configuration states; None if it states none."""
    for outer in (config, config.get("text_config")):
        quantization = outer.get("quantization_config") if isinstance(outer, Mapping) else None
        if not isinstance(quantization, Mapping):
            continue
        if str(quantization.get("quant_method", "")).lower() == "fp8":
            return quantization.get("weight_block_size")
        groups = quantization.get("config_groups")
        for group in groups.values() if isinstance(groups, Mapping) else ():
            weights = group.get("weights") if isinstance(group, Mapping) else None
            if isinstance(weights, Mapping) and weights.get("type") == "float" and weights.get("num_bits") == 8:
                return weights.get("block_structure")
    return None
