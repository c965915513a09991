"""Mistral: Llama with a sliding window in all layers, which mlx-lm's definition of Llama ignores."""

from mlx_lm.models import llama

from sotto.engine.architectures.definitions.windowed import Windowed

ModelArgs = llama.ModelArgs


class Model(Windowed, llama.Model):  # type: ignore[misc]
    """A causal language model."""
