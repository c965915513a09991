"""Products of many rows with quantized matrices, for the CPU.

MLX's quantized product runs on one CPU thread and costs the same for each further row. Unpacking the matrix first and
leaving the product to BLAS costs about as much as one row, then next to nothing: a prompt is read up to 50 times
faster (2048 x 768, 4 bits, 256 rows, two cores: 255 ms against 5). One row, a decode step, is better off without.
The unpacked matrix lives for one product.
"""

import mlx.core as mx
from mlx import nn

# Measured: from how many rows on unpacking wins. Only whole numbers of values in a byte are unpacked fast.
_ROWS_FAST, _ROWS_SLOW = 4, 24
_FAST_BITS = (2, 4, 8)


class UnpackingLinear(nn.QuantizedLinear):  # type: ignore[misc]
    """A quantized layer that unpacks its matrix when it has many rows to multiply."""

    def __call__(self, x: mx.array) -> mx.array:
        """Return `x` [..., in] times the transposed matrix, [..., out]."""
        fast = self.mode == "affine" and self.bits in _FAST_BITS
        if x.size < (_ROWS_FAST if fast else _ROWS_SLOW) * x.shape[-1]:
            result: mx.array = super().__call__(x)
            return result
        matrix = mx.dequantize(
            self.weight,
            self.scales,
            self.get("biases"),
            group_size=self.group_size,
            bits=self.bits,
            mode=self.mode,
            dtype=x.dtype,
        )
        y = x @ matrix.T
        return y + self.bias if "bias" in self else y


def unpack_for_many_rows(model: nn.Module) -> None:
    """Make the plain quantized layers of a loaded model `UnpackingLinear`, in place."""
    for layer in model.modules():
        if type(layer) is nn.QuantizedLinear:
            layer.__class__ = UnpackingLinear
