"""Products of many rows with integer arithmetic: bounds on the error of rounding activations, against float64."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_kernels import ANY_ROWS, KERNELS, LEVELS, at_level, needs_kernels, normal
from thoroughness import examples

pytestmark = [
    needs_kernels,
    pytest.mark.skipif(
        KERNELS is not None and KERNELS.best_level() not in (*ANY_ROWS, "dotprod", "i8mm"),
        reason="the processor cannot multiply bytes",
    ),
]

ROWS = 40
# Half a step of the integers and the rounding of its size, relative to the largest activation of a run.
STEP = 4e-7
# The error of adding up runs in float32, relative to the sum of the products' magnitudes.
ADDING = 5e-7


def product(x, bits, group, weight_rows=70, seed=0):
    """Return x times a matrix, the matrix in float64, and the magnitudes of the summands of its weights."""
    rng = np.random.default_rng(seed)
    packed = mx.quantize(mx.array(normal(rng, weight_rows, x.shape[1])), group, bits)
    exact = np.array(mx.dequantize(*packed, group, bits), dtype=np.float64)
    biases = np.repeat(np.array(packed[2], dtype=np.float64), group, axis=-1)
    with at_level(LEVELS.index(KERNELS.best_level())) as kernels:
        found = kernels.quantized_matmul(mx.array(x), *packed, True, group, bits, "affine")
        return np.array(found, dtype=np.float64), exact, np.abs(exact - biases) + np.abs(biases)


def within(found, x, exact, sizes, group):
    """Check the error of each result against that of its runs: the columns of a run are rounded to the same step."""
    run = min(group, 64)
    x = x.astype(np.float64)
    by_run = np.abs(x).reshape(len(x), -1, run).max(axis=-1)
    weights = np.abs(exact).reshape(len(exact), -1, run).sum(axis=-1)
    error = STEP * by_run @ weights.T + ADDING * np.abs(x) @ sizes.T
    assert np.all(np.abs(found - x @ exact.T) <= error + 1e-30)


@examples(60)
@given(
    bits=st.sampled_from([4, 8]),
    group=st.sampled_from([32, 64, 128]),
    blocks=st.integers(1, 9),
    seed=st.integers(0, 1000),
    spread=st.sampled_from([1e-28, 1e-3, 1.0, 1e6, 1e25]),
    outlier=st.sampled_from([1.0, 1e3, 1e7]),
)
def test_the_error_of_a_run_is_bounded_by_its_largest_activation(bits, group, blocks, seed, spread, outlier):
    rng = np.random.default_rng(seed)
    x = normal(rng, ROWS, 128 * blocks) * np.float32(spread)
    x[rng.random(x.shape) < 0.01] *= np.float32(outlier)
    found, exact, sizes = product(x, bits, group, seed=seed)
    within(found, x, exact, sizes, group)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_integers_with_the_largest_codes_do_not_overflow(bits, sign):
    columns = 256
    x = np.full((ROWS, columns), sign * 3.0, dtype=np.float32)
    codes = mx.array(np.full((16, columns * bits // 32), 0xFFFFFFFF, dtype=np.uint32))
    scales, biases = mx.full((16, columns // 64), 0.5), mx.full((16, columns // 64), -1.0)
    with at_level(LEVELS.index(KERNELS.best_level())) as kernels:
        found = kernels.quantized_matmul(mx.array(x), codes, scales, biases, True, 64, bits, "affine")
        wanted = sign * 3.0 * columns * ((2**bits - 1) * 0.5 - 1.0)
        np.testing.assert_allclose(np.array(found), wanted, rtol=1e-6)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_values_that_are_not_finite_stay_so_and_affect_no_other_row(value):
    x = normal(np.random.default_rng(2), ROWS, 256)
    clean, exact, sizes = product(x, 4, 64)
    x[7, 100] = value
    found, _, _ = product(x, 4, 64)
    assert not np.isfinite(found[7]).any()
    others = np.arange(ROWS) != 7
    np.testing.assert_array_equal(found[others], clean[others])
    within(found[others], x[others], exact, sizes, 64)


def test_rows_of_zeros_give_zeros():
    x = normal(np.random.default_rng(3), ROWS, 192)
    x[5] = 0
    x[6, :64] = 0
    found, exact, sizes = product(x, 8, 64)
    assert np.all(found[5] == 0)
    within(found, x, exact, sizes, 64)
