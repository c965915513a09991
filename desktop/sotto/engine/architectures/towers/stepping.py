"""Divides the work of a tower's layers into steps that are short enough for others to be served between them.

A layer of a large image may take seconds on a CPU, so a layer is divided too: first the keys and values of all rows are
computed, then everything else for some rows at a time, which also bounds the memory for scores and activations.
"""

from collections.abc import Generator, Iterable
from typing import Protocol

import mlx.core as mx

# Multiplications in a step: about 0.1 s on two cores of a desktop's CPU, and a few milliseconds on its GPU.
_ON_CPU, _ON_GPU = 6 * 10**9, 6 * 10**10
# Kernels for attention are made for heads whose size is a multiple of this; others are slower, on Metal several times.
_HEAD = 16


class RowLayer(Protocol):
    """A layer of an encoder in which rows depend on each other by keys and values alone."""

    def keys_and_values(self, x: mx.array, *along: mx.array) -> tuple[mx.array, mx.array]:
        """Return what some of the rows contribute to the keys and values of all, each [1, H, n, D].

        Args:
            x: Their hidden states, [1, n, width].
            along: Arrays with a value for each of them, such as rotations, [..., n, _].
        """

    def __call__(self, x: mx.array, keys: mx.array, values: mx.array, *along: mx.array) -> mx.array:
        """Return what some of the rows become, [1, n, width].

        Args:
            x: Their hidden states, [1, n, width].
            keys: Of all rows, [1, H, N, D].
            values: Of all rows, [1, H, N, D].
            along: As before.
        """


def encode(
    layers: Iterable[RowLayer], x: mx.array, products: int, *along: mx.array
) -> Generator[mx.array, None, mx.array]:
    """Compute layers one after the other, yielding arrays to evaluate, and return the last hidden states.

    Args:
        layers: The layers.
        x: The hidden states of all rows, [1, N, width].
        products: How many multiplications a layer takes for each row.
        along: Arrays with a value for each row, [..., N, _], which layers get as well.
    """
    budget = _ON_CPU if mx.default_device() == mx.Device(mx.cpu) else _ON_GPU
    count, cost = x.shape[1], 0
    size = max(1, budget // products)
    for layer in layers:
        if size < count:
            x = yield from _in_blocks(layer, x, size, along)
            continue
        x = layer(x, *layer.keys_and_values(x, *along), *along)
        cost += count * products
        if cost + count * products > budget:
            yield x
            cost = 0
    return x


def _in_blocks(
    layer: RowLayer, x: mx.array, size: int, along: tuple[mx.array, ...]
) -> Generator[mx.array, None, mx.array]:
    """Compute a layer for `size` rows at a time."""
    starts = range(0, x.shape[1], size)
    rows = [[each[..., start : start + size, :] for each in (x, *along)] for start in starts]
    parts = zip(*(layer.keys_and_values(*each) for each in rows), strict=True)
    keys, values = (mx.concatenate(list(part), axis=2) for part in parts)
    yield keys
    yield values
    done = []
    for some, *others in rows:
        done.append(layer(some, keys, values, *others))
        yield done[-1]
    return mx.concatenate(done, axis=1)


def in_type_of(tile: mx.array, norm: mx.array) -> mx.array:
    """Return pixels in the type in which a tower computes, which is that of its norms.

    Towers in float16 compute with 32 bits, as the hidden states of some go beyond its range.
    """
    return tile.astype(mx.bfloat16) if norm.dtype == mx.bfloat16 else tile


def attend(queries: mx.array, keys: mx.array, values: mx.array, scale: float) -> mx.array:
    """Return what queries [1, H, n, D] attend to among all keys and values, [1, n, H * D].

    Args:
        queries: Of some rows.
        keys: Of all rows, from `widened`.
        values: Of all rows, from `widened`.
        scale: Factor of the scores before the softmax.
    """
    size = queries.shape[-1]
    attended = mx.fast.scaled_dot_product_attention(widened(queries), keys, values, scale=scale)
    return attended[..., :size].transpose(0, 2, 1, 3).reshape(1, queries.shape[2], -1)


def widened(x: mx.array) -> mx.array:
    """Return queries, keys or values [..., D] with zeros at the end of each head, up to a size that kernels like."""
    missing = -x.shape[-1] % _HEAD
    return mx.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)]) if missing else x
