"""Qwen 3.5 with experts, as GGUF files hold it."""

from typing import Any

from mlx_lm.models import qwen3_5_moe

from sotto.engine.architectures.definitions.qwen3_5 import tile

ModelArgs = qwen3_5_moe.ModelArgs


class Model(qwen3_5_moe.Model):  # type: ignore[misc]
    """A causal language model."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        tile(self, args.text_config)
