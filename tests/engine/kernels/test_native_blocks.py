"""Products with blocks of GGUF that keep their bits, against float64 products with the numbers of the gguf package."""

import mlx.core as mx
import numpy as np
import pytest

from gguf_writing import random_blocks
from native_kernels import KERNELS, bits, kernels_at_each_level_with_blocks, needs_kernels, normal
from sotto.engine.gguf.kept import BLOCK_SIZE, KEPT, split

pytestmark = [needs_kernels, pytest.mark.usefixtures("block_kernels")]
__all__ = ["kernels_at_each_level_with_blocks"]

kinds = pytest.mark.parametrize("kind", KEPT)
# As in test_native_fixed.
STEP = 4e-7
ADDING = 5e-7


def matrix(kind, rows, columns, seed=0):
    """Return the parts of a random matrix as the kernels take them, and its values.

    The last block of a row has fewer columns only in types of small blocks; for others, the columns are rounded up.
    """
    columns = columns if KEPT[kind].size < BLOCK_SIZE else -(-columns // BLOCK_SIZE) * BLOCK_SIZE
    raw, values = random_blocks(kind.upper(), rows * columns // KEPT[kind].size, seed=seed)
    parts = (part.reshape(rows, -1) for part in split(KEPT[kind], mx.array(raw)))
    return [KERNELS.interleave(part) for part in parts], values.reshape(rows, columns)


def product(kind, x, parts):
    """Return the transposed product of activations with a matrix."""
    kept = KEPT[kind]
    return KERNELS.quantized_matmul(mx.array(x), *parts, None, True, kept.group, kept.bits, kind)


def offsets(kind, parts, shape):
    """Return the magnitude of each weight whose code is 0: what is added to a scaled code."""
    kept = KEPT[kind]
    ones = [mx.zeros_like(parts[0]), parts[1]]
    return np.abs(np.array(KERNELS.embedding(mx.arange(shape[0]), *ones, None, kept.group, kept.bits, kind)))


@kinds
@pytest.mark.parametrize("rows", [1, 15, 16, 37])
def test_looked_up_rows_have_the_values_of_the_file(kind, rows):
    parts, values = matrix(kind, rows, 832)
    kept = KEPT[kind]
    ids = mx.array([[0, rows - 1], [rows // 2, 0]])
    found = KERNELS.embedding(ids, *parts, None, kept.group, kept.bits, kind)
    np.testing.assert_array_equal(np.array(found), values[np.array(ids)])


@kinds
@pytest.mark.parametrize(("count", "rows", "columns"), [(1, 16, 256), (2, 70, 576), (17, 33, 896), (40, 70, 1472)])
@pytest.mark.parametrize("outlier", [1.0, 1e5])
def test_products_have_the_error_of_rounded_activations(kind, count, rows, columns, outlier):
    parts, values = matrix(kind, rows, columns)
    rng = np.random.default_rng(count)
    x = normal(rng, count, values.shape[1])
    x[rng.random(x.shape) < 0.01] *= np.float32(outlier)
    found, exact, run = np.array(product(kind, x, parts), np.float64), values.astype(np.float64), KEPT[kind].group
    wide = np.abs(x.astype(np.float64))
    by_run, weights = wide.reshape(count, -1, run).max(axis=-1), np.abs(exact).reshape(rows, -1, run).sum(axis=-1)
    sizes = np.abs(exact) + 2 * offsets(kind, parts, exact.shape)
    error = STEP * by_run @ weights.T + ADDING * wide @ sizes.T
    assert np.all(np.abs(found - x.astype(np.float64) @ exact.T) <= error + 1e-30)


@kinds
@pytest.mark.parametrize(("rows", "columns"), [(50, 64), (16, 512), (37, 896), (130, 2304), (50, 2496)])
def test_a_row_has_the_same_bits_among_any_number_whether_weights_are_unpacked_or_not(kind, rows, columns):
    if KERNELS.level() != "vnni":
        pytest.skip("guaranteed for the VNNI kernels alone")
    parts, values = matrix(kind, rows, columns)
    x = normal(np.random.default_rng(1), 40, values.shape[1])
    # Numbers of any size, so that sums in another order would differ.
    x *= np.exp(3 * normal(np.random.default_rng(2), *x.shape))
    together = bits(product(kind, x, parts))
    try:
        for few in (0, 1, 50):
            KERNELS.set_few_rows(few)
            for count in (1, 2, 3, 4, 5, 8, 9, 17, 18, 40):
                assert bits(product(kind, x[:count], parts)) == together[: len(together) * count // 40]
    finally:
        KERNELS.set_few_rows(0)


@kinds
@pytest.mark.parametrize(("rows", "columns"), [(50, 64), (37, 896), (130, 2496)])
def test_a_row_has_the_same_bits_among_as_many_as_speculation_proposes_and_among_many(kind, rows, columns):
    parts, values = matrix(kind, rows, columns)
    x = normal(np.random.default_rng(1), 60, values.shape[1])
    x *= np.exp(3 * normal(np.random.default_rng(2), *x.shape))
    for counts in ((17, 1, 2, 3, 4, 8, 9), (60, 18, 25, 33)):
        together = bits(product(kind, x[: counts[0]], parts))
        for count in counts:
            assert bits(product(kind, x[:count], parts)) == together[: len(together) * count // counts[0]]


@kinds
def test_the_number_of_threads_makes_no_difference(kind):
    parts, _ = matrix(kind, 300, 1024)
    few, many = (normal(np.random.default_rng(2), count, 1024) for count in (3, 30))
    before, found = KERNELS.threads(), []
    try:
        for threads in (1, 2, 5):
            KERNELS.set_threads(threads)
            found.append((bits(product(kind, few, parts)), bits(product(kind, many, parts))))
    finally:
        KERNELS.set_threads(before)
    assert found[0] == found[1] == found[2]


@kinds
@pytest.mark.parametrize("count", [1, 20])
def test_the_largest_codes_and_activations_do_not_overflow(kind, count):
    kept = KEPT[kind]
    largest = 0x7F7F7F7F if kind == "q8_0" else 0xFFFFFFFF
    words = KERNELS.interleave(mx.full((16, 256 * kept.bits // 32), largest, dtype=mx.uint32))
    raw, _ = random_blocks(kind.upper(), 16 * 256 // kept.size)
    _, scales = split(kept, mx.array(raw))
    parts = [words, KERNELS.interleave(scales.reshape(16, -1))]
    values = np.array(KERNELS.embedding(mx.arange(16), *parts, None, kept.group, kept.bits, kind), np.float64)
    for sign in (1, -1):
        x = np.full((count, 256), sign * 3.0, np.float32)
        found = np.array(product(kind, x, parts))
        np.testing.assert_allclose(found, x.astype(np.float64) @ values.T, rtol=2e-6, atol=1e-3 * np.abs(values).max())


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("count", [5, 30])
def test_values_that_are_not_finite_stay_so_and_affect_no_other_row(value, count):
    parts, _ = matrix("q4_k", 40, 512)
    x = normal(np.random.default_rng(3), count, 512)
    clean = np.array(product("q4_k", x, parts))
    x[2, 100] = value
    found = np.array(product("q4_k", x, parts))
    assert not np.isfinite(found[2]).any()
    others = np.arange(count) != 2
    np.testing.assert_array_equal(found[others], clean[others])


@kinds
def test_each_expert_multiplies_its_own_rows(kind):
    kept, experts, rows, columns = KEPT[kind], 3, 20, 256
    raw, values = random_blocks(kind.upper(), experts * rows * columns // kept.size)
    parts = [KERNELS.interleave(part.reshape(experts, rows, -1)) for part in split(kept, mx.array(raw))]
    values = values.reshape(experts, rows, columns).astype(np.float64)
    x = normal(np.random.default_rng(4), 6, 1, columns)
    chosen = mx.array([2, 0, 2, 1, 0, 2], mx.uint32)
    found = KERNELS.gather_qmm(mx.array(x), *parts, None, None, chosen, True, kept.group, kept.bits, kind)
    wanted = np.einsum("nmc,nrc->nmr", x.astype(np.float64), values[np.array(chosen)])
    np.testing.assert_allclose(np.array(found), wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())


def test_rows_are_interleaved_in_place_unless_they_are_still_used():
    numbers = np.arange(2 * 40 * 8, dtype=np.uint32).reshape(2, 40, 8)
    panels = [part.swapaxes(-1, -2).reshape(2, -1, 8) for part in np.split(numbers, [16, 32], axis=1)]
    wanted = np.concatenate(panels, axis=1)
    stored = mx.array(numbers)
    mx.eval(stored)
    copied = KERNELS.interleave(stored)
    mx.eval(copied)
    np.testing.assert_array_equal(np.array(stored), numbers)
    np.testing.assert_array_equal(np.array(copied), wanted)
    arrays = [stored]
    del stored
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(moved := KERNELS.interleave(arrays.pop()))
    assert mx.get_peak_memory() <= before
    np.testing.assert_array_equal(np.array(moved), wanted)
