"""Products with matrices for the CPU: by the native kernels where there are any, and otherwise from what MLX has.

MLX computes a quantized product on one thread and pays the same for each row. What it does not take a kernel for:

- Many rows, a prompt: the matrix is unpacked first and the product left to BLAS. That costs about as much as one row,
  then next to nothing, so a prompt is read up to 50 times faster (2048 x 768, 4 bits, 256 rows, two cores: 255 ms
  against 5). The unpacked matrix lives for one product.
- Few rows, a decode step: the matrix is divided by rows into as many parts as there are cores. Each part is computed
  on a stream of its own, which has a thread of its own.
"""

import os
import threading
from itertools import pairwise

import mlx.core as mx
from mlx import nn

from sotto.engine.kernels import native

# Measured: from how many rows on unpacking wins. Only whole numbers of values in a byte are unpacked fast.
_ROWS_FAST, _ROWS_SLOW = 4, 24
_FAST_BITS = (2, 4, 8)
# A part with fewer weights than this takes no longer than waiting for another thread does.
_PART_WEIGHTS = 250_000
_MOST_PARTS = 8

_of_this_thread = threading.local()


class _OnCpu(nn.Module):  # type: ignore[misc]
    """What the layers below have in common; its users have the attributes of MLX's quantized layers."""

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
    """Let a loaded model be computed as well as this installation can; its weights stay where they are.

    Where there are native kernels they are put in the place of MLX's functions. Quantized layers that they do not know,
    or all of them where there are none, become the kinds above.
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
    """Return the streams of this thread, one for each core: its default one and others that were made for it."""
    if not hasattr(_of_this_thread, "streams"):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        others = [mx.new_stream(mx.cpu) for _ in range(min(cores, _MOST_PARTS) - 1)]
        _of_this_thread.streams = [mx.default_stream(mx.cpu), *others]
    streams: list[mx.Stream] = _of_this_thread.streams
    return streams
