"""An activation that a definition holds uses whichever kernels are installed when it is called."""

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
def test_memory_needs_of_a_model_that_was_built_with_kernels_are_known(case):
    loaded = load_folder(HERE / case)
    assert native_fused._undo  # loading installed the kernels
    for kernels in (KERNELS, None):
        assert model_needs(loaded.model, loaded.config, 0, 0, 24, kernels).unknown == ""


@pytest.mark.parametrize("name", ["silu", "gelu", "gelu_approx"])
def test_a_function_that_was_taken_with_kernels_is_that_of_mlx_without_them(name):
    """Take functions early, as definitions of mlx-lm do for default arguments, or when they are built."""
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


def test_an_activation_that_was_made_without_kernels_uses_them_once_installed():
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
