"""Quantization schemes: inferred from the shapes of tensors, and checked against what their file declares.

A quantized matrix `X` consists of two to four tensors: packed words `X.weight`, `X.scales`, for affine types
`X.biases`, and for NVFP4 with two levels of scales `X.global_scale`. Types of GGUF that keep their bits have words and
scales, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from sotto.engine.gguf.kept import BLOCK_SIZE, KEPT
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.printable import printable
from sotto.store.records import TensorFile

# Python refuses to parse very long numbers.
_MAX_GROUP_DIGITS = 9
_WORD_BITS = 32
_AFFINE_BITS = (2, 3, 4, 5, 6, 8)
_AFFINE_GROUPS = (32, 64, 128)
# Types with scales of one byte, by bits and group size.
_BYTE_SCALED = {(4, 16): "nvfp4", (4, 32): "mxfp4", (8, 32): "mxfp8"}
# Mode and bits by the names of types in files, newer and older ones.
_TYPES = {
    "int4": ("affine", 4),
    "q4": ("affine", 4),
    "fp4": ("affine", 4),
    "int8": ("affine", 8),
    "q8": ("affine", 8),
    "fp8": ("affine", 8),
    "mxfp4": ("mxfp4", 4),
    "mxfp8": ("mxfp8", 8),
    "nvfp4": ("nvfp4", 4),
    # Which Ollama does not know.
    "int2": ("affine", 2),
    "int3": ("affine", 3),
    "int5": ("affine", 5),
    "int6": ("affine", 6),
}


@dataclass(frozen=True, slots=True)
class Scheme:
    """How a matrix is quantized.

    Attributes:
        mode: MLX's mode: `affine`, `mxfp4`, `mxfp8` or `nvfp4`; or that of a GGUF type which keeps its bits.
        bits: Bits per element.
        group_size: Elements of a row that share a scale.
    """

    mode: str
    bits: int
    group_size: int

    def __str__(self) -> str:
        kind = f"int{self.bits}" if self.mode == "affine" else self.mode
        return f"{kind} in groups of {self.group_size}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments for MLX's functions."""
        return {"mode": self.mode, "bits": self.bits, "group_size": self.group_size}


@dataclass(frozen=True, slots=True)
class Declaration:
    """The quantization that a file declares for one of its tensors; None for what it does not declare."""

    tensor: str
    quant_type: str | None
    group_size: int | None

    def check(self, scheme: Scheme) -> None:
        """Compare the declaration with the scheme inferred from the shapes.

        Raises:
            BrokenModelError: They differ.
        """
        kind = _TYPES[self.quant_type.lower()] if self.quant_type else (scheme.mode, scheme.bits)
        group = self.group_size or scheme.group_size
        if kind != (scheme.mode, scheme.bits) or group != scheme.group_size:
            declared = " in groups of ".join(str(part) for part in (self.quant_type, self.group_size) if part)
            raise BrokenModelError(
                f"The file of {self.tensor} says that it is quantized as {declared}, "
                f"but its shape can only be {scheme}; download the model again."
            )


class Declarations:
    """The declarations of several files, looked up by the arrays of a matrix's scales.

    Definitions rename tensors, but pass on the same array objects. The arrays are kept alive here, so that the `id` of
    one cannot be reused by another.
    """

    def __init__(self, declared: Iterable[tuple[mx.array, Declaration]]) -> None:
        self._declarations = {id(scales): (scales, declaration) for scales, declaration in declared}

    def check(self, scales: mx.array, scheme: Scheme) -> None:
        """Compare a scheme with the declaration for the matrix with these scales, if there is one.

        Raises:
            BrokenModelError: They differ.
        """
        if found := self._declarations.get(id(scales)):
            found[1].check(scheme)


def read_declaration(file: TensorFile, tensor: str) -> Declaration | None:
    """Return what a file's metadata declares for a tensor, preferring entries for it to those for the whole file.

    Raises:
        UnsupportedModelError: The type is unknown.
        BrokenModelError: The group size is not a number.
    """
    metadata = file.metadata
    quant_type = metadata.get(f"{tensor}.quant_type") or metadata.get("quant_type")
    group_text = metadata.get(f"{tensor}.group_size") or metadata.get("group_size")
    if quant_type and quant_type.lower() not in _TYPES:
        raise UnsupportedModelError(
            f"{printable(tensor)} is quantized as '{printable(quant_type)}', which is not known; "
            "known are int2 to int6, int8, mxfp4, mxfp8 and nvfp4."
        )
    if group_text and not (group_text.isdecimal() and len(group_text) <= _MAX_GROUP_DIGITS):
        raise BrokenModelError(
            f"The group size of {printable(tensor)} is '{printable(group_text)}', which should be a number."
        )
    if not quant_type and not group_text:
        return None
    return Declaration(tensor, quant_type, int(group_text) if group_text else None)


def infer_scheme(name: str, in_dims: int, weight: mx.array, scales: mx.array) -> Scheme:
    """Return how a matrix is quantized, given its shapes and the width that its layer expects.

    Given the input width, the shapes are unambiguous: `bits = words x 32 / in_dims`, `group = in_dims / scales`.

    Args:
        name: Name of the layer, for messages.
        in_dims: Columns of the unpacked matrix.
        weight: Packed words, `[..., out, words]`.
        scales: `[..., out, groups]`; unsigned bytes belong to the mx and nv types, other integers to those of GGUF
            that keep their bits, others to affine ones.

    Raises:
        BrokenModelError: The shapes do not fit each other or the layer.
        UnsupportedModelError: They fit, but no type has these bits and this group size.
    """
    if weight.dtype != mx.uint32:
        raise BrokenModelError(f"{name} has scales, but its weight is {_name(weight.dtype)}; it should be uint32.")
    if weight.shape[:-1] != scales.shape[:-1] or not weight.size:
        raise BrokenModelError(
            f"The weight of {name} is {shape_text(weight)} and its scales are {shape_text(scales)}; "
            "all but the last dimension should agree."
        )
    # A wrong file or config may have a dimension of 0.
    bits, bits_left = divmod(weight.shape[-1] * _WORD_BITS, in_dims or 1)
    for mode, kept in KEPT.items() if not bits_left else ():
        same = (bits, scales.dtype) == (kept.bits, kept.dtype)
        if same and scales.shape[-1] * BLOCK_SIZE == in_dims * kept.numbers:
            return Scheme(mode, bits, kept.group)
    group, group_left = divmod(in_dims, scales.shape[-1] or 1)
    if bits_left or group_left or not bits or not in_dims or not scales.size:
        raise BrokenModelError(
            f"The weight of {name} is {shape_text(weight)} with scales {shape_text(scales)}, "
            f"which cannot hold {in_dims} columns as config.json says."
        )
    if scales.dtype == mx.uint8:
        mode = _BYTE_SCALED.get((bits, group), "")
    else:
        floating = mx.issubdtype(scales.dtype, mx.floating)
        mode = "affine" if floating and bits in _AFFINE_BITS and group in _AFFINE_GROUPS else ""
    if not mode:
        raise UnsupportedModelError(
            f"{name} has {bits}-bit weights in groups of {group} with {_name(scales.dtype)} scales, "
            "which is not a supported type."
        )
    return Scheme(mode, bits, group)


def shape_text(array: mx.array) -> str:
    """Return the shape of an array as shown to users."""
    return " x ".join(map(str, array.shape))


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).removeprefix("mlx.core.")
