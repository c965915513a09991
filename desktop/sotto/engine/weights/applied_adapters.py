"""Applying the adapters of a model: replacing weights, and wrapping layers in ones with additions.

Shapes and types are all that matters to `AppliedAdapter`, so that planning and loading use it alike.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_unflatten

from sotto.engine.config import normalise
from sotto.engine.config.adapter_config import AdapterConfig, AdapterForm, read_adapter_config
from sotto.engine.config.quantization import shape_text
from sotto.engine.weights import adapter_names, tensor_names, weights
from sotto.engine.weights.adapter_names import AdapterNames, Addition, by_short_name, short_name
from sotto.engine.weights.low_rank import (
    LowRank,
    LowRankEmbedding,
    LowRankLinear,
    LowRankSwitch,
    NewLengthLinear,
    innermost,
    is_embedding,
    takes_additions,
    width_of,
)
from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.printable import printable, printable_path
from sotto.store.records import Adapter, ModelSource, TensorFile

_ONE_EXPERT = re.compile(r"(?P<owner>.+\.)experts\.(?P<index>\d+)\.(?P<projection>\w+)")
_ALL_EXPERTS = re.compile(r"(?P<owner>.+\.)experts(?P<inner>(?:\.base_layer)*)")
_SHARED = ("embed_tokens.weight", "lm_head.weight")
_COMPANIONS = ("scales", "biases", "global_scale", "weight.scale", "weight.bias", "weight.global_scale")


@dataclass(frozen=True, slots=True)
class AppliedAdapter:
    """One adapter of a model.

    Attributes:
        config: How it is applied.
        file: Its tensors, as they are read.
        names: The same, sorted by layer.
    """

    config: AdapterConfig
    file: TensorFile
    names: AdapterNames

    @property
    def place(self) -> str:
        """Its file, for messages."""
        return printable_path(self.file.path)

    def replace_stored(self, model: nn.Module, stored: dict[str, mx.array], tensors: Mapping[str, mx.array]) -> None:
        """Replace weights by the names of the model's files, in place, if the adapter names them like that.

        Args:
            model: The model, not loaded yet.
            stored: The tensors of the model, by their names in its files.
            tensors: The tensors of the adapter.

        Raises:
            BrokenModelError: The model has no such weight, or one of another shape.
            UnsupportedModelError: The model uses the weight in two places, of which the adapter changes one.
        """
        if self.config.form is AdapterForm.MLX:
            return
        known = by_short_name(stored)
        tied = not any(path.rpartition(".")[2] == "lm_head" for path, _ in model.named_modules())
        for wanted, name in self.names.replacements.items():
            if tied and short_name(wanted) in _SHARED:
                raise UnsupportedModelError(
                    f"{self.place}: {printable(wanted)} is replaced, but this model has one matrix for both its "
                    "embeddings and its output layer; use the merged model instead."
                )
            target = wanted if wanted in stored else known.get(short_name(wanted), "")
            if not target:
                raise self._no_layer(wanted)
            stem = target.removesuffix(".weight")
            companions = [f"{stem}.{part}" for part in _COMPANIONS if f"{stem}.{part}" in stored]
            if not companions:
                self._require_shape(wanted, tensors[name], stored[target].shape)
            for companion in companions:
                del stored[companion]
            stored[target] = tensors[name]

    def replace_parameters(self, parameters: dict[str, mx.array], tensors: Mapping[str, mx.array]) -> None:
        """Replace weights by the names of the definition, in place, if the adapter names them like that.

        Args:
            parameters: The parameters of the model by name.
            tensors: The tensors of the adapter.

        Raises:
            BrokenModelError: The model has no such weight, or one of another shape.
        """
        if self.config.form is not AdapterForm.MLX:
            return
        for wanted, name in self.names.replacements.items():
            if wanted not in parameters:
                raise self._no_layer(wanted)
            self._require_shape(wanted, tensors[name], parameters[wanted].shape)
            parameters[wanted] = tensors[name]

    def attach(self, model: nn.Module, tensors: Mapping[str, mx.array], dtype: mx.Dtype) -> list[NewLengthLinear]:
        """Wrap the layers of a model that get an addition.

        Args:
            model: The model, with its final layers.
            tensors: The tensors of the adapter.
            dtype: The type of the activations, in which additions are held.

        Returns:
            The layers with new lengths, which have to settle once all weights are there.

        Raises:
            BrokenModelError: The model has no such layer, or the shapes do not fit it.
            UnsupportedModelError: The layer is of a kind that gets no additions.
        """
        layers = dict(_layers(model))
        known = by_short_name(layers)
        wrapped: dict[str, LowRank] = {}
        for path, layer, (down, up, length) in self._matrices(layers, known, tensors):
            if path in wrapped:
                raise BrokenModelError(f"{self.place}: there are two additions to {printable(path)}.")
            wrapped[path] = self._wrap(path, layer, down.astype(dtype), up.astype(dtype), length)
        model.update_modules(tree_unflatten(list(wrapped.items())))
        return [layer for layer in wrapped.values() if isinstance(layer, NewLengthLinear)]

    def read(
        self,
        tensors: dict[str, mx.array],
        progress: Callable[[int], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
        wanted: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """Read its tensors, or those whose names are wanted, into a dictionary; see `weights.read`.

        Raises:
            BrokenModelError: A tensor holds something that is not a finite number.
            CancelledError: `cancelled` returned True.
        """
        weights.read(weights.select([self.file], wanted), tensors, progress, cancelled)
        for name, array in tensors.items():
            if not mx.issubdtype(array.dtype, mx.floating) or not mx.isfinite(array).all().item():
                raise BrokenModelError(
                    f"{self.place}: {printable(name)} holds something that is not a finite number; the adapter is "
                    "damaged, or its training failed."
                )

    def _matrices(
        self, layers: Mapping[str, nn.Module], known: Mapping[str, str], tensors: Mapping[str, mx.array]
    ) -> Iterator[tuple[str, nn.Module, "Matrices"]]:
        """Yield the path of each layer, the layer, and the matrices that are added to it, scaled."""
        apart: dict[str, dict[int, Matrices]] = defaultdict(dict)
        for addition in self.names.additions:
            if (match := _ONE_EXPERT.fullmatch(addition.layer)) and short_name(addition.layer) not in known:
                target = tensor_names.expert_layer(known, short_name(match["owner"] + "_")[:-1], match["projection"])
                if not target:
                    raise self._no_layer(addition.layer)
                apart[known[target]][int(match["index"])] = self.matrices(addition, tensors, embeds=False)
            elif match := _ALL_EXPERTS.fullmatch(addition.layer):
                yield from self._of_all_experts(match, addition, layers, known, tensors)
            elif path := known.get(short_name(addition.layer)):
                layer = layers[path]
                yield path, layer, self.matrices(addition, tensors, embeds=is_embedding(layer))
            else:
                raise self._no_layer(addition.layer)
        for path, experts in apart.items():
            yield path, layers[path], self._stacked(path, layers[path], experts)

    def matrices(self, addition: Addition, tensors: Mapping[str, mx.array], *, embeds: bool) -> "Matrices":
        """Return the matrices of an addition in the order of the layers here, scaled."""
        down, up = tensors[addition.parts["down"]], tensors[addition.parts["up"]]
        length = tensors[addition.parts["length"]] if "length" in addition.parts else None
        if down.ndim not in (2, 3) or down.ndim != up.ndim or 0 in (*down.shape, *up.shape):
            raise self._misfit(addition.layer, down, up)
        if self.config.form is AdapterForm.MLX and down.ndim == 2:
            # [in, rank] and [rank, out]; those of experts have the order that is used here.
            down, up = down if embeds else down.T, up.T
        elif self.config.form is AdapterForm.PEFT and embeds:
            down = down.T
        rank = down.shape[-1] if embeds else down.shape[-2]
        if up.shape[-1] != rank:
            raise self._misfit(addition.layer, down, up)
        scale = self.config.scale(addition.layer, rank)
        return mx.contiguous(down), mx.contiguous(up).astype(mx.float32) * scale, length

    def _stacked(self, path: str, layer: nn.Module, experts: Mapping[int, "Matrices"]) -> "Matrices":
        """Return the matrices for all experts of a layer, given those of some."""
        count = width_of(innermost(layer))[0]
        if max(experts) >= count:
            raise BrokenModelError(
                f"{self.place}: there is an addition to expert {max(experts)} of {printable(path)}, which has {count}."
            )
        first_down, first_up, length = next(iter(experts.values()))
        if length is not None or len({(down.shape, up.shape) for down, up, _ in experts.values()}) > 1:
            raise UnsupportedModelError(
                f"{self.place}: the additions to the experts of {printable(path)} are of different ranks or DoRA's, "
                "which cannot be applied."
            )
        nothing = mx.zeros(first_down.shape, first_down.dtype), mx.zeros(first_up.shape, first_up.dtype)
        pairs = [experts[index][:2] if index in experts else nothing for index in range(count)]
        return mx.stack([down for down, _ in pairs]), mx.stack([up for _, up in pairs]), None

    def _of_all_experts(
        self,
        match: re.Match[str],
        addition: Addition,
        layers: Mapping[str, nn.Module],
        known: Mapping[str, str],
        tensors: Mapping[str, mx.array],
    ) -> Iterator[tuple[str, nn.Module, "Matrices"]]:
        """Yield the layers that PEFT's addition to a parameter of all experts belongs to, told by its shape."""
        owner = short_name(match["owner"] + "_")[:-1]
        parts = (("gate_proj", "up_proj"), ("down_proj",))
        groups = [[tensor_names.expert_layer(known, owner, part) for part in group] for group in parts]
        if not all(target for group in groups for target in group):
            raise self._no_layer(addition.layer)
        if any(".experts." in target for group in groups for target in group):
            # These definitions have gates and the rest interleaved, or their matrices transposed.
            raise UnsupportedModelError(
                f"{self.place}: additions to the experts of this architecture ({printable(addition.layer)}) cannot be "
                "applied; merge them with PEFT first."
            )
        down, up = tensors[addition.parts["down"]], tensors[addition.parts["up"]]
        for group in groups:
            count, rows, columns = width_of(innermost(layers[known[group[0]]]))
            if down.shape[1:] == (columns,) and up.shape[:1] == (rows * len(group),) and not down.shape[0] % count:
                break
        else:
            raise self._misfit(addition.layer, down, up)
        rank = down.shape[0] // count
        if up.ndim != 2 or up.shape[1] != down.shape[0]:
            raise self._misfit(addition.layer, down, up)
        scale = self.config.scale(addition.layer.replace(".base_layer", ""), rank)
        down = down.reshape(count, rank, columns)
        up = mx.contiguous(up.reshape(-1, rank, count).transpose(2, 0, 1)).astype(mx.float32) * scale
        for target, half in zip(group, mx.split(up, len(group), axis=1), strict=True):
            yield known[target], layers[known[target]], (down, mx.contiguous(half), None)

    def _wrap(self, path: str, layer: nn.Module, down: mx.array, up: mx.array, length: mx.array | None) -> LowRank:
        """Return a layer with an addition.

        Args:
            path: Its name, for messages.
            layer: The layer without it.
            down: `[..., rank, in]`; for an embedding `[vocabulary, rank]`.
            up: `[..., out, rank]`.
            length: The length of each row; None for those that result.
        """
        inner = innermost(layer)
        shape, embeds = width_of(inner), is_embedding(layer)
        fitting = (down.shape[0], up.shape[0]) if embeds else (*down.shape[:-2], up.shape[-2], down.shape[-1])
        alike = down.shape[:-2] == up.shape[:-2]
        if fitting != shape or not alike or (length is not None and length.shape != shape[:1]):
            raise BrokenModelError(
                f"{self.place}: the addition to {printable(path)} is for a matrix of {_shape(fitting)}, but that of "
                f"this model is {_shape(shape)}; it is made for another model."
            )
        if (rank := up.shape[-1]) > max(shape[-2:]):
            raise BrokenModelError(
                f"{self.place}: the addition to {printable(path)} has rank {rank}, more than a matrix of "
                f"{_shape(shape)} can have."
            )
        if length is not None:
            if embeds or len(shape) > 2 or inner is not layer:
                raise UnsupportedModelError(
                    f"{self.place}: DoRA for {printable(path)} cannot be applied, only for linear layers without "
                    "another adapter."
                )
            return NewLengthLinear(layer, down, up, length.astype(down.dtype))
        if embeds:
            return LowRankEmbedding(layer, down, up, ties=self.config.form is AdapterForm.MLX)
        return LowRankLinear(layer, down, up) if len(shape) == 2 else LowRankSwitch(layer, down, up)

    def _require_shape(self, name: str, array: mx.array, expected: tuple[int, ...]) -> None:
        if array.shape != expected:
            raise BrokenModelError(
                f"{self.place}: {printable(name)} is {shape_text(array)}, but that of this model is {_shape(expected)}."
            )

    def _no_layer(self, name: str) -> BrokenModelError:
        return BrokenModelError(
            f"{self.place}: it changes {printable(name)}, which this model does not have; it is made for another model."
        )

    def _misfit(self, layer: str, down: mx.array, up: mx.array) -> BrokenModelError:
        return BrokenModelError(
            f"{self.place}: the two matrices that are added to {printable(layer)}, {shape_text(down)} and "
            f"{shape_text(up)}, do not fit each other."
        )


