"""Adding an adapter to the weights of a model for good, tensor by tensor, while the model is imported."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import mlx.core as mx

from sotto.engine.config.adapter_config import AdapterForm
from sotto.engine.config.tower_names import changes_tower
from sotto.engine.gguf.conversion import ConvertedFile
from sotto.engine.weights.adapter_names import short_name
from sotto.engine.weights.applied_adapters import Matrices, applied_adapter
from sotto.engine.weights.tensor_names import is_wanted
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.printable import printable
from sotto.store.records import Adapter

_EMBEDDINGS = ("embed_tokens", "word_embeddings", "wte")
_SHARED = tuple(f"{name}.weight" for name in (*_EMBEDDINGS, "lm_head"))
_EXPERT = re.compile(r"(?P<owner>.+\.)experts\.(?P<index>\d+)\.(?P<projection>\w+)")
_STACKS = ("switch_mlp", "experts")
_OTHER_NAMES = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
# Additions that are kept in memory: one for each thread that computes.
_HELD = 4


@dataclass(frozen=True, slots=True)
class Change:
    """How an adapter changes a tensor of the model.

    Attributes:
        replacement: The name of the tensor of the adapter that replaces it; empty if something is added to it.
    """

    replacement: str = ""


class Fusion:
    """An adapter that is added to the tensors of a model in floating-point numbers; it is read part by part."""

    def __init__(self, adapter: Adapter, config: Mapping[str, Any]) -> None:
        """Check an adapter as far as is possible without reading its tensors.

        Args:
            adapter: The adapter.
            config: The contents of the model's `config.json`.

        Raises:
            BrokenModelError: The adapter makes no sense.
            UnsupportedModelError: It is applied in a way that is not computed here.
        """
        self._adapter = applied_adapter(adapter, config)
        if changes_tower(adapter, config):
            raise UnsupportedModelError(
                f"{self._adapter.place} changes its tower for images, too, which cannot be fused: take an adapter for "
                "the language model alone."
            )
        self._is_wanted = is_wanted(config, "")
        self._tied = bool(config.get("tie_word_embeddings"))
        self._additions = {short_name(addition.layer): addition for addition in self._adapter.names.additions}
        self._replacements = {short_name(name): held for name, held in self._adapter.names.replacements.items()}
        self._unused = self._additions.keys() | self._replacements.keys()
        # All experts may share an addition, and several threads may be at work.
        self._matrices = lru_cache(maxsize=_HELD)(self._read_matrices)

    def change(self, name: str, shape: tuple[int, ...]) -> Change | None:
        """Return how a tensor of the model is changed, if it is; what is read for that is checked.

        Args:
            name: The tensor's name in the model's files.
            shape: Its shape.

        Raises:
            BrokenModelError: The change does not fit the tensor, or has something in it that is not a finite number.
            UnsupportedModelError: The addition counts in one of its two uses only, or is DoRA's to another layer than a
                linear one.
        """
        # The layers of a tower may have the names of layers of the language model.
        if not self._is_wanted(name):
            return None
        place = short_name(name)
        if (held := self._replacements.get(place)) is not None:
            self._unused = self._unused - {place}
            if self._tied and place in _SHARED and self._adapter.config.form is not AdapterForm.MLX:
                raise self._half_used(name)
            self._require_shape(name, self._adapter.file.tensors[held].shape, shape)
            self._read((held,))
            return Change(held)
        found = self._addition(name)
        if found is None:
            return None
        layer, index = found
        self._unused = self._unused - {layer}
        embeds = _embeds(layer)
        if embeds and self._tied and self._adapter.config.form is not AdapterForm.MLX:
            raise self._half_used(name)
        down, up, length = self._matrices(layer)
        if index is not None:
            if index >= down.shape[0]:
                raise BrokenModelError(
                    f"{self._adapter.place}: {printable(layer)} is for {down.shape[0]} experts, but this model has "
                    f"{printable(name)}."
                )
            down, up = down[index], up[index]
        if length is not None and (embeds or len(shape) > 2):
            raise UnsupportedModelError(
                f"{self._adapter.place}: DoRA for {printable(name)} cannot be applied, only for linear layers."
            )
        added = (down.shape[0], up.shape[0]) if embeds else (*up.shape[:-1], down.shape[-1])
        self._require_shape(name, added, shape)
        if down.shape[:-2] != up.shape[:-2] or (length is not None and length.shape != shape[:1]):
            raise BrokenModelError(
                f"{self._adapter.place}: the parts of the addition to {printable(layer)} do not fit each other."
            )
        return Change()

    def fused(self, name: str, rows: mx.array, start: int = 0) -> mx.array:
        """Return rows of a tensor with what the adapter adds to them, in the type that they had.

        Args:
            name: The tensor's name in the model's files, for which `change` returned an addition.
            rows: `(count, columns)`; those of a stack of matrices one matrix after the other.
            start: The number of the first one.
        """
        found = self._addition(name)
        assert found is not None
        layer, index = found
        down, up, length = self._matrices(layer)
        if index is not None:
            down, up = down[index], up[index]
        end = start + rows.shape[0]
        if _embeds(layer):
            added = down[start:end] @ up.T
        elif up.ndim == 2:
            added = up[start:end] @ down
        else:
            height = up.shape[1]
            matrices = range(start // height, -(-end // height))
            parts = [up[i, max(0, start - i * height) : end - i * height] @ down[i] for i in matrices]
            added = mx.concatenate(parts)
        whole = rows.astype(mx.float32) + added
        if length is not None:
            whole = whole * (length[start:end] / mx.linalg.norm(whole, axis=1))[:, None]
        return whole.astype(rows.dtype)

    def require_all_used(self) -> None:
        """Raise BrokenModelError if the model had no tensor for some part of the adapter."""
        if self._unused:
            raise BrokenModelError(
                f"{self._adapter.place}: it changes {printable(min(self._unused))}, which cannot be added to the "
                "weights of this model; add the adapter when the model is loaded instead."
            )

    def _addition(self, name: str) -> tuple[str, int | None] | None:
        """Return the name of the addition to a tensor, and the index of the expert in it, if it is for several."""
        if not name.endswith(".weight"):
            return None
        layer = short_name(name.removesuffix(".weight"))
        if layer in self._additions:
            return layer, None
        if match := _EXPERT.fullmatch(layer):
            projection = _OTHER_NAMES.get(match["projection"], match["projection"])
            for stack in _STACKS:
                if (together := f"{match['owner']}{stack}.{projection}") in self._additions:
                    return together, int(match["index"])
        return None

    def _read(self, names: Collection[str]) -> dict[str, mx.array]:
        """Read some tensors of the adapter."""
        adapter, tensors = self._adapter, dict[str, mx.array]()
        if isinstance(adapter.file, ConvertedFile):
            recipes = tuple([recipe for recipe in adapter.file.recipes if recipe.name in names])
            adapter = replace(adapter, file=replace(adapter.file, recipes=recipes))
        adapter.read(tensors, wanted=lambda name: name in names)
        return tensors

    def _read_matrices(self, layer: str) -> Matrices:
        """Read the matrices of an addition, in 32 bits."""
        addition = self._additions[layer]
        tensors = self._read(addition.parts.values())
        down, up, length = self._adapter.matrices(addition, tensors, embeds=_embeds(layer))
        down, length = down.astype(mx.float32), None if length is None else length.astype(mx.float32)
        # Other threads use them, too, and an array that is not computed yet belongs to one.
        mx.eval(down, up, length)
        return down, up, length

    def _half_used(self, name: str) -> UnsupportedModelError:
        return UnsupportedModelError(
            f"{self._adapter.place}: its change of {printable(name)} does not count in the output layer, which shares "
            "this matrix; add the adapter when the model is loaded instead."
        )

    def _require_shape(self, name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
        if shape != expected:
            raise BrokenModelError(
                f"{self._adapter.place}: what is added to {printable(name)} is {_text(shape)}, but that of this model "
                f"is {_text(expected)}; it is made for another model."
            )


def _embeds(layer: str) -> bool:
    return layer.rpartition(".")[2] in _EMBEDDINGS


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
