"""Checking the configuration of an adapter, and the factor by which its additions count. Does not import MLX."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.adapters.adapter_files import ADAPTER_CONFIG
from sotto.store.bounded_json import kind_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import Adapter, Format

# Initialisations that change the weights of the model itself, so that the adapter fits only to what they left of them.
_CHANGES_BASE = ("pissa", "olora", "corda", "loftq", "lora_ga")
# What PEFT computes differently, with the values that leave it out.
_UNKNOWN_TO_US: Mapping[str, tuple[Any, ...]] = {
    "layer_replication": (None, []),
    "lora_bias": (None, False),
    "trainable_token_indices": (None, [], {}),
    "use_qalora": (None, False),
    "alora_invocation_tokens": (None, []),
    "arrow_config": (None,),
    "use_bdlora": (None, False),
    "velora_config": (None,),
    "megatron_config": (None,),
}
# A pattern is a regular expression for PEFT. Only those that are names, with dots, are understood.
_PATTERN = re.compile(r"\^?((?:\w|\\?\.)+)\$?")
_MOST_SCALE = 1e6


class AdapterForm(Enum):
    """Who wrote an adapter, which decides the names and shapes of its tensors."""

    MLX = auto()
    PEFT = auto()
    GGUF = auto()


@dataclass(frozen=True, slots=True)
class AdapterConfig:
    """How an adapter is applied.

    Attributes:
        form: Who wrote it.
        adds: Whether it adds products of low rank; if not, it replaces weights only.
        dora: Whether it also gives each row of a matrix a new length.
        source: The adapter, for error messages.
        settings: The fields that it was read from.
    """

    form: AdapterForm
    adds: bool
    dora: bool
    source: Adapter
    settings: Mapping[str, Any]

    def scale(self, layer: str, rank: int) -> float:
        """Return the factor by which an addition of `rank` to a layer counts.

        Raises:
            BrokenModelError: The configuration says another rank.
        """
        if self.form is AdapterForm.GGUF:
            alpha: float = self.settings["lora_alpha"]
            return alpha / rank if alpha else 1.0
        if self.form is AdapterForm.MLX:
            parameters = self.settings["lora_parameters"]
            _require_rank(self.source, layer, rank, _whole(self.source, parameters, "rank"))
            return _number(self.source, parameters, "scale")
        config = self.settings
        _require_rank(self.source, layer, rank, _by_pattern(self.source, config, "rank_pattern", layer, "r"))
        alpha = _by_pattern(self.source, config, "alpha_pattern", layer, "lora_alpha")
        return alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)


def read_adapter_config(adapter: Adapter) -> AdapterConfig:
    """Return how an adapter is applied.

    Raises:
        BrokenModelError: A field is missing or has the wrong type.
        UnsupportedModelError: It is applied in a way that is not computed here.
    """
    config = adapter.config
    if adapter.tensor_file.format is Format.GGUF:
        return AdapterConfig(AdapterForm.GGUF, True, False, adapter, config)
    if "peft_type" in config:
        return _read_peft(adapter)
    if "lora_parameters" in config or "fine_tune_type" in config:
        return _read_mlx(adapter)
    raise BrokenModelError(
        f"{_place(adapter)} is not an adapter's: it should have peft_type, as PEFT writes it, or lora_parameters, as "
        "mlx-lm does."
    )


def _read_mlx(adapter: Adapter) -> AdapterConfig:
    config = adapter.config
    kind = config.get("fine_tune_type", "lora")
    if kind not in ("lora", "dora", "full"):
        raise UnsupportedModelError(
            f"{_place(adapter)}: fine_tune_type is {_shown(kind)}; lora, dora and full can be applied."
        )
    parameters = config.get("lora_parameters")
    if kind != "full" and not isinstance(parameters, Mapping):
        raise BrokenModelError(
            f"{_place(adapter)}: lora_parameters is {kind_of(parameters)}; it should be an object with rank and scale."
        )
    return AdapterConfig(AdapterForm.MLX, kind != "full", kind == "dora", adapter, config)


def _read_peft(adapter: Adapter) -> AdapterConfig:
    config, place = adapter.config, _place(adapter)
    if config["peft_type"] != "LORA":
        raise UnsupportedModelError(f"{place}: peft_type is {_shown(config['peft_type'])}; only LORA can be applied.")
    for key, harmless in _UNKNOWN_TO_US.items():
        if config.get(key) not in harmless:
            raise UnsupportedModelError(f"{place}: {key} is set, which cannot be applied; train without it.")
    begun = config.get("init_lora_weights", True)
    if isinstance(begun, str) and begun.lower().startswith(_CHANGES_BASE):
        raise UnsupportedModelError(
            f"{place}: init_lora_weights is {_shown(begun)}, which changes the weights of the model as well; convert "
            "the adapter with PEFT's path_initial_model_for_weight_conversion."
        )
    return AdapterConfig(AdapterForm.PEFT, True, bool(config.get("use_dora")), adapter, config)


def _by_pattern(adapter: Adapter, config: Mapping[str, Any], key: str, layer: str, usual: str) -> float:
    """Return the value of the first pattern that ends a layer's name, else that of the key `usual`."""
    patterns = config.get(key) or {}
    if not isinstance(patterns, Mapping):
        raise BrokenModelError(f"{_place(adapter)}: {key} is {kind_of(patterns)}; it should be an object.")
    for pattern in patterns:
        match = _PATTERN.fullmatch(pattern)
        if match is None:
            raise UnsupportedModelError(
                f"{_place(adapter)}: {key} has the expression {_shown(pattern)}; only names of layers are understood."
            )
        name = match[1].replace("\\", "")
        if layer == name or (layer.endswith(f".{name}") and not pattern.startswith("^")):
            return _number(adapter, patterns, pattern)
    return _number(adapter, config, usual)


def _require_rank(adapter: Adapter, layer: str, rank: int, stated: float) -> None:
    if rank != stated:
        raise BrokenModelError(
            f"{printable_path(adapter.tensor_file.path)}: the addition to {printable(layer)} has rank {rank}, but "
            f"{ADAPTER_CONFIG} says {stated:g}."
        )


def _whole(adapter: Adapter, fields: Mapping[str, Any], key: str) -> int:
    value = fields.get(key)
    if type(value) is not int or value < 1:
        raise BrokenModelError(f"{_place(adapter)}: {key} is {_shown(value)}; it should be a whole number from 1 on.")
    return value


def _number(adapter: Adapter, fields: Mapping[str, Any], key: str) -> float:
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST_SCALE < value < _MOST_SCALE:
        raise BrokenModelError(
            f"{_place(adapter)}: {printable(key)} is {_shown(value)}; it should be a number below a million."
        )
    return float(value)


def _place(adapter: Adapter) -> str:
    return printable_path(adapter.path / ADAPTER_CONFIG)


def _shown(value: Any) -> str:
    return f"'{printable(value)}'" if isinstance(value, str) else printable(str(value), 40)
