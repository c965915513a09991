"""What a forward pass computes, as a list of operations and shapes, found without computing anything.

The pass is run with arrays that have a shape and no content, and MLX lists its operations.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

Shape = tuple[int, ...]
VIEWS = frozenset(
    """
    AsStrided Broadcast BroadcastAxes Copy CustomTransforms Depends ExpandDims Slice Split Squeeze StopGradient
    Transpose View
    """.split()
)
RESHAPES = frozenset(("Reshape", "Flatten", "Unflatten"))
UNARY = frozenset(
    """
    Abs ArcCos ArcCosh ArcSin ArcSinh ArcTan ArcTanh AsType BitwiseInvert Ceil Conjugate Cos Cosh Erf ErfInv Exp Expm1
    Floor Log Log1p LogicalNot Negative Real Round Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh
    """.split()
)
BINARY = frozenset(
    """
    Add ArcTan2 BitwiseBinary Divide Equal Greater GreaterEqual Less LessEqual LogAddExp LogicalAnd LogicalOr Maximum
    Minimum Multiply NotEqual Power Remainder Subtract
    """.split()
)
# Stands for a kernel that MLX cannot list: an operation that no model has.
_STAND_IN = "ArcTanh"
STAND_IN = "Kernel"
# How many operations wait at most before a branch is followed to its end.
_WIDTH = 20


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a graph.

    Attributes:
        name: MLX's name of it.
        inputs: Ids of the arrays that it reads.
        outputs: Ids of those that it makes.
        details: What else MLX tells of it, for example the axes of a transposition.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    details: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Operations in an order in which they could run, and the arrays between them.

    Attributes:
        operations: What is computed.
        shapes: Shape of each array, by id.
        itemsizes: Bytes of one element of each array, by id.
        outputs: Ids of the arrays that are wanted in the end.
        consumed: Ids of inputs that nobody needs afterwards; the rest stays.
    """

    operations: tuple[Operation, ...]
    shapes: Mapping[str, Shape]
    itemsizes: Mapping[str, int]
    outputs: tuple[str, ...]
    consumed: frozenset[str] = frozenset()


def trace(
    function: Callable[..., Sequence[mx.array]], consumed: Sequence[mx.array], lasting: Sequence[mx.array]
) -> Graph:
    """Return the graph of `function(*consumed, *lasting)`, of which nothing is computed.

    Args:
        function: Takes arrays and returns those to evaluate. It is called once, with arrays that have a
            shape and no content.
        consumed: Inputs that are not needed afterwards; `function` may write over them.
        lasting: Inputs that are.
    """
    lines: list[dict[str, Any]] = []
    with _nameable():
        mx.export_function(lines.append, function, *consumed, *lasting)
    shapes: dict[str, Shape] = {}
    itemsizes: dict[str, int] = {}

    def learn(arrays: Iterable[tuple[str, Shape, mx.Dtype]]) -> tuple[str, ...]:
        for name, shape, dtype in arrays:
            shapes[name], itemsizes[name] = tuple(shape), dtype.size
        return tuple(name for name, *_ in arrays)

    operations = []
    makers: dict[str, Operation] = {}
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    for line in lines:
        kind = line["type"]
        if kind == "inputs":
            inputs = learn(line["inputs"])
        elif kind == "outputs":
            outputs = learn(line["outputs"])
        elif kind == "constants":
            learn([(name, array.shape, array.dtype) for name, array in line["constants"]])
        elif kind == "primitive":
            names = tuple(name for name, *_ in line["inputs"])
            details = tuple(line.get("arguments") or ())
            operation = Operation(line["name"], names, learn(line["outputs"]), details)
            if operation.name == _STAND_IN:
                operation = Operation(STAND_IN, makers[names[0]].inputs[1:], operation.outputs)
            makers |= dict.fromkeys(operation.outputs, operation)
            operations.append(operation)
    return Graph(tuple(operations), shapes, itemsizes, outputs, frozenset(inputs[: len(consumed)]))


@contextmanager
def _nameable() -> Iterator[None]:
    """Let what MLX cannot list be made of what it can, with the same memory."""
    contiguous, dequantize = mx.contiguous, mx.dequantize

    def by_shape(array: mx.array, *_: object, **__: object) -> mx.array:
        return mx.reshape(mx.reshape(array, (-1,)), array.shape)

    def by_bits(w: mx.array, scales: mx.array, *others: Any, mode: str = "affine", **options: Any) -> mx.array:
        if mode == "nvfp4":
            # Unpacked like mxfp4, which has half as many scales.
            return dequantize(w, scales[..., ::2], **(options | {"group_size": 32, "bits": 4, "mode": "mxfp4"}))
        if mode == "mxfp8":
            like = mx.zeros((*w.shape[:-1], w.shape[-1] * 4), dtype=options.get("dtype") or mx.bfloat16)
            return kernel(like, w, scales)
        return dequantize(w, scales, *others, **(options | {"mode": mode}))

    mx.contiguous, mx.dequantize = by_shape, by_bits
    try:
        yield
    finally:
        mx.contiguous, mx.dequantize = contiguous, dequantize


def kernel(like: mx.array, *inputs: mx.array) -> mx.array:
    """Return what stands for the output of a kernel while a function is traced: shape and type of `like`, new memory.

    Args:
        like: Only looked at for its shape and type; floating-point.
        inputs: What the kernel reads.
    """
    return mx.arctanh(mx.depends([like], list(inputs))[0])


def order(graph: Graph) -> list[Operation]:
    """Return the operations that the outputs need, in the order in which MLX dispatches them."""
    makers = {name: operation for operation in graph.operations for name in operation.outputs}
    last = Operation("Synchronizer", graph.outputs, ())
    waiting: dict[int, int] = {}
    stack = [last]
    while stack:
        for name in stack.pop().inputs:
            if (maker := makers.get(name)) is None:
                continue
            if id(maker) not in waiting:
                waiting[id(maker)] = 0
                stack.append(maker)
            waiting[id(maker)] += 1
    tape = [last]
    paused: list[tuple[Operation, int]] = []
    index = 0
    while waiting and (index < len(tape) or paused):
        if index < len(tape):
            operation, start = tape[index], 0
            index += 1
        else:
            operation, start = paused.pop()
        for position in range(start, len(operation.inputs)):
            if (maker := makers.get(operation.inputs[position])) is None:
                continue
            if len(tape) - index >= _WIDTH:
                paused.append((operation, position))
                break
            waiting[id(maker)] -= 1
            if not waiting[id(maker)]:
                del waiting[id(maker)]
                tape.append(maker)
    return tape[:0:-1]
