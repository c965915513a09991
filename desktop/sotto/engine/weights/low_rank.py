"""Layers with additions of low rank: the layer of a model, and two thin matrices whose product is added to its own.

The model's own product is computed as without an addition, by the native kernels where they can, and so are those with
the thin matrices. On a tape, the product with the first of them joins those that read the same input.
"""

from typing import Any

import mlx.core as mx
from mlx import nn

from sotto.engine.kernels import native
from sotto.engine.kernels.native_panels import is_interleaved
from sotto.engine.weights.quantized_layers import ScaledSwitchLinear

# Elements of a matrix that are unpacked at once.
_AT_ONCE = 1 << 23


class LowRank(nn.Module):  # type: ignore[misc]
    """Common base of the layers below.

    Attributes:
        base: The layer of the model, which may have an addition itself.
    """

    base: nn.Module


class LowRankLinear(LowRank):
    """A linear layer with an addition: `y = W x + b + U D x`."""

    def __init__(self, base: nn.Module, down: mx.array, up: mx.array) -> None:
        """Wrap a layer.

        Args:
            base: A linear layer of any kind.
            down: D, `[rank, in]`.
            up: U, `[out, rank]`.
        """
        super().__init__()
        self.base = base
        self.down, self.up = _linear(down), _linear(up)

    def __call__(self, x: mx.array) -> mx.array:
        """Map `[..., in]` to `[..., out]`."""
        y: mx.array = self.base(x) + self.up(self.down(x))
        return y


class NewLengthLinear(LowRankLinear):
    """A linear layer with an addition and a new length for each row, as in DoRA: `y = f (W x + U D x) + b`.

    The factors f make each row of `W + U D` as long as the adapter says (https://arxiv.org/abs/2402.09353).
    """

    def __init__(self, base: nn.Module, down: mx.array, up: mx.array, length: mx.array) -> None:
        """Wrap a layer, which loses its bias.

        Args:
            base: A linear layer of any kind, without an addition.
            down: D, `[rank, in]`.
            up: U, `[out, rank]`.
            length: The length of each row, `[out]`.
        """
        super().__init__(base, down, up)
        self.factor = length
        if "bias" in base:
            self.bias = base.pop("bias")

    def settle(self) -> None:
        """Turn the lengths into factors, once the weights of the base are there."""
        down, up = (part.weight.astype(mx.float32) for part in (self.down, self.up))
        step, lengths = max(1, _AT_ONCE // down.shape[1]), []
        for start in range(0, up.shape[0], step):
            rows = _rows(self.base, start, min(start + step, up.shape[0])) + up[start : start + step] @ down
            lengths.append(mx.sqrt(mx.square(rows).sum(axis=1)))
            mx.eval(lengths)
        self.factor = (self.factor / mx.concatenate(lengths)).astype(self.factor.dtype)

    def __call__(self, x: mx.array) -> mx.array:
        """Map `[..., in]` to `[..., out]`."""
        y = super().__call__(x) * self.factor
        return y + self.bias if "bias" in self else y


class LowRankSwitch(LowRank):
    """The linear layers of many experts, each with an addition of its own."""

    def __init__(self, base: nn.Module, down: mx.array, up: mx.array) -> None:
        """Wrap layers.

        Args:
            base: The linear layers.
            down: `[experts, rank, in]`.
            up: `[experts, out, rank]`.
        """
        super().__init__()
        self.base = base
        self.down, self.up = _switch(down), _switch(up)

    def __call__(self, x: mx.array, indices: mx.array, sorted_indices: bool = False) -> mx.array:
        """Map `[..., 1, in]` to `[..., 1, out]`, each row with the expert that `indices` selects."""
        y: mx.array = self.base(x, indices, sorted_indices=sorted_indices)
        less = self.down(x, indices, sorted_indices=sorted_indices)
        more: mx.array = self.up(less, indices, sorted_indices=sorted_indices)
        return y + more


class LowRankEmbedding(LowRank):
    """An embedding with an addition to each row."""

    def __init__(self, base: nn.Module, rows: mx.array, up: mx.array, *, ties: bool) -> None:
        """Wrap an embedding.

        Args:
            base: An embedding of any kind.
            rows: `[vocabulary, rank]`.
            up: `[dims, rank]`.
            ties: Whether the addition counts where the embedding is used as output layer, too.
        """
        super().__init__()
        self.base = base
        self.rows = nn.Embedding(1, 1)
        self.rows.weight = rows
        self.up = _linear(up)
        if ties:
            self.down = _linear(mx.contiguous(up.T))

    def __call__(self, tokens: mx.array) -> mx.array:
        """Map token ids `[...]` to rows `[..., dims]`."""
        y: mx.array = self.base(tokens) + self.up(self.rows(tokens))
        return y

    def as_linear(self, x: mx.array) -> mx.array:
        """Map `[..., dims]` to the logits of all tokens."""
        y: mx.array = self.base.as_linear(x)
        return y + self.rows.as_linear(self.down(x)) if "down" in self else y


def innermost(layer: nn.Module) -> nn.Module:
    """Return the layer of a model below all additions."""
    while isinstance(layer, LowRank):
        layer = layer.base
    return layer


def is_embedding(layer: nn.Module) -> bool:
    """Return whether a layer is an embedding, with or without additions."""
    return isinstance(innermost(layer), nn.Embedding | nn.QuantizedEmbedding)


def takes_additions(layer: nn.Module) -> bool:
    """Return whether a layer is of a kind that can have additions."""
    from mlx_lm.models.switch_layers import QuantizedSwitchLinear, SwitchLinear

    plain = nn.Linear | nn.QuantizedLinear | nn.Embedding | nn.QuantizedEmbedding
    return isinstance(innermost(layer), plain | SwitchLinear | QuantizedSwitchLinear | ScaledSwitchLinear)


def width_of(layer: nn.Module) -> tuple[int, ...]:
    """Return the shape of a layer's matrix or matrices as if they were not quantized."""
    *outer, width = layer.weight.shape
    return (*outer, width * 32 // layer.bits) if "scales" in layer else (*outer, width)


def _linear(weight: mx.array) -> nn.Linear:
    layer = nn.Linear(1, 1, bias=False)
    layer.weight = weight
    return layer


def _switch(weight: mx.array) -> nn.Module:
    from mlx_lm.models.switch_layers import SwitchLinear

    layer = SwitchLinear(1, 1, 1, bias=False)
    layer.weight = weight
    return layer


def _rows(layer: nn.Module, start: int, end: int) -> mx.array:
    """Return rows of the matrix of a linear layer, as float32 `[end - start, in]`."""
    if "scales" not in layer:
        plain: mx.array = layer.weight[start:end].astype(mx.float32)
        return plain
    parts: dict[str, Any] = {"group_size": layer.group_size, "bits": layer.bits, "mode": layer.mode}
    if is_interleaved(layer.mode):
        kernels = native.kernels()
        assert kernels is not None
        rows: mx.array = kernels.embedding(mx.arange(start, end), layer.weight, layer.scales, None, **parts)
        return rows
    scales, biases = layer.scales[start:end], layer.get("biases")
    if mx.issubdtype(scales.dtype, mx.floating):
        # With scales in 16 bits, MLX would round to these.
        scales = scales.astype(mx.float32)
        biases = None if biases is None else biases[start:end].astype(mx.float32)
    rows = mx.dequantize(layer.weight[start:end], scales, biases, dtype=mx.float32, **parts)
    scaled: mx.array = rows * layer.global_scale if "global_scale" in layer else rows
    return scaled
