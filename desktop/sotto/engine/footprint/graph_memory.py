"""The peak memory of MLX while it computes a graph, simulated without computing anything.

The evaluation is simulated with sizes in place of values, by the rules of MLX's CPU backend, which the others share but
for the size of tasks (`task_sizes`):

- Operations run in breadth-first order from the outputs, at most 20 wide, and reversed (`eval_impl` in MLX's
  `transforms.cpp`).
- Views share the buffer of their source. Elementwise operations overwrite an input that has no other reader. Reshaping
  an array that is not contiguous copies it, and so does a product with such a matrix.
- Memory is allocated when an operation is dispatched, and freed when its task has been computed. Dispatch is ahead of
  computation by up to 11 tasks, so the buffers of dozens of operations exist at the same time. Computation is assumed
  to be slow, as it is wherever memory matters.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sotto.engine.footprint.buffer_layout import (
    Array,
    Buffer,
    columns,
    in_order,
    matrices,
    reshape_strides,
    view_strides,
)
from sotto.engine.footprint.graph import (
    BINARY,
    RESHAPES,
    UNARY,
    VIEWS,
    Graph,
    Operation,
    Shape,
    makers_of,
    order,
    order_of,
)
from sotto.engine.footprint.task_sizes import CPU, TASKS_AHEAD, Pace

# An input is not overwritten by an output that is smaller by more bytes than this.
_SLACK = 16384
# These copy their first input unless they may overwrite it.
_UPDATES = frozenset(("SliceUpdate", "DynamicSliceUpdate", "Scatter", "ScatterAxis"))
# These need contiguous or transposed inputs.
_PRODUCTS = frozenset(("Matmul", "AddMM", "GatherMM", "SegmentedMM", "BlockMaskedMM"))
_PACKED_PRODUCTS = frozenset(("QuantizedMatmul", "GatherQMM", "QQMatmul"))


def peak(graph: Graph, pace: Pace = CPU) -> int:
    """Return the peak bytes while the outputs of `graph` are computed.

    Buffers of `graph.consumed` count from the beginning, because they are freed on the way; other inputs do not count.

    Args:
        graph: The graph.
        pace: That of the device that computes.
    """
    return _Player(graph, pace).play(graph.outputs, [order(graph)])


def stepwise_peak(graph: Graph, kept: int, pace: Pace = CPU) -> int:
    """Return the peak bytes while the outputs of `graph` are computed one after the other.

    Args:
        graph: The graph. Its outputs are in the order in which they are evaluated, and the next one begins when the one
            before is complete.
        kept: How many of the outputs, the last ones, are evaluated together and kept. The others are needed no longer
            than what is made of them.
        pace: That of the device that computes.
    """
    steps = len(graph.outputs) - kept
    results = graph.outputs[steps:]
    makers, parts = makers_of(graph), []
    for outputs in (*((name,) for name in graph.outputs[:steps]), results):
        parts.append(order_of(outputs, makers))
        for operation in parts[-1]:
            for name in operation.outputs:
                del makers[name]
    return _Player(graph, pace).play(results, parts)


@dataclass(slots=True)
class _Player:
    """Simulates an evaluation.

    Attributes:
        graph: The graph.
        pace: The sizes of tasks.
        active: Bytes allocated now.
        most: Peak bytes so far.
    """

    graph: Graph
    pace: Pace
    active: int = 0
    most: int = 0
    _arrays: dict[str, Array] = field(default_factory=dict)
    # The buffers that the tasks under way hold, the last task not being complete, and its steps and elements so far.
    _tasks: deque[list[Buffer]] = field(default_factory=lambda: deque([[]]))
    _steps: int = 0
    _elements: int = 0

    def play(self, kept: Iterable[str], parts: Sequence[Sequence[Operation]]) -> int:
        """Compute the parts of the graph in turn, and return the peak; `kept` are needed afterwards."""
        graph = self.graph
        readers: dict[str, int] = {}
        for operation in (operation for part in parts for operation in part):
            for name in operation.inputs:
                readers[name] = readers.get(name, 0) + 1
        for name in kept:
            readers[name] = readers.get(name, 0) + 1
        made = {name for operation in graph.operations for name in operation.outputs}
        for name, shape in graph.shapes.items():
            if name not in made and readers.get(name):
                # Inputs that are not consumed are not counted, and never overwritten, as they have other readers.
                lasting = name not in graph.consumed
                nbytes = 0 if lasting else math.prod(shape) * graph.itemsizes[name]
                self._arrays[name] = self._fresh(name, nbytes, readers[name] + lasting)
        for part in parts:
            for operation in part:
                self._dispatch(operation, readers)
            if len(parts) > 1:
                self._wait()
        return self.most

    def _fresh(self, name: str, nbytes: int, readers: int) -> Array:
        shape = self.graph.shapes[name]
        array = Array(Buffer(nbytes, 1), shape, in_order(shape), self.graph.itemsizes[name], readers)
        self._take(nbytes)
        return array

    def _take(self, nbytes: int) -> None:
        self.active += nbytes
        self.most = max(self.most, self.active)

    def _let_go(self, buffer: Buffer) -> None:
        buffer.holders -= 1
        if not buffer.holders:
            self.active -= buffer.nbytes

    def _dispatch(self, operation: Operation, readers: Mapping[str, int]) -> None:
        inputs = [self._arrays[name] for name in operation.inputs]
        scratch: list[Buffer] = []
        steps = self.pace.overhead
        for index, name in enumerate(operation.outputs):
            made, new_steps = self._make(operation, inputs, name, index, scratch)
            made.readers = readers.get(name, 0)
            self._arrays[name] = made
            steps += new_steps
        own = self._arrays[operation.outputs[0]].buffer
        held = {id(array.buffer): array.buffer for array in inputs if array.buffer is not own}
        for name in operation.outputs[1:]:
            held[id(self._arrays[name].buffer)] = self._arrays[name].buffer
        for buffer in held.values():
            buffer.holders += 1
        for _ in range(steps - 1):
            self._step()
        self._tasks[-1] += [*held.values(), *scratch]
        if steps:
            self._step(sum(min(array.size, array.extent) for array in inputs))
        for name in operation.inputs:
            self._read(name)
        for name in operation.outputs:
            if not self._arrays[name].readers:
                self._let_go(self._arrays.pop(name).buffer)
        while len(self._tasks) - 1 > TASKS_AHEAD:
            self._compute()

    def _step(self, elements: int = 0) -> None:
        """Count a step of the last task, which may end with it."""
        self._steps, self._elements = self._steps + 1, self._elements + elements
        most = self.pace.elements
        if self._steps >= self.pace.steps or (most is not None and self._elements >= most):
            self._tasks.append([])
            self._steps = self._elements = 0

    def _read(self, name: str) -> None:
        array = self._arrays[name]
        array.readers -= 1
        if not array.readers:
            self._let_go(self._arrays.pop(name).buffer)

    def _wait(self) -> None:
        """Complete all tasks."""
        while self._tasks:
            self._compute()
        self._tasks.append([])
        self._steps = self._elements = 0

    def _compute(self) -> None:
        """Complete one more task."""
        for buffer in self._tasks.popleft():
            self._let_go(buffer)

    def _make(
        self, operation: Operation, inputs: list[Array], name: str, index: int, scratch: list[Buffer]
    ) -> tuple[Array, int]:
        """Return an output of an operation and its number of steps; `scratch` collects its temporary buffers."""
        kind = operation.name
        shape, itemsize = self.graph.shapes[name], self.graph.itemsizes[name]
        if kind in VIEWS or (kind in RESHAPES and reshape_strides(inputs[0], shape) is not None):
            return self._shared(inputs[0], shape, view_strides(operation, inputs[0], shape, index), itemsize), 0
        if kind in UNARY or kind in BINARY or kind == "Select":
            return self._elementwise(inputs, name), 1
        if kind in _UPDATES:
            first = inputs[0]
            if first.dense and first.extent == first.size and self._free(first, name):
                return self._shared(first, shape, first.strides, itemsize), 1
            return self._fresh(name, math.prod(shape) * itemsize, 0), 2
        if kind == "Contiguous" and inputs[0].in_order:
            return self._shared(inputs[0], shape, inputs[0].strides, itemsize), 0
        if kind == "Softmax":
            if inputs[0].in_order and self._free(inputs[0], name):
                return self._shared(inputs[0], shape, inputs[0].strides, itemsize), 1
            return self._fresh(name, math.prod(shape) * itemsize, 0), 1
        steps = len(inputs) if kind == "Concatenate" else 1
        for copied in self._copies(kind, inputs, shape):
            self._take(copied)
            scratch.append(Buffer(copied, 1))
            steps += 1
        return self._fresh(name, math.prod(shape) * itemsize, 0), steps

    def _copies(self, kind: str, inputs: list[Array], shape: Shape) -> list[int]:
        """Return the bytes of each temporary array of an operation."""
        if kind in _PRODUCTS:
            return [array.size * array.itemsize for array in inputs[:2] if not matrices(array)]
        if kind in _PACKED_PRODUCTS:
            return [array.size * array.itemsize for array in inputs[:2] if not array.in_order]
        if kind == "Convolution":
            # Every window of the padded input is copied into a row.
            signal, filters = inputs[0], inputs[1]
            windows = math.prod(shape[:-1]) * math.prod(filters.shape[1:-1]) * signal.shape[-1]
            return [signal.size * signal.itemsize, windows * signal.itemsize]
        return []

    def _shared(self, source: Array, shape: Shape, strides: Shape, itemsize: int) -> Array:
        source.buffer.holders += 1
        return Array(source.buffer, shape, strides, itemsize)

    def _free(self, array: Array, name: str) -> bool:
        """Return whether output `name` may overwrite `array`."""
        nbytes = math.prod(self.graph.shapes[name]) * self.graph.itemsizes[name]
        return (
            array.readers == 1
            and array.buffer.holders == 1
            and array.itemsize == self.graph.itemsizes[name]
            and array.buffer.nbytes <= nbytes + _SLACK
        )

    def _elementwise(self, inputs: list[Array], name: str) -> Array:
        """Return the output of an elementwise operation: over an input, with the strides of one, or contiguous."""
        shape, itemsize = self.graph.shapes[name], self.graph.itemsizes[name]
        size = math.prod(shape)
        leading = [array for array in inputs if array.extent > 1] or inputs[:1]
        first = leading[0]
        alike = all(array.dense for array in leading) and (
            len(leading) == 1 or all(array.in_order for array in leading) or columns(leading)
        )
        for array in leading:
            fits = alike or (array.in_order and array.size == size)
            if fits and array.extent == (first.extent if alike else size) and self._free(array, name):
                return self._shared(array, shape, array.strides, itemsize)
        made = self._fresh(name, (first.extent if alike else size) * itemsize, 0)
        if alike:
            made.strides = first.strides
        return made
