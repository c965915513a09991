"""Mixtral with its sliding window."""

from dataclasses import dataclass

from mlx_lm.models import mixtral

from sotto.engine.architectures.definitions.windowed import Windowed


@dataclass
class ModelArgs(mixtral.ModelArgs):  # type: ignore[misc]
    """mlx-lm's arguments and the window's width in tokens."""

    sliding_window: int | None = None


class Model(Windowed, mixtral.Model):  # type: ignore[misc]
    """A causal language model."""
