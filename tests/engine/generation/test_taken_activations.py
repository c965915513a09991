"""Activations that a definition keeps are those of the moment at which they are called, whatever was there before."""

import mlx.core as mx
import pytest
from mlx import nn

from checkpoints import load_folder
from native_kernels import KERNELS, needs_kernels
from places import TESTS
from sotto.engine.architectures.definitions.activation import activation
from sotto.engine.footprint.graph import trace
from sotto.engine.footprint.model_needs import model_needs
from sotto.engine.footprint.traced_kernels import traceable
from sotto.engine.kernels import native, native_fused

pytestmark = needs_kernels
HERE = TESTS / "engine"
CASES = ("references/gpt-neox", "references/starcoder2", "embeddings/bert", "embeddings/nomic-bert")


@pytest.mark.parametrize("case", CASES)
def test_a_model_that_was_built_with_kernels_is_measured(case):
    loaded = load_folder(HERE / case)
    assert native_fused._undo  # loading installed them
    for kernels in (KERNELS, None):
        assert model_needs(loaded.model, loaded.config, 0, 0, 24, kernels).unknown == ""


@pytest.mark.parametrize("name", ["silu", "gelu", "gelu_approx"])
def test_a_function_that_was_taken_with_kernels_is_mlx_own_without_them(name):
    """As borrowed definitions do that have one as a default, or choose one when they are built."""
    x = mx.linspace(-4, 4, 64)
    native.install()
    native_fused.install(KERNELS)
    taken = getattr(nn, name)
    fast = taken(x)
    native.uninstall()
    try:
        assert mx.array_equal(taken(x), getattr(nn, name)(x))
        for kernels in (KERNELS, None):
            with traceable(kernels):
                assert trace(lambda x: [taken(x)], [x], []).operations
        native_fused.install(KERNELS)
        assert mx.array_equal(taken(x), fast)
    finally:
        native.uninstall()


def test_one_that_was_asked_for_without_kernels_is_theirs_with_them():
    x = mx.linspace(-4, 4, 64)
    native.uninstall()
    gelu = activation("gelu_new")
    slow = gelu(x)
    native_fused.install(KERNELS)
    try:
        assert mx.array_equal(gelu(x), KERNELS.gelu_approx(x))
        assert mx.allclose(gelu(x), slow, atol=1e-5)
    finally:
        native.uninstall()
