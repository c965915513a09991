"""Products with quantized matrices, for the CPU, where MLX computes each on one thread and at the same cost for each row.

- Many rows, a prompt: the matrix is unpacked first and the product left to BLAS. That costs about as much as one row,
  then next to nothing, so a prompt is read up to 50 times faster (2048 x 768, 4 bits, 256 rows, two cores: 255 ms
  against 5). The unpacked matrix lives for one product.
- Few rows, a decode step: the matrix is divided by rows into as many parts as there are cores. Each part is computed
  on a stream of its own, which has a thread of its own.
"""

import os
import threading

import mlx.core as mx
from mlx import nn

# Measured: from how many rows on unpacking wins. Only whole numbers of values in a byte are unpacked fast.
_ROWS_FAST, _ROWS_SLOW = 4, 24
_FAST_BITS = (2, 4, 8)
# A part with fewer weights than this takes no longer than waiting for another thread does.
_PART_WEIGHTS = 250_000
_MOST_PARTS = 8

_of_this_thread = threading.local()


class CpuQuantizedLinear(nn.QuantizedLinear):  # type: ignore[misc]
    """A quantized layer that unpacks its matrix for many rows and divides it for few."""

    def __call__(self, x: mx.array) -> mx.array:
        """Return `x` [..., in] times the transposed matrix, [..., out]."""
        y = _product(x, self, x.size // x.shape[-1])
        return y + self.bias if "bias" in self else y


class CpuQuantizedEmbedding(nn.QuantizedEmbedding):  # type: ignore[misc]
    """A quantized embedding whose use as an output layer is computed like `CpuQuantizedLinear`."""

    def as_linear(self, x: mx.array) -> mx.array:
        """Return `x` [..., dims] times the transposed matrix, [..., vocabulary]."""
        return _product(x, self, x.size // x.shape[-1])


def adapt_to_cpu(model: nn.Module) -> None:
    """Make the plain quantized layers of a loaded model the kinds above, in place; the weights stay where they are."""
    kinds = {nn.QuantizedLinear: CpuQuantizedLinear, nn.QuantizedEmbedding: CpuQuantizedEmbedding}
    for layer in model.modules():
        if type(layer) in kinds:
            layer.__class__ = kinds[type(layer)]
            layer._parts = _parts([layer.weight, layer.scales, layer.get("biases")], layer.bits)
            mx.eval(layer._parts)


def _product(x: mx.array, layer: nn.Module, rows: int) -> mx.array:
    kind = {"group_size": layer.group_size, "bits": layer.bits, "mode": layer.mode}
    fast = layer.mode == "affine" and layer.bits in _FAST_BITS
    if rows >= (_ROWS_FAST if fast else _ROWS_SLOW):
        matrix = mx.dequantize(layer.weight, layer.scales, layer.get("biases"), dtype=x.dtype, **kind)
        return x @ matrix.T
    parts = [
        mx.quantized_matmul(x, *part, transpose=True, stream=stream, **kind)
        for part, stream in zip(layer._parts, _streams(), strict=False)
    ]
    return parts[0] if len(parts) == 1 else mx.concatenate(parts, axis=-1)


def _parts(arrays: list[mx.array | None], bits: int) -> list[tuple[mx.array | None, ...]]:
    """Divide a matrix and what belongs to it by rows; the parts share its memory."""
    weight = arrays[0]
    assert weight is not None
    rows, weights = weight.shape[0], weight.size * 32 // bits
    count = max(1, min(len(_streams()), weights // _PART_WEIGHTS))
    edges = [rows * index // count for index in range(count + 1)]
    return [
        tuple(None if array is None else array[start:end] for array in arrays)
        for start, end in zip(edges, edges[1:], strict=False)
    ]


def _streams() -> list[mx.Stream]:
    """Return the streams of this thread, one for each core: its default one and others that were made for it."""
    if not hasattr(_of_this_thread, "streams"):
        cores = min(
            _MOST_PARTS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
        _of_this_thread.streams = [mx.default_stream(mx.cpu), *(mx.new_stream(mx.cpu) for _ in range(cores - 1))]
    streams: list[mx.Stream] = _of_this_thread.streams
    return streams
