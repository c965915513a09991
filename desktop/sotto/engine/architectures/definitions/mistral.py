"""Mistral: llama with a sliding window, which the borrowed definition leaves out where all layers have it."""

from mlx_lm.models import llama

from sotto.engine.architectures.definitions.windowed import Windowed

ModelArgs = llama.ModelArgs


class Model(Windowed, llama.Model):  # type: ignore[misc]
    """A causal language model."""
