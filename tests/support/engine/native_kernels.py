"""The native kernels in tests: at every level of instructions, and results beside what they should be."""

from contextlib import contextmanager

import mlx.core as mx
import numpy as np
import pytest

from sotto.engine.kernels import native

KERNELS = native.kernels()
LEVELS = ("portable", "avx2", "avx512", "vnni")
needs_kernels = pytest.mark.skipif(KERNELS is None, reason="the native kernels are not built here")


@contextmanager
def at_level(wanted):
    """Use a level by its number, or the next lower one that the processor has; it also holds while MLX evaluates."""
    before = LEVELS.index(KERNELS.level())
    KERNELS.set_level(wanted)
    try:
        yield KERNELS
    finally:
        KERNELS.set_level(before)


@pytest.fixture(params=LEVELS, name="kernels")
def kernels_at_each_level(request):
    """Give the native module at each level that the processor has."""
    with at_level(LEVELS.index(request.param)) as kernels:
        if kernels.level() != request.param:
            pytest.skip(f"the processor has no {request.param}")
        yield kernels


def normal(rng, *shape):
    """Return normally distributed float32."""
    return rng.standard_normal(shape).astype(np.float32)


def layouts(x):
    """Return the same values in several layouts in memory."""
    whole = mx.array(x)
    wide = mx.array(np.concatenate([x, x], axis=-1))[..., : x.shape[-1]]
    turned = mx.array(np.ascontiguousarray(np.moveaxis(x, -1, 0)))
    return [whole, wide, mx.moveaxis(turned, 0, -1)]


def close(found, wanted, tolerance=2e-6):
    """Check that values agree to `tolerance` of the largest one."""
    assert found.dtype == mx.float32
    assert found.shape == wanted.shape
    largest = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    np.testing.assert_allclose(np.array(found, dtype=np.float64), wanted, rtol=0, atol=tolerance * largest)


def bits(x):
    """Return the values as bytes, to compare them exactly."""
    return np.array(x).tobytes()
