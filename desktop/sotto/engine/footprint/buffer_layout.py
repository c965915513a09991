"""How MLX lays out arrays in buffers: which operations view the buffer of their input, and which copy it."""

import math
from dataclasses import dataclass

from sotto.engine.footprint.graph import RESHAPES, Operation, Shape


@dataclass(slots=True)
class Buffer:
    """Memory that arrays and running operations share; `holders` counts both."""

    nbytes: int
    holders: int = 0


@dataclass(slots=True)
class Array:
    """One array: where its elements are, and how many operations not yet dispatched will read it."""

    buffer: Buffer
    shape: Shape
    strides: Shape
    itemsize: int
    readers: int = 0

    @property
    def extent(self) -> int:
        """Number of elements of the buffer from the first to the last one of the array."""
        return 1 + sum((length - 1) * stride for length, stride in zip(self.shape, self.strides, strict=True))

    @property
    def dense(self) -> bool:
        """Whether there are no gaps between its elements, whatever their order."""
        own = (length for length, stride in zip(self.shape, self.strides, strict=True) if stride)
        return self.extent == math.prod(own)

    @property
    def in_order(self) -> bool:
        """Whether its elements are contiguous in row-major order."""
        expected = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != expected:
                return False
            expected *= length
        return True

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)


def columns(arrays: list[Array]) -> bool:
    """Return whether all are contiguous in column-major order."""
    return all(Array(array.buffer, array.shape[::-1], array.strides[::-1], array.itemsize).in_order for array in arrays)


def in_order(shape: Shape) -> Shape:
    """Return the strides of a contiguous array in row-major order."""
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


def matrices(array: Array) -> bool:
    """Return whether the last two dimensions are a contiguous matrix or the transpose of one."""
    rows, columns = array.shape[-2:]
    down, along = array.strides[-2:]
    return (down == columns and along == 1) or (down == 1 and along == rows)


def reshape_strides(array: Array, shape: Shape) -> Shape | None:
    """Return the strides with which `array` can be viewed in another shape, or None if it has to be copied."""
    if array.in_order:
        return in_order(shape)
    old = [(length, stride) for length, stride in zip(array.shape, array.strides, strict=True) if length != 1]
    runs: list[list[int]] = []
    for length, stride in old:
        if runs and runs[-1][1] == length * stride:
            runs[-1] = [runs[-1][0] * length, stride]
        else:
            runs.append([length, stride])
    strides: list[int] = []
    for length in reversed(shape):
        if length == 1:
            strides.append(strides[-1] if strides else 1)
            continue
        while runs and runs[-1][0] == 1:
            runs.pop()
        if not runs or runs[-1][0] % length:
            return None
        strides.append(runs[-1][1])
        runs[-1] = [runs[-1][0] // length, runs[-1][1] * length]
    return tuple(reversed(strides))


def view_strides(operation: Operation, source: Array, shape: Shape, index: int) -> Shape:
    """Return the strides of a view."""
    kind, details = operation.name, operation.details
    if kind in RESHAPES:
        strides = reshape_strides(source, shape)
        assert strides is not None
        return strides
    if kind == "Transpose":
        return tuple(source.strides[axis] for axis in details[0])
    if kind in ("Broadcast", "BroadcastAxes"):
        missing = len(shape) - len(source.shape)
        kept = zip(source.shape, source.strides, shape[missing:], strict=True)
        return (0,) * missing + tuple(stride if own == length else 0 for own, stride, length in kept)
    if kind == "Slice":
        return tuple(stride * step for stride, step in zip(source.strides, details[2], strict=True))
    if kind == "AsStrided":
        return tuple(details[1])
    if kind == "ExpandDims":
        widened = list(source.strides)
        for axis in sorted(details[0]):
            widened.insert(axis, 1)
        return tuple(widened)
    if kind == "Squeeze":
        gone = {axis % len(source.shape) for axis in details[0]}
        return tuple(stride for axis, stride in enumerate(source.strides) if axis not in gone)
    return source.strides if len(source.strides) == len(shape) else in_order(shape)
