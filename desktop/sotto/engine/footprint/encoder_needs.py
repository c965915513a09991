"""How much memory an encoder needs beside its weights: it has no caches, only the arrays of a computation."""

from collections.abc import Iterator

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten, tree_unflatten

from sotto.engine.footprint.graph import trace
from sotto.engine.footprint.graph_memory import peak
from sotto.engine.footprint.task_sizes import pace_here
from sotto.engine.memory.memory_needs import WorkPoint
from sotto.engine.vectors.hidden_states import batch_tokens

_MIN_TOKENS = 64


def encoder_work(model: nn.Module, max_tokens: int) -> Iterator[WorkPoint]:
    """Yield samples of the memory that a step needs with texts of several lengths, in batches as large as in use.

    Args:
        model: An encoder whose parameters have their final types and shapes; never evaluated.
        max_tokens: Maximum tokens of a text.
    """
    most = batch_tokens()
    parameters = tree_flatten(model.parameters())
    names = [name for name, _ in parameters]

    def step(tokens: mx.array, mask: mx.array, *arrays: mx.array) -> list[mx.array]:
        model.update(tree_unflatten(list(zip(names, arrays, strict=True))))
        return [model(tokens, mask)]

    try:
        for length in _lengths(max_tokens):
            shape = (max(1, most // length), length)
            inputs = [mx.zeros(shape, dtype=mx.int32), mx.zeros(shape, dtype=mx.bool_)]
            graph = trace(step, inputs, [array for _, array in parameters])
            yield WorkPoint(max(most, max_tokens), length, peak(graph, pace_here()))
    finally:
        model.update(tree_unflatten(parameters))


def _lengths(max_tokens: int) -> Iterator[int]:
    """Yield lengths of texts up to `max_tokens`, each twice the previous one."""
    length = _MIN_TOKENS
    while length < max_tokens:
        yield length
        length *= 2
    yield max_tokens
