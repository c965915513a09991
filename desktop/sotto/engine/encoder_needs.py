"""What an encoder needs in memory beside its weights: it has no caches, only what computing takes."""

from collections.abc import Iterator

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten, tree_unflatten

from sotto.engine.graph import trace
from sotto.engine.graph_memory import peak
from sotto.engine.memory_needs import WorkPoint

# Tokens of a step, in texts of the longest that there are.
_SIZES = (1, 128, 512, 2048, 4096)


def encoder_work(model: nn.Module) -> Iterator[WorkPoint]:
    """Yield samples of the memory that steps of several sizes take.

    Args:
        model: An encoder whose parameters have their final types and shapes; never evaluated.
    """
    longest = model.args.longest
    parameters = tree_flatten(model.parameters())
    names = [name for name, _ in parameters]

    def step(tokens: mx.array, mask: mx.array, *arrays: mx.array) -> list[mx.array]:
        model.update(tree_unflatten(list(zip(names, arrays, strict=True))))
        return [model(tokens, mask)]

    try:
        for size in _SIZES:
            shape = (max(1, size // longest), min(size, longest))
            inputs = [mx.zeros(shape, dtype=mx.int32), mx.zeros(shape, dtype=mx.bool_)]
            graph = trace(step, inputs, [array for _, array in parameters])
            yield WorkPoint(size, longest, peak(graph))
    finally:
        model.update(tree_unflatten(parameters))
