"""The language model inside Gemma 3 models with vision."""

from typing import Any

from mlx_lm.models import gemma3

from sotto.engine.architectures.definitions import gemma3_text

ModelArgs = gemma3.ModelArgs


class Model(gemma3.Model):  # type: ignore[misc]
    """A causal language model, without image input."""

    def __init__(self, args: Any) -> None:
        """Build the module without its weights."""
        super().__init__(args)
        self.language_model = gemma3_text.Model(gemma3_text.ModelArgs.from_dict(args.text_config))
