"""Activations by the names that configs give them."""

from collections.abc import Callable

import mlx.core as mx
from mlx import nn

# By the name of the function, because another takes its place now and then on a CPU.
_BY_NAME = {
    "gelu": "gelu",
    "gelu_fast": "gelu_approx",
    "gelu_new": "gelu_approx",
    "gelu_pytorch_tanh": "gelu_approx",
    "relu": "relu",
    "silu": "silu",
}


def activation(name: str) -> Callable[[mx.array], mx.array]:
    """Return the activation that `hidden_act` names; each call is of what MLX has under its name by then.

    Raises:
        ValueError: There is none of that name.
    """
    if name not in _BY_NAME:
        raise ValueError(f"hidden_act is {name!r} where it should be one of {', '.join(_BY_NAME)}")
    function = _BY_NAME[name]

    def activate(x: mx.array) -> mx.array:
        activated: mx.array = getattr(nn, function)(x)
        return activated

    return activate
