"""Activations by the names that configs give them."""

from collections.abc import Callable

import mlx.core as mx
from mlx import nn

# By the name of the function: another may have taken its place, on a CPU, by the time that a model is built.
_BY_NAME = {
    "gelu": "gelu",
    "gelu_fast": "gelu_approx",
    "gelu_new": "gelu_approx",
    "gelu_pytorch_tanh": "gelu_approx",
    "relu": "relu",
    "silu": "silu",
}


def activation(name: str) -> Callable[[mx.array], mx.array]:
    """Return the activation that `hidden_act` names.

    Raises:
        ValueError: There is none of that name.
    """
    if name not in _BY_NAME:
        raise ValueError(f"hidden_act is {name!r} where it should be one of {', '.join(_BY_NAME)}")
    function: Callable[[mx.array], mx.array] = getattr(nn, _BY_NAME[name])
    return function
