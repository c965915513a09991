"""Adding an adapter to the weights of a model for good, tensor by tensor, while the model is imported."""

import re
from collections.abc import Mapping
from typing import Any

import mlx.core as mx

from sotto.engine.config.adapter_config import AdapterForm
from sotto.engine.weights.adapter_names import short_name
from sotto.engine.weights.applied_adapters import applied_adapter
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.printable import printable
from sotto.store.records import Adapter

_EMBEDDINGS = ("embed_tokens", "word_embeddings", "wte")
_EXPERT = re.compile(r"(?P<owner>.+\.)experts\.(?P<index>\d+)\.(?P<projection>\w+)")
_STACKS = ("switch_mlp", "experts")
_OTHER_NAMES = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}


class Fusion:
    """An adapter that is added to the tensors of a model in floating-point numbers."""

    def __init__(self, adapter: Adapter, config: Mapping[str, Any]) -> None:
        """Read an adapter.

        Args:
            adapter: The adapter.
            config: The contents of the model's `config.json`.

        Raises:
            BrokenModelError: The adapter makes no sense.
            UnsupportedModelError: It is applied in a way that is not computed here.
        """
        self._adapter = applied_adapter(adapter, config)
        self._tensors: dict[str, mx.array] = {}
        self._adapter.read(self._tensors)
        self._tied = bool(config.get("tie_word_embeddings"))
        self._additions = {short_name(addition.layer): addition for addition in self._adapter.names.additions}
        self._replacements = {short_name(name): held for name, held in self._adapter.names.replacements.items()}
        self._unused = self._additions.keys() | self._replacements.keys()

    def fused(self, name: str, tensor: mx.array) -> mx.array:
        """Return a tensor of the model with what the adapter adds to it, in the type that it had.

        Args:
            name: The tensor's name in the model's files.
            tensor: The tensor.

        Raises:
            BrokenModelError: The addition does not fit the tensor.
            UnsupportedModelError: The tensor is quantized, or the addition counts in one of its two uses only.
        """
        place = short_name(name)
        if (held := self._replacements.get(place)) is not None:
            self._use(place, name, tensor)
            replaced = self._tensors[held]
            self._require_shape(name, replaced.shape, tensor)
            return replaced.astype(tensor.dtype)
        found = self._addition(short_name(name.removesuffix(".weight"))) if name.endswith(".weight") else None
        if found is None:
            return tensor
        layer, index = found
        self._use(layer, name, tensor)
        embeds = layer.rpartition(".")[2] in _EMBEDDINGS
        if embeds and self._tied and self._adapter.config.form is not AdapterForm.MLX:
            raise UnsupportedModelError(
                f"{self._adapter.place}: its addition to {printable(name)} does not count in the output layer, which "
                "shares this matrix; add the adapter when the model is loaded instead."
            )
        down, up, length = self._adapter.matrices(self._additions[layer], self._tensors, embeds=embeds)
        if index is not None:
            if index >= down.shape[0]:
                raise BrokenModelError(
                    f"{self._adapter.place}: {printable(layer)} is for {down.shape[0]} experts, but this model has "
                    f"{printable(name)}."
                )
            down, up = down[index], up[index]
        down = down.astype(mx.float32)
        added = down @ up.T if embeds else up @ down
        self._require_shape(name, added.shape, tensor)
        whole = tensor.astype(mx.float32) + added
        if length is not None:
            whole = whole * (length.astype(mx.float32) / mx.linalg.norm(whole, axis=1))[:, None]
        return whole.astype(tensor.dtype)

    def require_all_used(self) -> None:
        """Raise BrokenModelError if the model had no tensor for some part of the adapter."""
        if self._unused:
            raise BrokenModelError(
                f"{self._adapter.place}: it changes {printable(min(self._unused))}, which cannot be added to the "
                "weights of this model; add the adapter when the model is loaded instead."
            )

    def _addition(self, layer: str) -> tuple[str, int | None] | None:
        """Return the name of the addition for a layer, and the index of the expert in it, if it is for several."""
        if layer in self._additions:
            return layer, None
        if match := _EXPERT.fullmatch(layer):
            projection = _OTHER_NAMES.get(match["projection"], match["projection"])
            for stack in _STACKS:
                if (together := f"{match['owner']}{stack}.{projection}") in self._additions:
                    return together, int(match["index"])
        return None

    def _use(self, place: str, name: str, tensor: mx.array) -> None:
        self._unused = self._unused - {place}
        if not mx.issubdtype(tensor.dtype, mx.floating):
            raise UnsupportedModelError(
                f"{self._adapter.place}: {printable(name)} is quantized already; an adapter can only be added to the "
                "unquantized model."
            )

    def _require_shape(self, name: str, shape: tuple[int, ...], tensor: mx.array) -> None:
        if shape != tensor.shape:
            raise BrokenModelError(
                f"{self._adapter.place}: what is added to {printable(name)} is {_text(shape)}, but that of this model "
                f"is {_text(tensor.shape)}; it is made for another model."
            )


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