# The first and the second matrix of an addition, and for DoRA the lengths of the rows.
Matrices = tuple[mx.array, mx.array, mx.array | None]


class Adapters:
    """The adapters of a model, applied one after the other."""

    def __init__(self, source: ModelSource) -> None:
        """Check the adapters of a model as far as is possible without reading their tensors.

        Raises:
            BrokenModelError: A configuration or a file makes no sense.
            UnsupportedModelError: An adapter is applied in a way that is not computed here.
        """
        self._applied = tuple(applied_adapter(adapter, source.config) for adapter in source.adapters)
        self._tensors: list[dict[str, mx.array]] = []

    @property
    def files(self) -> tuple[TensorFile, ...]:
        """Their files as they are read."""
        return tuple(each.file for each in self._applied)

    @property
    def read_bytes(self) -> int:
        """Bytes that are read from their files."""
        return sum(file.read_bytes for file in self.files)

    def read(self, progress: Callable[[int], None], cancelled: Callable[[], bool]) -> None:
        """Read the tensors.

        Args:
            progress: Receives the bytes read so far.
            cancelled: Polled; returns whether to stop.

        Raises:
            BrokenModelError: A tensor holds something that is not a finite number.
            CancelledError: `cancelled` returned True.
        """
        done = 0
        for each in self._applied:
            tensors: dict[str, mx.array] = {}
            self._tensors.append(tensors)
            each.read(tensors, _after(done, progress), cancelled)
            done += each.file.read_bytes

    def imagine(self, dtypes: Mapping[str, mx.Dtype]) -> None:
        """Put arrays that are never evaluated in place of the tensors.

        Args:
            dtypes: The types of arrays by those of files.
        """
        for file in self.files:
            checked = weights.select([file], lambda _: True)
            self._tensors.append(
                {
                    name: mx.zeros(info.shape, dtypes[info.dtype])
                    for each in checked
                    for name, info in each.tensors.items()
                }
            )

    def replace_stored(self, model: nn.Module, stored: dict[str, mx.array]) -> None:
        """Replace weights of a model's files, in place; see `AppliedAdapter`."""
        for each, tensors in zip(self._applied, self._tensors, strict=True):
            each.replace_stored(model, stored, tensors)

    def replace_parameters(self, parameters: dict[str, mx.array]) -> None:
        """Replace parameters of a model, in place; see `AppliedAdapter`."""
        for each, tensors in zip(self._applied, self._tensors, strict=True):
            each.replace_parameters(parameters, tensors)

    def attach(self, model: nn.Module, dtype: mx.Dtype) -> list[NewLengthLinear]:
        """Wrap the layers of a model that get additions; see `AppliedAdapter`."""
        pairs = zip(self._applied, self._tensors, strict=True)
        return [layer for each, tensors in pairs for layer in each.attach(model, tensors, dtype)]

    def clear(self) -> None:
        """Free the tensors."""
        for tensors in self._tensors:
            tensors.clear()


def applied_adapter(adapter: Adapter, config: Mapping[str, Any]) -> AppliedAdapter:
    """Return an adapter for a model with a `config.json`, checked as far as is possible without reading its tensors.

    Raises:
        BrokenModelError: Its configuration or its file makes no sense.
        UnsupportedModelError: It is applied in a way that is not computed here.
    """
    read_config = read_adapter_config(adapter)
    file = adapter_names.readable(read_config, normalise.normalise(config))
    wanted = tensor_names.is_wanted(config, "")
    names = [name for name in file.tensors if wanted(name.removeprefix("base_model.model."))]
    return AppliedAdapter(read_config, file, adapter_names.sort_names(read_config, names))


def _after(before: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that adds the bytes read before to those that it is given."""
    return lambda more: progress(before + more)


def _layers(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield the layers of a model that have a matrix; those inside of a layer with an addition are not listed."""
    inside: list[str] = []
    for path, layer in sorted(model.named_modules(), key=lambda item: item[0]):
        if path.startswith(tuple(inside)):
            continue
        if isinstance(layer, LowRank):
            inside.append(f"{path}.")
        if takes_additions(layer):
            yield path, layer


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
