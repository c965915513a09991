"""Activation functions by the names used in configs."""

from collections.abc import Callable

import mlx.core as mx
from mlx import nn

# The names of MLX's functions rather than the functions, because our native kernels replace some of them on a CPU.
_BY_NAME = {
    "gelu": "gelu",
    "gelu_fast": "gelu_approx",
    "gelu_new": "gelu_approx",
    "gelu_pytorch_tanh": "gelu_approx",
    "quick_gelu": "gelu_fast_approx",
    "relu": "relu",
    "silu": "silu",
}


def activation(name: str) -> Callable[[mx.array], mx.array]:
    """Return the activation called `name`; each call looks up MLX's function anew.

    Raises:
        ValueError: There is no activation of that name.
    """
    if name not in _BY_NAME:
        raise ValueError(f"hidden_act is {name!r} where it should be one of {', '.join(_BY_NAME)}")
    function = _BY_NAME[name]

    def activate(x: mx.array) -> mx.array:
        activated: mx.array = getattr(nn, function)(x)
        return activated

    return activate
