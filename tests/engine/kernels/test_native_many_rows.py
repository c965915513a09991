"""Products of so many rows that the native kernels unpack the weights first, at each instruction level."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_kernels import ANY_ROWS, KERNELS, LEVELS, at_level, bits, kernels_at_each_level, needs_kernels, normal
from thoroughness import examples

pytestmark = needs_kernels
__all__ = ["kernels_at_each_level"]

# Formats of weights: bits, group size and mode of quantized ones, or their type.
FORMATS = [
    (4, 32, "affine"),
    (4, 128, "affine"),
    (8, 64, "affine"),
    (4, 32, "mxfp4"),
    (8, 32, "mxfp8"),
    (4, 16, "nvfp4"),
    mx.float32,
    mx.bfloat16,
    mx.float16,
]
# Relative to the sum of the products' magnitudes.
TOLERANCE = 1e-6


class Weights:
    """A matrix in one of the formats, and its values in float64."""

    def __init__(self, rng, rows, columns, form):
        plain = mx.array(normal(rng, rows, columns))
        if isinstance(form, tuple):
            self.size, self.group, self.mode = form
            packed = mx.quantize(plain, self.group, self.size, mode=self.mode)
            self.arrays = [*packed, None][:3]
            dense = mx.dequantize(*self.arrays, self.group, self.size, self.mode, dtype=mx.float32)
        else:
            self.mode = None
            self.arrays = [plain.astype(form)]
            dense = self.arrays[0].astype(mx.float32)
        self.exact = np.array(dense, dtype=np.float64)

    def times(self, kernels, x):
        if self.mode is None:
            return kernels.linear(x, *self.arrays, None)
        return kernels.quantized_matmul(x, *self.arrays, True, self.group, self.size, self.mode)


def agree(found, x, weights):
    x = x.astype(np.float64)
    wanted, sizes = x @ weights.T, np.abs(x) @ np.abs(weights.T)
    assert np.all(np.abs(np.array(found, dtype=np.float64) - wanted) <= TOLERANCE * sizes)


@examples(150)
@given(
    form=st.sampled_from(FORMATS),
    level=st.integers(0, len(LEVELS) - 1),
    count=st.integers(2, 200),
    rows=st.integers(1, 150),
    blocks=st.integers(1, 18),
    threads=st.sampled_from([1, 2, 3]),
)
def test_many_rows(form, level, count, rows, blocks, threads):
    before = KERNELS.level(), KERNELS.threads()
    KERNELS.set_level(level)
    KERNELS.set_few_rows(1)
    KERNELS.set_threads(threads)
    try:
        rng = np.random.default_rng(count * 211 + rows)
        # Weights without groups can have any number of columns.
        columns = 128 * blocks if isinstance(form, tuple) else 128 * blocks - rows % 128
        weights = Weights(rng, rows, columns, form)
        x = normal(rng, count, columns)
        agree(weights.times(KERNELS, mx.array(x)), x, weights.exact)
    finally:
        KERNELS.set_level(LEVELS.index(before[0]))
        KERNELS.set_threads(before[1])
        KERNELS.set_few_rows(0)


@pytest.mark.parametrize("form", FORMATS, ids=str)
def test_a_row_has_the_same_bits_in_any_batch_and_on_any_number_of_threads(kernels, form):
    if kernels.level() == "portable":
        pytest.skip("BLAS computes at this level, and does not guarantee this")
    rng = np.random.default_rng(1)
    # More columns than are unpacked at a time.
    weights = Weights(rng, 531, 2176, form)
    least = kernels.few_rows() + 1
    x = mx.array(normal(rng, least + 120, 2176))
    before = kernels.threads()
    try:
        kernels.set_threads(1)
        together = weights.times(kernels, x)
        mx.eval(together)
        for count, threads in [(least, 3), (least + 1, 1), (least + 15, 2), (least + 31, 3), (least + 95, 2)]:
            kernels.set_threads(threads)
            assert bits(weights.times(kernels, x[:count])) == bits(together[:count])
            assert bits(weights.times(kernels, x[-count:])) == bits(together[-count:])
    finally:
        kernels.set_threads(before)


@pytest.mark.parametrize(
    "form",
    [(4, 64, "affine"), *(form for form in FORMATS if isinstance(form, tuple) and form[2] in ("affine", "mxfp4"))],
    ids=str,
)
def test_a_row_has_the_same_bits_whether_weights_are_unpacked_or_not(form):
    if KERNELS.best_level() not in ANY_ROWS:
        pytest.skip("guaranteed for the VNNI kernels alone")
    rng = np.random.default_rng(2)
    # Also columns that are not a multiple of what is unpacked, or multiplied where it lies, at a time.
    odd = [(5, 64), (33, 320)] if form[1] <= 64 else []
    for rows, columns in [*odd, (70, 128), (37, 2176), (16, 8192 + 640)]:
        weights = Weights(rng, rows, columns, form)
        x = mx.array(normal(rng, 40, columns))
        try:
            with at_level(LEVELS.index(KERNELS.best_level())) as kernels:
                together = bits(weights.times(kernels, x))
                for few in (0, 1, 50):
                    kernels.set_few_rows(few)
                    for count in (1, 2, 3, 4, 5, 7, 18, 40):
                        assert bits(weights.times(kernels, x[:count])) == together[: len(together) * count // 40]
        finally:
            KERNELS.set_few_rows(0)
