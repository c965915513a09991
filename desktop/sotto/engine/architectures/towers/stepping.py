"""Divides the work of a tower's layers into steps that are short enough for others to be served between them.

A layer of a large image may take seconds on a CPU, so a layer is divided too: first the keys and values of all rows are
computed, then everything else for some rows at a time, which also bounds the memory for scores and activations.
"""

from collections.abc import Generator, Iterable
from typing import Protocol

import mlx.core as mx

# Multiplications in a step: about 0.15 s on two cores of a desktop's CPU, and a few milliseconds on its GPU.
_ON_CPU, _ON_GPU = 6 * 10**9, 6 * 10**10


class RowLayer(Protocol):
    """A layer of an encoder in which rows depend on each other by keys and values alone."""

    def keys_and_values(self, x: mx.array, *along: mx.array) -> tuple[mx.array, mx.array]:
        """Return keys and values for the attention of all rows.

        Args:
            x: The hidden states of all rows, [1, N, D].
            along: Arrays with a value for each row, such as rotations, [..., N, _].
        """

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, *along: mx.array) -> mx.array:
        """Return what some of the rows become, [1, n, D].

        Args:
            x: Their hidden states, [1, n, D].
            keys: Of all rows.
            values: Of all rows.
            along: As before, for these rows.
        """


def encode(
    layers: Iterable[RowLayer], x: mx.array, products: int, *along: mx.array
) -> Generator[mx.array, None, mx.array]:
    """Compute layers one after the other, yielding arrays to evaluate, and return the last hidden states.

    Args:
        layers: The layers.
        x: The hidden states of all rows, [1, N, D].
        products: How many multiplications a layer takes for each row.
        along: Arrays with a value for each row, [..., N, _], which layers get as well.
    """
    budget = _ON_CPU if mx.default_device() == mx.Device(mx.cpu) else _ON_GPU
    rows, cost = x.shape[1], 0
    size = max(1, min(rows, budget // products))
    for layer in layers:
        keys, values = layer.keys_and_values(x, *along)
        if size < rows:
            yield keys
            yield values
        parts = []
        for start in range(0, rows, size):
            end = min(rows, start + size)
            parts.append(layer(x[:, start:end], keys, values, *(each[..., start:end, :] for each in along)))
            cost += (end - start) * products
            if cost >= budget:
                yield parts[-1]
                cost = 0
        x = parts[0] if len(parts) == 1 else mx.concatenate(parts, axis=1)
    return x
