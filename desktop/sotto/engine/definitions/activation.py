"""Activations by the names that configs give them."""

from collections.abc import Callable

import mlx.core as mx
from mlx import nn

_BY_NAME: dict[str, Callable[[mx.array], mx.array]] = {
    "gelu": nn.gelu,
    "gelu_fast": nn.gelu_approx,
    "gelu_new": nn.gelu_approx,
    "gelu_pytorch_tanh": nn.gelu_approx,
    "relu": nn.relu,
    "silu": nn.silu,
}


def activation(name: str) -> Callable[[mx.array], mx.array]:
    """Return the activation that `hidden_act` names.

    Raises:
        ValueError: There is none of that name.
    """
    if name not in _BY_NAME:
        raise ValueError(f"hidden_act is {name!r} where it should be one of {', '.join(_BY_NAME)}")
    return _BY_NAME[name]
