"""Dividing the work of a tower into steps of about the same time, within layers where these are large.

A layer of a large image may take seconds on a CPU. So keys and values of all rows are computed first, and then
everything else for some rows at a time, which bounds the memory of scores and activations as well.
"""

from collections.abc import Generator, Iterable
from typing import Protocol

import mlx.core as mx

Parts = Generator[mx.array, None, mx.array]
"""A part of the work on an image: yields arrays to evaluate, and returns its result."""

# Multiplications of a step: about 0.2 s on two cores, and a few milliseconds on a graphics processor.
STEP = 10**10


class RowLayer(Protocol):
    """A layer in which rows depend on each other by keys and values alone."""

    def keys_and_values(self, x: mx.array, *along: mx.array) -> tuple[mx.array, mx.array]:
        """Return the keys and values of all rows [1, N, D], given arrays with a value for each of them."""

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, *along: mx.array) -> mx.array:
        """Return what some rows [1, n, D] become, given the keys and values of all."""


def encode(layers: Iterable[RowLayer], x: mx.array, products: int, *along: mx.array) -> Parts:
    """Compute layers one after the other, and return the last hidden states [1, N, D].

    Args:
        layers: The layers.
        x: The first hidden states.
        products: How many multiplications a layer takes for each row.
        along: Arrays with a value for each row, [..., N, _], which the layers get as well.
    """
    rows, done = x.shape[1], 0
    size = max(1, min(rows, STEP // products))
    for layer in layers:
        keys, values = layer.keys_and_values(x, *along)
        if size < rows:
            yield keys
            yield values
        parts = []
        for start in range(0, rows, size):
            some = slice(start, min(rows, start + size))
            parts.append(layer(x[:, some], keys, values, *(each[..., some, :] for each in along)))
            done += parts[-1].shape[1] * products
            if done >= STEP:
                done = 0
                yield parts[-1]
        x = parts[0] if len(parts) == 1 else mx.concatenate(parts, axis=1)
    return x


def patches_of(tile: mx.array, side: int) -> mx.array:
    """Return the patches of a tile [H, W, 3] as rows [N, side * side * 3]; what is left at the edges is dropped."""
    down, across = tile.shape[0] // side, tile.shape[1] // side
    whole = tile[: down * side, : across * side].reshape(down, side, across, side, 3)
    return whole.swapaxes(1, 2).reshape(down * across, side * side * 3)


def as_product(kernel: mx.array) -> mx.array:
    """Return the kernel of a convolution over patches as a matrix for `patches_of`.

    Args:
        kernel: [D, 3, side, side] as PyTorch has it, or [D, side, side, 3] as MLX has it; or the matrix.
    """
    if kernel.ndim == 4 and kernel.shape[1] == 3:
        kernel = kernel.transpose(0, 2, 3, 1)
    return kernel.reshape(kernel.shape[0], -1)
