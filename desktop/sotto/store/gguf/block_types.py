"""The tensor types of GGUF files: their numbers, names and block sizes.

A tensor's rows are divided into blocks; a block of a quantized type holds the scales of its elements as well.
https://github.com/ggml-org/ggml/blob/master/include/ggml.h (enum ggml_type), ggml/src/ggml-common.h (the blocks)
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockType:
    """A tensor type, whose blocks hold `size` elements in `nbytes` bytes."""

    name: str
    size: int
    nbytes: int


# By the type number in a file.
BLOCK_TYPES: Mapping[int, BlockType] = {
    number: BlockType(name, size, nbytes)
    for number, name, size, nbytes in (
        (0, "F32", 1, 4),
        (1, "F16", 1, 2),
        (2, "Q4_0", 32, 18),
        (3, "Q4_1", 32, 20),
        (6, "Q5_0", 32, 22),
        (7, "Q5_1", 32, 24),
        (8, "Q8_0", 32, 34),
        (10, "Q2_K", 256, 84),
        (11, "Q3_K", 256, 110),
        (12, "Q4_K", 256, 144),
        (13, "Q5_K", 256, 176),
        (14, "Q6_K", 256, 210),
        (16, "IQ2_XXS", 256, 66),
        (17, "IQ2_XS", 256, 74),
        (18, "IQ3_XXS", 256, 98),
        (19, "IQ1_S", 256, 50),
        (20, "IQ4_NL", 32, 18),
        (21, "IQ3_S", 256, 110),
        (22, "IQ2_S", 256, 82),
        (23, "IQ4_XS", 256, 136),
        (29, "IQ1_M", 256, 56),
        (30, "BF16", 1, 2),
        (34, "TQ1_0", 256, 54),
        (35, "TQ2_0", 256, 66),
        (39, "MXFP4", 32, 17),
    )
}
BY_NAME: Mapping[str, BlockType] = {kind.name: kind for kind in BLOCK_TYPES.values()}
