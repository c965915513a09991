"""GGUF tensors whose bytes only have to be put in another order, which native kernels do on all cores.

They take each block apart (`desktop/native/gguf/regrouping.h`); what has to be computed is left to `repack`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import mlx.core as mx

from sotto.engine.gguf.conversion import Recipe
from sotto.engine.gguf.gguf_names import Order
from sotto.engine.gguf.kept import KEPT, KeptType
from sotto.engine.gguf.repack import PLAIN_DTYPES
from sotto.store.gguf.block_types import BY_NAME

# The change of a part of a block, its first byte, its length, and a power of two.
_Part = tuple[str, int, int, int]
_Outputs = Sequence[Sequence[_Part]]

# Words, scales and biases: a code is an offset from half the number of codes, so the bias is so many negative scales.
_OUTPUTS: Mapping[str, _Outputs] = {
    "Q4_0": ([("nibbles", 2, 16, 0)], [("none", 0, 2, 0)], [("negated", 0, 2, 3)]),
    "Q4_1": ([("nibbles", 4, 16, 0)], [("none", 0, 2, 0)], [("none", 2, 2, 0)]),
    "Q8_0": ([("offset", 2, 32, 0)], [("none", 0, 2, 0)], [("negated", 0, 2, 7)]),
    "MXFP4": ([("nibbles", 1, 16, 0)], [("none", 0, 1, 0)]),
}
_DTYPES = {"U32": mx.uint32, "U16": mx.uint16, "I16": mx.int16, "U8": mx.uint8, "I8": mx.int8, **PLAIN_DTYPES}
# What is taken apart between two checks for Stop.
_STEP_BYTES = 32 << 20


def can_regroup(recipe: Recipe) -> bool:
    """Return whether a tensor's bytes only have to be put in another order."""
    place = recipe.place
    if len(recipe.parts) > 1 or place.shift or place.logarithm:
        return False
    kind = recipe.parts[0].dtype
    if recipe.layout is None:
        return recipe.dtype == PLAIN_DTYPES[kind]
    if recipe.layout.is_kept:
        return True
    return kind in _OUTPUTS and (recipe.layout.mode != "affine" or recipe.dtype == mx.float16)


def regroup(kernels: Any, recipe: Recipe, content: Any) -> Iterator[tuple[dict[str, mx.array], int]]:
    """Yield the bytes read in each step, and with the last one the arrays by name.

    Args:
        kernels: The native kernels.
        recipe: One for which `can_regroup` is true.
        content: The file.
    """
    (part,), order = recipe.parts, recipe.place.order
    heads = order.groups if order and order.separates_halves else 0
    *rows, columns = part.shape
    outputs: _Outputs
    if recipe.layout is None:
        columns = 1 if heads and not rows else columns
        block, row_blocks = columns * recipe.dtype.size, 1
        outputs = ([("none", 0, block, 0)],)
    else:
        kind = BY_NAME[part.dtype]
        block, row_blocks = kind.nbytes, columns // kind.size
        outputs = _kept_outputs(KEPT[recipe.layout.mode], block) if recipe.layout.is_kept else _OUTPUTS[part.dtype]
    head_rows = part.shape[0] // heads if heads else 0
    regrouping = kernels.Regrouping(part.nbytes // block, block, outputs, row_blocks, head_rows)
    step = max(1, _STEP_BYTES // block) * block
    for start in range(part.start, part.end, step):
        end = min(start + step, part.end)
        with content[start:end] as piece:
            regrouping.add(piece)
        yield {}, end - start
    arrays = {
        name: array.reshape(-1).view(_DTYPES[info.dtype]).reshape(info.shape)
        for (name, info), array in zip(recipe.outputs(), regrouping.outputs(), strict=True)
    }
    yield arrays if heads else {name: reorder(array, order) for name, array in arrays.items()}, 0


def reorder(array: mx.array, order: Order | None) -> mx.array:
    """Return an array with its rows reordered; unchanged for None."""
    if order is None:
        return array
    kept, rows = array[: order.skipped], array[order.skipped :]
    grid = rows.reshape(order.groups, -1, order.inner, order.width, *array.shape[1:])
    moved = mx.contiguous(grid.swapaxes(1, 2)).reshape(rows.shape)
    return mx.concatenate([kept, moved]) if order.skipped else moved


def _kept_outputs(kept: KeptType, block: int) -> _Outputs:
    """Return the codes of a block, and its scales, which lie before and after them."""
    end = kept.start + kept.code_bytes
    scales = [("none", 0, kept.start, 0), ("none", end, block - end, 0)]
    return [("none", kept.start, kept.code_bytes, 0)], [part for part in scales if part[2]]
