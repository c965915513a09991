"""The types that tensors are quantized to, by Ollama's names, and the sizes of plain types."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuantType:
    """A type that MLX quantizes to.

    Attributes:
        mode: MLX's mode.
        bits: Bits of a code.
        group: Elements of a row that share a scale.
        eight: The name of the 8-bit type of the same family.
        common: Whether Ollama knows it, too.
    """

    mode: str
    bits: int
    group: int
    eight: str
    common: bool = True


QUANT_TYPES: Mapping[str, QuantType] = {
    "int4": QuantType("affine", 4, 64, "int8"),
    "int8": QuantType("affine", 8, 64, "int8"),
    "mxfp4": QuantType("mxfp4", 4, 32, "mxfp8"),
    "mxfp8": QuantType("mxfp8", 8, 32, "mxfp8"),
    "nvfp4": QuantType("nvfp4", 4, 16, "mxfp8"),
    **{f"int{bits}": QuantType("affine", bits, 64, "int8", common=False) for bits in (2, 3, 5, 6)},
}
# Bytes of an element, of the types that are stored as they are or computed.
DTYPE_BYTES: Mapping[str, int] = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E8M0": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
    "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8,
}  # fmt: skip
# The types of weights that can be quantized.
FLOATS = frozenset({"BF16", "F16", "F32"})
