"""Testing the native kernels at every instruction level, and comparing results with expected ones."""

import platform
from contextlib import contextmanager

import mlx.core as mx
import numpy as np
import pytest

from sotto.engine.kernels import native

KERNELS = native.kernels()
LEVELS = (
    ("neon", "dotprod", "i8mm") if platform.machine() == "aarch64" else ("portable", "avx2", "avx512", "vnni", "amx")
)
# The levels at which packed weights, if not interleaved, give the same bits for any number of rows.
ANY_ROWS = ("vnni", "amx")
needs_kernels = pytest.mark.skipif(KERNELS is None, reason="the native kernels are not built here")


@contextmanager
def at_level(wanted):
    """Use a level by its index, or the next lower one that the processor supports, also while MLX evaluates."""
    before = LEVELS.index(KERNELS.level())
    KERNELS.set_level(wanted)
    try:
        yield KERNELS
    finally:
        KERNELS.set_level(before)


@pytest.fixture(params=LEVELS, name="kernels")
def kernels_at_each_level(request):
    """Yield the native module at each level that the processor supports."""
    with at_level(LEVELS.index(request.param)) as kernels:
        if kernels.level() != request.param:
            pytest.skip(f"the processor has no {request.param}")
        yield kernels


@pytest.fixture(params=LEVELS[1:] if "vnni" in LEVELS else (), name="block_kernels")
def kernels_at_each_level_with_blocks(request):
    """Yield the native module at each level that has products with interleaved rows."""
    with at_level(LEVELS.index(request.param)) as kernels:
        if kernels.level() != request.param:
            pytest.skip(f"the processor has no {request.param}")
        yield kernels


def normal(rng, *shape):
    """Return normally distributed float32 values."""
    return rng.standard_normal(shape).astype(np.float32)


def layouts(x):
    """Return the same values in several memory layouts."""
    contiguous = mx.array(x)
    wide = mx.array(np.concatenate([x, x], axis=-1))[..., : x.shape[-1]]
    transposed = mx.array(np.ascontiguousarray(np.moveaxis(x, -1, 0)))
    return [contiguous, wide, mx.moveaxis(transposed, 0, -1)]


def assert_close(actual, expected, tolerance=2e-6):
    """Check that values agree to within `tolerance` times the largest one."""
    assert actual.dtype == mx.float32
    assert actual.shape == expected.shape
    largest = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(np.array(actual, dtype=np.float64), expected, rtol=0, atol=tolerance * largest)


def bits(x):
    """Return the values as bytes, for exact comparison."""
    return np.array(x).tobytes()
