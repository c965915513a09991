"""Quantized matrix products on the CPU: by the native kernels if there are any, otherwise from MLX's operations.

MLX computes a quantized product on one thread, at the same cost for each row. Two things help without a kernel:

- Many rows, in a prompt: the matrix is unpacked first, and BLAS computes the product. Unpacking costs about as much as
  one row, and further rows almost nothing, so a prompt is read up to 50 times faster (2048 x 768, 4 bits, 256 rows,
  two cores: 255 ms against 5). The unpacked matrix exists for one product.
- Few rows, in a decode step: the rows of the matrix are divided into one part per core. Each part is computed on its
  own stream, which has its own thread.
"""

import os
import threading
from itertools import pairwise

import mlx.core as mx
from mlx import nn

from sotto.engine.kernels import native

# Rows from which unpacking is faster, as measured. Unpacking is fast only if a byte holds a whole number of values.
_ROWS_FAST, _ROWS_SLOW = 4, 24
_FAST_BITS = (2, 4, 8)
# A part with fewer weights than this takes less time than waiting for another thread.
_PART_WEIGHTS = 250_000
_MOST_PARTS = 8

_of_this_thread = threading.local()


class _OnCpu(nn.Module):  # type: ignore[misc]
    """Common base of the layers below, which have the attributes of MLX's quantized layers."""

    def divide(self) -> None:
        """Divide the matrix among the streams; the parts share its memory."""
        count = max(1, min(len(_streams()), self.weight.size * 32 // self.bits // _PART_WEIGHTS))
        edges = [len(self.weight) * index // count for index in range(count + 1)]
        # The names begin with _ so that MLX does not count the parts among the weights.
        self._weights, self._scales = _cut(self.weight, edges), _cut(self.scales, edges)
        self._biases = _cut(self.biases, edges) if "biases" in self else [None] * count
        mx.eval(self._weights, self._scales, self._biases)

    def _product(self, x: mx.array) -> mx.array:
        kind = {"group_size": self.group_size, "bits": self.bits, "mode": self.mode}
        fast = self.mode == "affine" and self.bits in _FAST_BITS
        if x.size >= (_ROWS_FAST if fast else _ROWS_SLOW) * x.shape[-1]:
            matrix = mx.dequantize(self.weight, self.scales, self.get("biases"), dtype=x.dtype, **kind)
            return x @ matrix.T
        parts = [
            mx.quantized_matmul(x, weight, scales, biases, stream=stream, **kind)
            for weight, scales, biases, stream in zip(
                self._weights, self._scales, self._biases, _streams(), strict=False
            )
        ]
        return parts[0] if len(parts) == 1 else mx.concatenate(parts, axis=-1)


class CpuQuantizedLinear(_OnCpu, nn.QuantizedLinear):  # type: ignore[misc]
    """A quantized layer that unpacks its matrix for many rows and divides it for few."""

    def __call__(self, x: mx.array) -> mx.array:
        """Return `x` [..., in] times the transposed matrix, [..., out]."""
        y = self._product(x)
        return y + self.bias if "bias" in self else y


class CpuQuantizedEmbedding(_OnCpu, nn.QuantizedEmbedding):  # type: ignore[misc]
    """A quantized embedding whose use as an output layer is computed like `CpuQuantizedLinear`."""

    def as_linear(self, x: mx.array) -> mx.array:
        """Return `x` [..., dims] times the transposed matrix, [..., vocabulary]."""
        return self._product(x)


def adapt_to_cpu(model: nn.Module) -> None:
    """Adapt a loaded model, in place, to the fastest computation that this installation has.

    Native kernels replace MLX's functions, if there are any. Quantized layers that they do not support, or all of them
    without kernels, become the classes above.
    """
    kernels = native.kernels() if native.install() else None
    kinds = {nn.QuantizedLinear: CpuQuantizedLinear, nn.QuantizedEmbedding: CpuQuantizedEmbedding}
    for layer in model.modules():
        if type(layer) in kinds and not (kernels and kernels.knows(layer.mode, layer.group_size, layer.bits)):
            layer.__class__ = kinds[type(layer)]
            layer.divide()


def _cut(array: mx.array, edges: list[int]) -> list[mx.array]:
    return [array[start:end] for start, end in pairwise(edges)]


def _streams() -> list[mx.Stream]:
    """Return the streams of this thread, one for each core: its default stream and others created for it."""
    if not hasattr(_of_this_thread, "streams"):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        others = [mx.new_stream(mx.cpu) for _ in range(min(cores, _MOST_PARTS) - 1)]
        _of_this_thread.streams = [mx.default_stream(mx.cpu), *others]
    streams: list[mx.Stream] = _of_this_thread.streams
    return streams
