"""Codes of 2, 3, 5 and 6 bits in 4 or 8 bits, for which the native kernels have products.

The weights keep their values and take more memory. MLX's own products with such codes run on one thread and unpack each
code by itself, so that a model of 1B would make less than a token a second.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.store.printable import format_size
from sotto.store.records import TensorFile, TensorInfo

_WIDE = {2: 4, 3: 4, 5: 8, 6: 8}
# How much larger codes of 3 and 6, and of 5 bits become.
_GROWTH = {3: 4 / 3, 5: 8 / 5}
# Types of the scales of such codes; those of GGUF's types are integers.
_FLOATS = ("BF16", "F16", "F32")


def widen_codes(model: nn.Module, tensors: dict[str, mx.array], kernels: Any) -> None:
    """Change quantized layers, and in place their codes, to 4 or 8 bits where the kernels have no fewer.

    Args:
        model: A model with quantized layers.
        tensors: Its parameters by name, in their stored types.
        kernels: The native module.
    """
    for path, layer in model.named_modules():
        if getattr(layer, "mode", "") != "affine" or (bits := _WIDE.get(layer.bits)) is None:
            continue
        stored = tensors.get(f"{path}.weight")
        if stored is not None and kernels.knows("affine", layer.group_size, bits):
            codes = kernels.widen(stored, layer.bits)
            tensors[f"{path}.weight"], layer.bits = codes, bits
            # Only a shape: nothing else may refer to what is interleaved in place.
            layer.weight = mx.zeros(codes.shape, codes.dtype)


def growth_of(files: Iterable[TensorFile], config: Mapping[str, Any]) -> int:
    """Return the bytes that codes take in addition once they are widened.

    Args:
        files: The files of a model.
        config: `config.json`.
    """
    return round(sum(tensor.nbytes * (growth - 1) for tensor, growth in _growing(files, config)))


def describe_widening(files: Iterable[TensorFile], config: Mapping[str, Any]) -> str:
    """Return how codes are held that are widened: `int6 in 8 bits (7 GB)`; empty if there are none.

    Args:
        files: The files of a model.
        config: `config.json`.
    """
    held = round(sum(tensor.nbytes * growth for tensor, growth in _growing(files, config)))
    said = config.get("quantization")
    bits = said.get("bits") if isinstance(said, Mapping) else None
    how = f"int{bits} in {_WIDE[bits]} bits" if isinstance(bits, int) and bits in _WIDE else "4 or 8 bits"
    return f"{how} ({format_size(held)})" if held else ""


def _growing(files: Iterable[TensorFile], config: Mapping[str, Any]) -> Iterator[tuple[TensorInfo, float]]:
    """Yield the tensors of codes of 2, 3, 5 and 6 bits, with the factor by which they grow.

    A scale belongs to a power of two of columns, so how many words there are for each tells the bits but for such a
    power. Codes of 2 and 4 bits are told apart by `config.json`.
    """
    for file in files:
        for name, tensor in file.tensors.items():
            layer = name.removesuffix(".weight")
            scales = file.tensors.get(f"{layer}.scales") or file.tensors.get(f"{name}.scale")
            if tensor.dtype != "U32" or scales is None or scales.dtype not in _FLOATS:
                continue
            if not tensor.shape or not scales.shape or not scales.shape[-1]:
                continue
            words, left = divmod(tensor.shape[-1], scales.shape[-1])
            if left or not words:
                continue
            growth = _GROWTH.get(words // (words & -words))
            if growth is None and _declared(config, layer) == (2, words * 16):
                growth = 2
            if growth is not None:
                yield tensor, growth


def _declared(config: Mapping[str, Any], layer: str) -> tuple[Any, Any]:
    """Return the bits and the group size that `config.json` gives for a layer, whatever they are."""
    said = config.get("quantization")
    said = said if isinstance(said, Mapping) else {}
    own = said.get(layer)
    of_layer = own if isinstance(own, Mapping) else said
    return of_layer.get("bits"), of_layer.get("group_size")
