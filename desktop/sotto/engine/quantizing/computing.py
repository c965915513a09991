"""Computing the tensors of an import slice by slice, so that memory does not depend on the size of a tensor.

A slice is some rows of a tensor. Rows are quantized independently, so the result has the same bits as if the whole
tensor were quantized at once.
"""

import json
import math
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import mlx.core as mx

from sotto.engine.gguf import repack
from sotto.engine.gguf.gguf_names import Place
from sotto.engine.gguf.regrouping import reorder
from sotto.engine.weights.fusing import Fusion
from sotto.store.adapters.adapter_files import open_adapter
from sotto.store.files import open_regular, read_exactly
from sotto.store.gguf.block_types import BY_NAME
from sotto.store.importing.float_tensors import BLOCK
from sotto.store.importing.import_plan import Computed, Making, Part
from sotto.store.importing.quant_types import QUANT_TYPES
from sotto.store.importing.writing import Buffer

# Elements of a slice: enough to make calls cheap, few enough for the memory to be a fraction of what a process takes.
_SLICE_ELEMENTS = 1 << 22
_DTYPES = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16}

Slice = tuple[tuple[Buffer, ...], int]


def compute(tensor: Computed) -> Iterator[Slice]:
    """Yield the bytes of each output of a tensor, slice by slice, with the bytes of the source that were read.

    Raises:
        BrokenModelError: A file cannot be read, or became shorter.
    """
    for elements, count in _elements(tensor):
        if not tensor.quantization:
            arrays: tuple[mx.array, ...] = (elements,)
        else:
            kind = QUANT_TYPES[tensor.quantization]
            arrays = tuple(mx.quantize(elements, group_size=kind.group, bits=kind.bits, mode=kind.mode))
        mx.eval(arrays)
        yield tuple([_bytes_of(array) for array in arrays]), count


def _elements(tensor: Computed) -> Iterator[tuple[mx.array, int]]:
    """Yield the elements of a tensor, some rows at a time, in the type that they have before they are quantized."""
    if tensor.fused is None:
        yield from _own_elements(tensor)
        return
    fusion = _fusion(tensor.fused.adapter, tensor.fused.config)
    names = tensor.fused.names
    height, row = math.prod(tensor.shape[:-1]) // len(names), 0
    for elements, count in _own_elements(tensor):
        rows = elements.reshape(-1, tensor.shape[-1])
        name = names[row // height]
        yield fusion.fused(name, rows, row % height) if name else rows, count
        row += rows.shape[0]


@lru_cache(maxsize=1)
def _fusion(adapter: Path, config: str) -> Fusion:
    return Fusion(open_adapter(adapter), json.loads(config))


def _own_elements(tensor: Computed) -> Iterator[tuple[mx.array, int]]:
    """Yield the elements of a tensor without what an adapter adds, some rows at a time."""
    if tensor.making is Making.LATENT:
        yield _latent(tensor)
        return
    for number, part in enumerate(tensor.parts):
        if tensor.making is Making.BLOCK_FP8:
            yield from _from_fp8(part, tensor.scales[number], _DTYPES[tensor.dtype])
        else:
            yield from _decoded(part, tensor)


def _decoded(part: Part, tensor: Computed) -> Iterator[tuple[mx.array, int]]:
    """Yield the elements of a part of the source, or of blocks of a GGUF file."""
    place: Place = tensor.place or Place("")
    columns = part.shape[-1]
    size = _row_bytes(part, columns)
    rows = (part.end - part.start) // size
    # Rows that change places are read at once, still in their blocks.
    ordered = _ordered(part, place) if place.order else None
    step = max(1, _SLICE_ELEMENTS // columns)
    for start in range(0, rows, step):
        count = min(step, rows - start)
        raw = _read(part, start, count)[0] if ordered is None else ordered[start * size : (start + count) * size]
        elements = _numbers(part, raw)
        if place.shift:
            elements = elements.astype(mx.float32) + place.shift
        if place.logarithm:
            elements = mx.log(-elements.astype(mx.float32))
        # A tensor whose dimensions change is quantized by its new rows, and small.
        width = columns if place.fold is None else tensor.shape[-1]
        yield elements.reshape(-1, width).astype(_DTYPES[tensor.dtype]), count * size


def _ordered(part: Part, place: Place) -> mx.array:
    """Return the bytes of a part with its rows in the order of the definition."""
    rows = part.shape[0]
    size = (part.end - part.start) // rows
    with open_regular(part.path) as (file, _):
        file.seek(part.start)
        view: Any = memoryview(read_exactly(file, rows * size, part.path))
    return reorder(mx.array(view).reshape(rows, size), place.order).reshape(-1)


def _from_fp8(part: Part, scales: Part, dtype: mx.Dtype) -> Iterator[tuple[mx.array, int]]:
    """Yield the elements of a matrix in FP8, or of a stack of matrices, times the scales of their blocks."""
    *outer, rows, columns = part.shape
    count = 1
    for size in outer:
        count *= size
    down, across = scales.shape[-2:]
    raw, scale_bytes = _read(scales, 0, count * down)
    factors = raw.view(_DTYPES[scales.dtype]).astype(mx.float32).reshape(count, down, across)
    step = max(1, _SLICE_ELEMENTS // (columns * BLOCK)) * BLOCK
    for matrix in range(count):
        for start in range(0, rows, step):
            taken = min(step, rows - start)
            raw, nbytes = _read(part, matrix * rows + start, taken)
            elements = mx.from_fp8(raw.reshape(taken, columns), dtype=mx.bfloat16)
            blocks = factors[matrix, start // BLOCK : -(-(start + taken) // BLOCK)]
            spread = mx.repeat(mx.repeat(blocks, BLOCK, axis=0)[:taken], BLOCK, axis=1)[:, :columns]
            yield (elements.astype(mx.float32) * spread).astype(dtype), nbytes + scale_bytes
            scale_bytes = 0


def _latent(tensor: Computed) -> tuple[mx.array, int]:
    """Return the joined halves of a latent projection: for each head, the rows of the keys and then of the values."""
    halves = []
    total = 0
    for part in tensor.parts:
        rows = part.shape[0] * part.shape[1]
        raw, nbytes = _read(part, 0, rows)
        halves.append(_numbers(part, raw).reshape(part.shape))
        total += nbytes
    keys, values = halves
    joined = mx.concatenate([keys.swapaxes(1, 2), values], axis=1)
    return joined.reshape(tensor.shape).astype(_DTYPES[tensor.dtype]), total


def _read(part: Part, row: int, count: int) -> tuple[mx.array, int]:
    """Return some rows of a part as bytes, with their number."""
    size = _row_bytes(part, part.shape[-1])
    with open_regular(part.path) as (file, _):
        file.seek(part.start + row * size)
        content = read_exactly(file, count * size, part.path)
    view: Any = memoryview(content)
    return mx.array(view), len(content)


def _row_bytes(part: Part, columns: int) -> int:
    """Return the bytes of so many elements."""
    if part.dtype in BY_NAME:
        block = BY_NAME[part.dtype]
        return columns // block.size * block.nbytes
    return columns


def _numbers(part: Part, raw: mx.array) -> mx.array:
    """Return the elements in bytes of a part, in any shape."""
    if part.dtype in _DTYPES:
        return raw.view(_DTYPES[part.dtype])
    return repack.dequantize(part.dtype, raw.reshape(-1, BY_NAME[part.dtype].nbytes))


def _bytes_of(array: mx.array) -> Buffer:
    # Python knows no bfloat16.
    flat: Any = mx.contiguous(array).reshape(-1).view(mx.uint8)
    return memoryview(flat)
