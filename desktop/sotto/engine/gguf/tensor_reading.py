"""Reading and converting the tensors of a GGUF file.

The file is mapped into memory and converted slice by slice, by native kernels where they can, so that besides the
model, at most its largest tensor is in memory. Pages that have been read are released to the system at once.
"""

import mmap
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import FileIO
from typing import Any

import mlx.core as mx

from sotto.engine.gguf import repack
from sotto.engine.gguf.conversion import ConvertedFile, Recipe
from sotto.engine.gguf.regrouping import can_regroup, regroup, reorder
from sotto.engine.gguf.tower_recipes import TowerRecipe
from sotto.errors import BrokenModelError
from sotto.store.files import open_regular
from sotto.store.gguf.block_types import BY_NAME
from sotto.store.printable import printable_path
from sotto.store.records import FilePart, TensorInfo

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
    with ExitStack() as opened:
        content = Content([opened.enter_context(_mapped(part, file)) for part in file.parts])
        for recipe in file.needed:
            # Reading mapped pages beyond the end of a file would kill the process.
            content.require()
            if isinstance(recipe, TowerRecipe):
                yield _of_tower(recipe, content, evaluate)
            elif kernels is not None and can_regroup(recipe):
                yield from regroup(kernels, recipe, content)
            else:
                yield from _steps(recipe, content, evaluate)
            content.release(recipe)


@dataclass(frozen=True, slots=True)
class _Mapped:
    """A file that is mapped into memory.

    Attributes:
        part: The file, and where its bytes begin among those of all files.
        stream: The open file.
        needed: The bytes that it has to have.
        pages: The mapping.
        bytes: Its bytes.
    """

    part: FilePart
    stream: FileIO
    needed: int
    pages: mmap.mmap
    bytes: memoryview

    def require(self) -> None:
        """Raise BrokenModelError if the file has become too short."""
        if os.fstat(self.stream.fileno()).st_size < self.needed:
            raise _changed(self.part)


class Content:
    """The bytes of a model in one file or several, as if these followed each other."""

    def __init__(self, files: Sequence[_Mapped]) -> None:
        """Join files, which are in order."""
        self._files = files

    def __getitem__(self, place: slice) -> Any:
        """Return the bytes at a place, which is within one file."""
        file = self._at(place.start)
        return file.bytes[place.start - file.part.start : place.stop - file.part.start]

    def require(self) -> None:
        """Raise BrokenModelError if a file has become too short."""
        for file in self._files:
            file.require()

    def release(self, recipe: Recipe | TowerRecipe) -> None:
        """Release the pages that were read, on systems that support it."""
        for part in recipe.parts:
            file = self._at(part.start)
            if hasattr(file.pages, "madvise"):
                begin, end = part.start - file.part.start, part.end - file.part.start
                start = begin // mmap.PAGESIZE * mmap.PAGESIZE
                file.pages.madvise(mmap.MADV_DONTNEED, start, end - start)

    def _at(self, position: int) -> _Mapped:
        return next(file for file in reversed(self._files) if file.part.start <= position)


@contextmanager
def _mapped(part: FilePart, file: ConvertedFile) -> Iterator[_Mapped]:
    """Map one of the files of a model into memory."""
    following = min((other.start for other in file.parts if other.start > part.start), default=sys.maxsize)
    ends = (info.end for recipe in file.needed for info in recipe.parts if part.start <= info.start < following)
    needed = max(ends, default=part.start) - part.start
    with open_regular(part.path) as (stream, size):
        if size < max(needed, 1):
            raise _changed(part)
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as pages, memoryview(pages) as content:
            yield _Mapped(part, stream, needed, pages, content)


def _changed(part: FilePart) -> BrokenModelError:
    return BrokenModelError(f"{printable_path(part.path)} was changed while the model was being loaded; try again.")


def _of_tower(recipe: TowerRecipe, content: Content, evaluate: Evaluate) -> Step:
    """Return a tensor of a tower, joined of its parts."""
    parts = [_read_numbers(part, content, evaluate, recipe.name) for part in recipe.parts]
    made = recipe.made(parts, reorder)
    evaluate([made], recipe.name)
    return {recipe.name: made}, recipe.nbytes


def _steps(recipe: Recipe, content: Content, evaluate: Evaluate) -> Iterator[Step]:
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
        tensors[output] = reorder(joined.reshape(info.shape), recipe.place.order)
        evaluate([tensors[output]], name)
    yield tensors, 0


def _plain(recipe: Recipe, part: TensorInfo, content: Content) -> Iterator[tuple[tuple[mx.array, ...], int]]:
    """Yield slices of an unquantized tensor in its final type, with the bytes read for each."""
    for raw in _slices(part, content):
        numbers = raw.reshape(-1).view(repack.PLAIN_DTYPES[part.dtype])
        if recipe.place.shift:
            numbers = (numbers.astype(mx.float32) + recipe.place.shift).astype(numbers.dtype)
        if recipe.place.logarithm:
            numbers = mx.log(-numbers.astype(mx.float32))
        yield (numbers.astype(recipe.dtype),), raw.nbytes


def _repack(recipe: Recipe, part: TensorInfo, content: Content) -> Iterator[tuple[tuple[mx.array, ...], int]]:
    """Yield slices of a quantized tensor as words, scales and biases, a row per block, with the bytes read for each."""
    assert recipe.layout is not None
    for raw in _slices(part, content):
        yield repack.repack(part.dtype, raw, recipe.layout, recipe.dtype), raw.nbytes


def _read_numbers(part: TensorInfo, content: Content, evaluate: Evaluate, name: str) -> mx.array:
    found = []
    for raw in _slices(part, content):
        numbers = repack.dequantize(part.dtype, raw)
        evaluate([numbers], name)
        found.append(numbers.reshape(-1))
    return mx.concatenate(found).reshape(part.shape)


def _slices(part: TensorInfo, content: Content) -> Iterator[mx.array]:
    """Yield slices of a tensor's blocks, uint8 `[blocks, bytes of a block]`."""
    block = BY_NAME[part.dtype]
    step = _SLICE_ELEMENTS // block.size * block.nbytes
    for start in range(part.start, part.end, step):
        with content[start : min(start + step, part.end)] as piece:
            yield mx.array(piece).reshape(-1, block.nbytes)
