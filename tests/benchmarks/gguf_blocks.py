"""Random weights in the block types of GGUF files.

A block holds packed codes and the scales of its groups, see ggml's `ggml-common.h`. The codes are random; the scales
are the same in all blocks, such that all weights are within a spread of 0. What a file contains does not change how
fast it is computed, so the same few megabytes of blocks are repeated.
"""

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from sotto.store.gguf.block_types import BLOCK_TYPES, BY_NAME

NUMBERS: Mapping[str, int] = {kind.name: number for number, kind in BLOCK_TYPES.items()}
_POOL_BYTES = 32 << 20
_WRITE_BYTES = 8 << 20


def nbytes(shape: tuple[int, ...], kind: str) -> int:
    """Return the bytes of a tensor of this shape and type.

    Raises:
        ValueError: Its rows are not a multiple of the type's blocks.
    """
    block = BY_NAME[kind]
    if shape[-1] % block.size:
        raise ValueError(f"Rows of {shape[-1]} weights are no multiple of the {block.size} in a block of {kind}.")
    return math.prod(shape) // block.size * block.nbytes


class RandomBlocks:
    """A source of random blocks, which are made once for each type."""

    def __init__(self, spread: float) -> None:
        """Prepare a source; all weights will be within `spread` of 0."""
        self._spread = spread
        self._chance = np.random.default_rng(0)
        self._pools: dict[str, bytes] = {}
        self._position = 0

    def data(self, shape: tuple[int, ...], kind: str) -> Iterator[bytes]:
        """Yield the bytes of a tensor in pieces."""
        if kind not in self._pools:
            self._pools[kind] = self._pool(kind)
        pool, left, block = self._pools[kind], nbytes(shape, kind), BY_NAME[kind].nbytes
        most = _WRITE_BYTES // block * block
        while left:
            start = self._position % (len(pool) // block) * block
            piece = pool[start : start + min(left, most)]
            # The next piece begins elsewhere, so that layers differ.
            self._position += len(piece) // block + 977
            left -= len(piece)
            yield piece

    def _pool(self, kind: str) -> bytes:
        block = BY_NAME[kind]
        blocks = np.frombuffer(self._chance.bytes(_POOL_BYTES // block.nbytes * block.nbytes), np.uint8)
        blocks = blocks.reshape(-1, block.nbytes).copy()
        _FILLERS[kind](blocks, self._spread)
        return blocks.tobytes()


def _half(value: float) -> np.ndarray:
    return np.frombuffer(np.float16(value).tobytes(), np.uint8)


def _plain32(blocks: np.ndarray, spread: float) -> None:
    bits = blocks.view(np.uint32)
    bits[:] = (bits & 0x807FFFFF) | (126 + math.floor(math.log2(spread))) << 23


def _plain16(blocks: np.ndarray, spread: float) -> None:
    bits = blocks.view(np.uint16)
    bits[:] = (bits & 0x807F) | (126 + math.floor(math.log2(spread))) << 7


def _q4_0(blocks: np.ndarray, spread: float) -> None:
    blocks[:, :2] = _half(spread / 8)


def _q4_1(blocks: np.ndarray, spread: float) -> None:
    blocks[:, :2], blocks[:, 2:4] = _half(2 * spread / 15), _half(-spread)


def _q8_0(blocks: np.ndarray, spread: float) -> None:
    blocks[:, :2] = _half(spread / 128)


def _q4_k(blocks: np.ndarray, spread: float) -> None:
    # The scales and the minima of all groups are 63, the largest number of 6 bits.
    blocks[:, :2], blocks[:, 2:4], blocks[:, 4:16] = _half(2 * spread / 15 / 63), _half(spread / 63), 0xFF


def _q6_k(blocks: np.ndarray, spread: float) -> None:
    blocks[:, 192:208], blocks[:, 208:] = 64, _half(spread / 32 / 64)


def _iq4_xs(blocks: np.ndarray, spread: float) -> None:
    # The scales of all groups are 63 - 32, and the largest of the numbers of 4 bits is 127.
    blocks[:, :2], blocks[:, 2:8] = _half(spread / 127 / 31), 0xFF


def _mxfp4(blocks: np.ndarray, spread: float) -> None:
    # The largest of the numbers of 4 bits is 6.
    blocks[:, 0] = 127 + math.floor(math.log2(spread / 6))


_FILLERS: Mapping[str, Callable[[np.ndarray, float], None]] = {
    "F32": _plain32,
    "BF16": _plain16,
    "Q4_0": _q4_0,
    "Q4_1": _q4_1,
    "Q8_0": _q8_0,
    "Q4_K": _q4_k,
    "Q6_K": _q6_k,
    "IQ4_XS": _iq4_xs,
    "MXFP4": _mxfp4,
}
