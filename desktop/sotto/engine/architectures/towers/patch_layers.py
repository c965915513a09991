"""The layers of towers for patches in a grid, and their computation in short steps.

Attention is within windows of equal size, of which there is one where all patches see each other. A layer is computed
for as many patches at a time as a step may have, so that others are served in between, and so that there is never more
of scores than for those. Nothing is padded or masked.
"""

from collections.abc import Callable, Generator, Sequence

import mlx.core as mx
from mlx import nn

from sotto.engine.architectures.towers.stepping import widened

# Multiplications in a step: about 0.2 s on two cores of a desktop's processor, and a few milliseconds on its GPU.
_ON_CPU, _ON_GPU = 10**10, 10**11

Parts = Generator[mx.array, None, mx.array]
"""A part of the work on an image: yields arrays to evaluate, and returns its result."""


class Attention(nn.Module):  # type: ignore[misc]
    """Attention among patches, rotated by their rows and columns."""

    def __init__(self, width: int, heads: int, *, bias: bool = True, norm_eps: float | None = None) -> None:
        """Build the module without its weights.

        Args:
            width: Of the hidden states.
            heads: The number of heads.
            bias: Whether the products have biases.
            norm_eps: For models that normalise queries and keys; None for others.
        """
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias=bias)
        self.proj = nn.Linear(width, width, bias=bias)
        if norm_eps is not None:
            self.q_norm = nn.RMSNorm(width // heads, eps=norm_eps)
            self.k_norm = nn.RMSNorm(width // heads, eps=norm_eps)
        self._heads, self._size = heads, width // heads

    def project(self, x: mx.array, turns: mx.array) -> Sequence[mx.array]:
        """Return the queries, keys and values of patches, each [N, H, D], widened to what kernels like.

        Args:
            x: Hidden states [N, D].
            turns: The cosine and sine of each pair's angle, [2, N, 1, D / 2].
        """
        queries, keys, values = self.qkv(x).reshape(len(x), 3, self._heads, -1).swapaxes(0, 1)
        if "q_norm" in self:
            queries, keys = self.q_norm(queries), self.k_norm(keys)
        return [widened(part) for part in (_turned(queries, turns), _turned(keys, turns), values)]

    def attend(self, queries: mx.array, keys: mx.array, values: mx.array, windows: int) -> mx.array:
        """Return what patches see in the windows that they are in, [N, width].

        Args:
            queries: [N, H, D], of all windows one after the other.
            keys: Of the same windows.
            values: Of the same windows.
            windows: How many there are.
        """
        parts = [x.reshape(windows, -1, *x.shape[1:]).swapaxes(1, 2) for x in (queries, keys, values)]
        seen = mx.fast.scaled_dot_product_attention(*parts, scale=self._size**-0.5)[..., : self._size]
        joined: mx.array = self.proj(seen.swapaxes(1, 2).reshape(len(queries), -1))
        return joined


class Plain(nn.Module):  # type: ignore[misc]
    """Two products with an activation between them."""

    def __init__(self, width: int, inner: int, activate: Callable[[mx.array], mx.array], names: Sequence[str]) -> None:
        """Build the module without its weights; `names` are those of both products."""
        super().__init__()
        self[names[0]], self[names[1]] = nn.Linear(width, inner), nn.Linear(inner, width)
        self._names, self._activate = names, activate

    def __call__(self, x: mx.array) -> mx.array:
        """Return [N, D] for [N, D]."""
        first, second = self._names
        y: mx.array = self[second](self._activate(self[first](x)))
        return y


class Gated(nn.Module):  # type: ignore[misc]
    """A product gated by another, whose activation is SiLU."""

    def __init__(self, width: int, inner: int, *, bias: bool = True) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=bias)
        self.up_proj = nn.Linear(width, inner, bias=bias)
        self.down_proj = nn.Linear(inner, width, bias=bias)

    def __call__(self, x: mx.array) -> mx.array:
        """Return [N, D] for [N, D]."""
        y: mx.array = self.down_proj(nn.silu(self.gate_proj(x)) * self.up_proj(x))
        return y


class Layer(nn.Module):  # type: ignore[misc]
    """A layer of an encoder."""

    def __init__(self, norms: Callable[[], nn.Module], attention: Attention, mlp: nn.Module) -> None:
        """Build the module without its weights; `norms` makes a norm."""
        super().__init__()
        self.norm1, self.norm2 = norms(), norms()
        self.attn, self.mlp = attention, mlp

    def project(self, x: mx.array, turns: mx.array) -> Sequence[mx.array]:
        """Return the queries, keys and values of patches with hidden states [N, D]."""
        return self.attn.project(self.norm1(x), turns)

    def finish(self, x: mx.array, projected: Sequence[mx.array], windows: int = 1) -> mx.array:
        """Return the next hidden states [N, D], given the queries of these patches, and all keys and values."""
        queries, keys, values = projected
        x = x + self.attn.attend(queries, keys, values, windows)
        y: mx.array = x + self.mlp(self.norm2(x))
        return y


def run(layer: Layer, x: mx.array, turns: mx.array, windows: Sequence[tuple[int, int]], products: int) -> Parts:
    """Compute a layer in short steps.

    Args:
        layer: The layer.
        x: Hidden states [N, D].
        turns: Of all patches, [2, N, 1, D / heads / 2].
        windows: How many windows there are of a size in patches, and that size; those of the first kind come first.
        products: Multiplications for each patch, those of the attention not counted.

    Returns:
        The next hidden states, [N, D].
    """
    budget = _ON_CPU if mx.default_device() == mx.Device(mx.cpu) else _ON_GPU
    start, parts = 0, []
    for count, size in windows:
        rows = max(1, budget // (products + 2 * size * x.shape[1]))
        # Whole windows, or one at a time in pieces.
        together = max(1, rows // size)
        for first in range(0, count, together):
            some = min(together, count - first)
            end = start + some * size
            if rows >= size:
                parts.append(layer.finish(x[start:end], layer.project(x[start:end], turns[:, start:end]), some))
                yield parts[-1]
            else:
                parts.append((yield from _in_pieces(layer, x[start:end], turns[:, start:end], rows)))
            start = end
    return mx.concatenate(parts) if len(parts) > 1 else parts[0]


def _in_pieces(layer: Layer, x: mx.array, turns: mx.array, rows: int) -> Parts:
    """Compute a layer for patches that all see each other, so many rows at a time."""
    spans = [slice(start, start + rows) for start in range(0, len(x), rows)]
    projected = []
    for span in spans:
        projected.append(layer.project(x[span], turns[:, span]))
        yield mx.depends([projected[-1][0]], projected[-1][1:])[0]
    keys, values = (mx.concatenate([part[index] for part in projected]) for index in (1, 2))
    parts = []
    for span, (queries, *_) in zip(spans, projected, strict=True):
        parts.append(layer.finish(x[span], (queries, keys, values)))
        yield parts[-1]
    return mx.concatenate(parts)


def _turned(x: mx.array, turns: mx.array) -> mx.array:
    """Return queries or keys [N, H, D], of which each value of the first half makes a pair with one of the second."""
    cos, sin = turns
    half = x.shape[-1] // 2
    first, second = x[..., :half].astype(mx.float32), x[..., half:].astype(mx.float32)
    turned = mx.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned.astype(x.dtype)


def turns_of(rows: mx.array, columns: mx.array, width: int, base: float) -> mx.array:
    """Return the cosines and sines of patches, [2, N, 1, D / 2]: half of the pairs are turned by rows, then by columns.

    Args:
        rows: The row of each patch, [N].
        columns: The column of each patch.
        width: Of a head.
        base: The longest wavelength.
    """
    rates = base ** (-mx.arange(0, width // 2, 2, dtype=mx.float32) / (width // 2))
    angles = mx.concatenate([place[:, None] * rates for place in (rows, columns)], axis=1)[:, None]
    return mx.stack([mx.cos(angles), mx.sin(angles)])
