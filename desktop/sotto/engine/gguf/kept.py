"""Types of GGUF that keep their bits in memory, where native kernels compute with their blocks as they are.

A block of 256 elements consists of their codes, and of scales with the factors that these share. Each kind of parts is
a matrix of its own, like the words and the scales of MLX's types. Eight blocks of IQ4_NL, Q4_0 and Q8_0, of 32 elements
each, count as one, and the last one of a row may have fewer elements.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import mlx.core as mx

BLOCK_SIZE = 256
# Rows have a multiple of so many elements.
UNIT = 64


@dataclass(frozen=True, slots=True)
class KeptType:
    """The parts of a block.

    Attributes:
        bits: Bits of a code.
        group: Elements that share a scale.
        numbers: Numbers that hold all scales and factors.
        start: The first byte of the codes in a block of the file; the scales are before and after them.
        size: Elements of a block of the file.
        dtype: Type of these numbers, which tells apart types with as many bits and scales. What they hold are the bytes
            of the file, whatever that is.
    """

    bits: int
    group: int
    numbers: int
    start: int
    size: int = BLOCK_SIZE
    dtype: mx.Dtype = mx.uint16

    @property
    def code_bytes(self) -> int:
        """Bytes of the codes in a block of the file."""
        return self.size * self.bits // 8


# By the names that the native kernels have for them.
KEPT: Mapping[str, KeptType] = {
    "q2_k": KeptType(2, 16, 10, 16),
    "q3_k": KeptType(3, 16, 7, 0),
    "q4_k": KeptType(4, 32, 8, 16),
    "q5_k": KeptType(5, 32, 8, 16),
    "q6_k": KeptType(6, 16, 9, 0),
    "iq4_xs": KeptType(4, 32, 4, 8),
    "iq4_nl": KeptType(4, 32, 8, 2, size=32, dtype=mx.int16),
    "q4_0": KeptType(4, 32, 16, 2, size=32, dtype=mx.int8),
    "q8_0": KeptType(8, 32, 16, 2, size=32, dtype=mx.int8),
}


def split(kept: KeptType, raw: mx.array) -> tuple[mx.array, mx.array]:
    """Return the codes, uint32 `[blocks, words]`, and the scales, `[blocks, numbers]`, of a file's blocks of bytes."""
    end = kept.start + kept.code_bytes
    codes = mx.contiguous(raw[:, kept.start : end]).view(mx.uint32)
    scales = mx.concatenate([raw[:, : kept.start], raw[:, end:]], axis=-1)
    return codes, scales.view(kept.dtype)
