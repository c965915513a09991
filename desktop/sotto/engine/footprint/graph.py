"""Lists the operations of a forward pass and the shapes of its arrays without computing anything.

WORKAROUND: MLX cannot list every operation; check at upgrades. The pass is run with arrays that have a shape but no
content, and `mx.export_function` reports its operations. Those that it cannot report are replaced by others that need
the same memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from sotto.engine.kernels import device

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
# Stands for a kernel that MLX cannot list: an operation that no model uses.
_STAND_IN = "ArcTanh"
STAND_IN = "Kernel"
# MLX follows a branch to its end once so many operations are waiting.
_WIDTH = 20


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a graph.

    Attributes:
        name: MLX's name for it.
        inputs: Ids of the arrays that it reads.
        outputs: Ids of the arrays that it creates.
        details: Its other arguments as MLX reports them, for example the axes of a transposition.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    details: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Operations in an order in which they can run, and the arrays that connect them.

    Attributes:
        operations: The operations.
        shapes: Shape of each array, by id.
        itemsizes: Bytes of one element of each array, by id.
        outputs: Ids of the results.
        consumed: Ids of inputs that are not needed afterwards; the other inputs stay in memory.
    """

    operations: tuple[Operation, ...]
    shapes: Mapping[str, Shape]
    itemsizes: Mapping[str, int]
    outputs: tuple[str, ...]
    consumed: frozenset[str] = frozenset()


def trace(
    function: Callable[..., Sequence[mx.array]], consumed: Sequence[mx.array], lasting: Sequence[mx.array]
) -> Graph:
    """Return the graph of `function(*consumed, *lasting)` without computing it.

    Args:
        function: Takes arrays and returns those to evaluate. It is called once, with arrays that have a
            shape but no content.
        consumed: Inputs that are not needed afterwards; `function` may write over them.
        lasting: Inputs that stay in memory.
    """
    lines: list[dict[str, Any]] = []
    with _listable_only():
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
def _listable_only() -> Iterator[None]:
    """Replace operations that MLX cannot list with others that need the same memory, and compile no functions."""
    contiguous, dequantize = mx.contiguous, mx.dequantize

    def by_shape(array: mx.array, *_: object, **__: object) -> mx.array:
        return mx.reshape(mx.reshape(array, (-1,)), array.shape)

    def by_bits(w: mx.array, scales: mx.array, *others: Any, mode: str = "affine", **options: Any) -> mx.array:
        if mode == "nvfp4":
            # Unpacked as mxfp4, which has half as many scales.
            return dequantize(w, scales[..., ::2], **(options | {"group_size": 32, "bits": 4, "mode": "mxfp4"}))
        if mode == "mxfp8":
            like = mx.zeros((*w.shape[:-1], w.shape[-1] * 4), dtype=options.get("dtype") or mx.bfloat16)
            return kernel(like, w, scales)
        return dequantize(w, scales, *others, **(options | {"mode": mode}))

    mx.contiguous, mx.dequantize = by_shape, by_bits
    mx.disable_compile()
    try:
        yield
    finally:
        mx.contiguous, mx.dequantize = contiguous, dequantize
        if device.compiles():
            mx.enable_compile()


def kernel(like: mx.array, *inputs: mx.array) -> mx.array:
    """Return a placeholder for the output of a kernel while a function is traced: new memory, shaped like `like`.

    Args:
        like: Gives the shape and the floating-point type; its content does not matter.
        inputs: The arrays that the kernel reads.
    """
    return mx.arctanh(mx.depends([like], list(inputs))[0])


def order(graph: Graph) -> list[Operation]:
    """Return the operations that the outputs need, in the order in which MLX dispatches them."""
    return order_of(graph.outputs, makers_of(graph))


def makers_of(graph: Graph) -> dict[str, Operation]:
    """Return the operation that makes each array, by the id of the array."""
    return {name: operation for operation in graph.operations for name in operation.outputs}


def order_of(outputs: tuple[str, ...], makers: Mapping[str, Operation]) -> list[Operation]:
    """Return the operations that arrays need, in the order in which MLX dispatches them.

    Args:
        outputs: The ids of the arrays.
        makers: The operation that makes each array; those without one are there already.
    """
    last = Operation("Synchronizer", outputs, ())
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
