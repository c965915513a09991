"""Reading the tensors of a GGUF file, converted on their way.

The file is mapped into memory and taken a slice at a time, so that beside the model there is never more than the
largest of its tensors. What was read is handed back to the system at once.
"""

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mlx.core as mx

from sotto.engine.gguf import repack
from sotto.engine.gguf.conversion import ConvertedFile, Recipe
from sotto.errors import BrokenModelError
from sotto.store.files import open_regular
from sotto.store.gguf.block_types import BY_NAME
from sotto.store.printable import printable_path
from sotto.store.records import TensorInfo

# Elements that are converted at once: enough for a call to cost little, few enough to stay in a core's cache.
_SLICE = 1 << 19

Step = tuple[dict[str, mx.array], int]
Evaluate = Callable[[Sequence[mx.array], str], None]


def steps(file: ConvertedFile, evaluate: Evaluate) -> Iterator[Step]:
    """Yield the tensors of a file, evaluated, with the bytes that were read since the step before.

    A large tensor takes several steps, of which all but the last have no tensors.

    Args:
        file: What to read, and what becomes of it.
        evaluate: Computes arrays; takes the name of a tensor that they are of.

    Raises:
        BrokenModelError: The file cannot be read any more, or became shorter.
    """
    end = max((part.end for recipe in file.recipes for part in recipe.parts), default=0)
    with open_regular(file.path) as (stream, size):
        _require_size(file, size, end)
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as content:
            for recipe in file.recipes:
                # Touching what is no longer there would end the process.
                _require_size(file, os.fstat(stream.fileno()).st_size, end)
                yield from _steps(recipe, content, evaluate)
                _release(mapped, recipe)


def _require_size(file: ConvertedFile, size: int, needed: int) -> None:
    """Raise BrokenModelError unless a file still has the bytes to read."""
    if size < needed:
        raise BrokenModelError(f"{printable_path(file.path)} was changed while the model was being loaded; try again.")


def _steps(recipe: Recipe, content: memoryview, evaluate: Evaluate) -> Iterator[Step]:
    name = recipe.place.name
    if len(recipe.parts) > 1:
        keys, values = (_read_numbers(part, content, evaluate, name) for part in recipe.parts)
        # A row of keys for each of its dimensions, then those of values, head by head.
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
    for made, info in recipe.outputs():
        # Taken out of the list, so that the pieces are gone before the next ones are joined.
        joined = mx.concatenate(columns.pop(0))
        tensors[made] = _interleave_halves(joined.reshape(info.shape), recipe.place.heads)
        evaluate([tensors[made]], name)
    yield tensors, 0


def _plain(recipe: Recipe, part: TensorInfo, content: memoryview) -> Iterator[tuple[tuple[mx.array, ...], int]]:
    """Yield the numbers of a tensor that is not quantized, in their final type."""
    for raw in _slices(part, content):
        numbers = raw.reshape(-1).view(repack.PLAIN[part.dtype])
        if recipe.place.shift:
            numbers = (numbers.astype(mx.float32) + recipe.place.shift).astype(numbers.dtype)
        yield (numbers.astype(recipe.dtype),), raw.nbytes


def _repack(recipe: Recipe, part: TensorInfo, content: memoryview) -> Iterator[tuple[tuple[mx.array, ...], int]]:
    """Yield words, scales and biases of a quantized tensor, a row for each block."""
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
    """Yield the blocks of a tensor, uint8 `[blocks, bytes of a block]`, some at a time."""
    block = BY_NAME[part.dtype]
    step = _SLICE // block.size * block.nbytes
    for start in range(part.start, part.end, step):
        with content[start : min(start + step, part.end)] as piece:
            yield mx.array(piece).reshape(-1, block.nbytes)


def _interleave_halves(array: mx.array, heads: int) -> mx.array:
    """Return rows whose halves take turns within each head as one half after the other."""
    if not heads:
        return array
    turns = array.reshape(heads, -1, 2, *array.shape[1:])
    return mx.contiguous(turns.swapaxes(1, 2)).reshape(array.shape)


def _release(mapped: mmap.mmap, recipe: Recipe) -> None:
    """Hand the pages of what was read back to the system, where that can be asked for."""
    if hasattr(mapped, "madvise"):
        for part in recipe.parts:
            start = part.start // mmap.PAGESIZE * mmap.PAGESIZE
            mapped.madvise(mmap.MADV_DONTNEED, start, part.end - start)
