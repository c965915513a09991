"""The language model inside Gemma 3 models that also see."""

from typing import Any

from mlx_lm.models import gemma3

from sotto.engine.architectures.definitions import gemma3_text

ModelArgs = gemma3.ModelArgs


class Model(gemma3.Model):  # type: ignore[misc]
    """A causal language model; images are not taken."""

    def __init__(self, args: Any) -> None:
        """Build it with weights yet to be loaded."""
        super().__init__(args)
        self.language_model = gemma3_text.Model(gemma3_text.ModelArgs.from_dict(args.text_config))
