"""Reading and converting the tensors of a GGUF file.

The file is mapped into memory and converted slice by slice, by native kernels where they can, so that besides the
model, at most its largest tensor is in memory. Pages that have been read are released to the system at once.
"""

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mlx.core as mx

from sotto.engine.gguf import repack
from sotto.engine.gguf.conversion import ConvertedFile, Recipe
from sotto.engine.gguf.regrouping import can_regroup, regroup
from sotto.errors import BrokenModelError
from sotto.store.files import open_regular
from sotto.store.gguf.block_types import BY_NAME
from sotto.store.printable import printable_path
from sotto.store.records import TensorInfo

# Elements converted at once: enough to make calls cheap, few enough to stay in a core's cache.
_SLICE_ELEMENTS = 1 << 19

Step = tuple[dict[str, mx.array], int]
Evaluate = Callable[[Sequence[mx.array], str], None]


def steps(file: ConvertedFile, evaluate: Evaluate, kernels: Any | None = None) -> Iterator[Step]:
    """Yield the evaluated tensors of a file, by name, with the bytes read since the previous step.

    A large tensor takes several steps, of which only the last yields it.

    Args:
        file: The file, with its conversion.
        evaluate: Evaluates arrays; its second argument is the name of the tensor that they belong to.
        kernels: The native kernels, or None.

    Raises:
        BrokenModelError: The file can no longer be read, or became shorter.
    """
    end = max((part.end for recipe in file.recipes for part in recipe.parts), default=0)
    with open_regular(file.path) as (stream, size):
        _require_size(file, size, end)
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as content:
            for recipe in file.recipes:
                # Reading mapped pages beyond the end of the file would kill the process.
                _require_size(file, os.fstat(stream.fileno()).st_size, end)
                if kernels is not None and can_regroup(recipe):
                    yield from regroup(kernels, recipe, content)
                else:
                    yield from _steps(recipe, content, evaluate)
                _release(mapped, recipe)


def _require_size(file: ConvertedFile, size: int, needed: int) -> None:
    """Raise BrokenModelError if a file has become too short."""
    if size < needed:
        raise BrokenModelError(f"{printable_path(file.path)} was changed while the model was being loaded; try again.")


def _steps(recipe: Recipe, content: memoryview, evaluate: Evaluate) -> Iterator[Step]:
    name = recipe.place.name
    if len(recipe.parts) > 1:
        keys, values = (_read_numbers(part, content, evaluate, name) for part in recipe.parts)
        # For each head, the rows of the keys and then those of the values.
        joined = mx.concatenate([keys.swapaxes(1, 2), values], axis=1).reshape(recipe.shape).astype(recipe.dtype)
        evaluate([joined], name)
        yield {name: joined}, recipe.nbytes
        return
    (part,) = recipe.parts
    slices = _plain(recipe, part, content) if recipe.layout is None else _repack(recipe, part, content)
    pieces: list[tuple[mx.array, ...]] = []
    for arrays, nbytes in slices:
        evaluate(arrays, name)
        pieces.append(arrays)
        yield {}, nbytes
    columns = [list(column) for column in zip(*pieces, strict=True)]
    pieces.clear()
    tensors = {}
    for output, info in recipe.outputs():
        # Removed from the list, so that the pieces are freed before the next ones are joined.
        joined = mx.concatenate(columns.pop(0))
        tensors[output] = _separate_halves(joined.reshape(info.shape), recipe.place.heads)
        evaluate([tensors[output]], name)
    yield tensors, 0


def _plain(recipe: Recipe, part: TensorInfo, content: memoryview) -> Iterator[tuple[tuple[mx.array, ...], int]]:
    """Yield slices of an unquantized tensor in its final type, with the bytes read for each."""
    for raw in _slices(part, content):
        numbers = raw.reshape(-1).view(repack.PLAIN_DTYPES[part.dtype])
        if recipe.place.shift:
            numbers = (numbers.astype(mx.float32) + recipe.place.shift).astype(numbers.dtype)
        yield (numbers.astype(recipe.dtype),), raw.nbytes


def _repack(recipe: Recipe, part: TensorInfo, content: memoryview) -> Iterator[tuple[tuple[mx.array, ...], int]]:
    """Yield slices of a quantized tensor as words, scales and biases, a row per block, with the bytes read for each."""
    assert recipe.layout is not None
    for raw in _slices(part, content):
        yield repack.repack(part.dtype, raw, recipe.layout, recipe.dtype), raw.nbytes


def _read_numbers(part: TensorInfo, content: memoryview, evaluate: Evaluate, name: str) -> mx.array:
    found = []
    for raw in _slices(part, content):
        numbers = repack.dequantize(part.dtype, raw)
        evaluate([numbers], name)
        found.append(numbers.reshape(-1))
    return mx.concatenate(found).reshape(part.shape)


def _slices(part: TensorInfo, content: Any) -> Iterator[mx.array]:
    """Yield slices of a tensor's blocks, uint8 `[blocks, bytes of a block]`."""
    block = BY_NAME[part.dtype]
    step = _SLICE_ELEMENTS // block.size * block.nbytes
    for start in range(part.start, part.end, step):
        with content[start : min(start + step, part.end)] as piece:
            yield mx.array(piece).reshape(-1, block.nbytes)


def _separate_halves(array: mx.array, heads: int) -> mx.array:
    """Reorder rows so that the two interleaved halves of each head follow one another; unchanged for 0 heads."""
    if not heads:
        return array
    pairs = array.reshape(heads, -1, 2, *array.shape[1:])
    return mx.contiguous(pairs.swapaxes(1, 2)).reshape(array.shape)


def _release(mapped: mmap.mmap, recipe: Recipe) -> None:
    """Release the pages that were read, on systems that support it."""
    if hasattr(mapped, "madvise"):
        for part in recipe.parts:
            start = part.start // mmap.PAGESIZE * mmap.PAGESIZE
            mapped.madvise(mmap.MADV_DONTNEED, start, part.end - start)
