"""GLM-OCR: a small GLM-4 with images, whose positions have three axes."""

from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx_lm.models import glm4
from mlx_lm.models.base import BaseModelArgs

from sotto.engine.architectures.definitions.seeing.qwen2_vl import AttendingBody, Seeing
from sotto.engine.architectures.multi_axis import axes_in_sections, give_axes

_SECTIONS = (8, 12, 12)
_TEXT, _STORED_TEXT = "language_model.", "model.language_model."


@dataclass
class ModelArgs(BaseModelArgs):  # type: ignore[misc]
    """The config of the language model inside."""

    model_type: str
    text_config: dict[str, Any]


class Glm4Body(AttendingBody, glm4.Glm4Model):  # type: ignore[misc]
    """GLM-4 below the output layer."""


class Model(Seeing, nn.Module):  # type: ignore[misc]
    """A causal language model that takes images."""

    def __init__(self, args: ModelArgs) -> None:
        """Build the module without its weights."""
        super().__init__()
        self.args = args
        self.model_type = args.model_type
        text = args.text_config
        missing = {
            "attention_bias": False,
            "head_dim": text["hidden_size"] // text["num_attention_heads"],
            "partial_rotary_factor": 1.0,
        }
        self.language_model = glm4.Model(glm4.ModelArgs.from_dict(missing | text))
        give_axes(self.language_model.model, Glm4Body, axes_in_sections(text, _SECTIONS))

    @property
    def layers(self) -> Any:
        """The layers of the language model."""
        return self.language_model.layers

    def sanitize(self, weights: dict[str, mx.array]) -> dict[str, mx.array]:
        """Return weights by the names of this definition; the head for multi-token prediction is dropped."""
        head = f"{_TEXT}model.layers.{len(self.layers)}."
        renamed = {}
        for name, array in weights.items():
            if name.startswith(_STORED_TEXT):
                name = f"{_TEXT}model.{name.removeprefix(_STORED_TEXT)}"
            elif not name.startswith(_TEXT):
                name = _TEXT + name
            renamed[name] = array
        return {name: array for name, array in renamed.items() if not name.startswith(head)}
