"""Model definitions: mlx-lm's, imported without running its package, and our own where those are wrong.

WORKAROUND: `import mlx_lm` imports transformers and numpy, lowers the process's limit on open files and takes seconds.
A module object that only knows where the package's files are makes `mlx_lm.models.*` importable without it. Check with
new versions whether the package itself still imports that much.
"""

import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from mlx import nn

from sotto.engine.architectures import attention
from sotto.engine.config import normalise
from sotto.engine.config.architecture_table import architecture
from sotto.engine.config.load_errors import reason_of
from sotto.engine.config.supported_models import refusal
from sotto.errors import EngineError, UnsupportedModelError
from sotto.store.printable import printable

# The definitions are internals of mlx-lm, so each minor version must pass the parity tests before it is allowed here.
_VERSION = "0.32."
_MARK = "__definitions_only__"


def install() -> None:
    """Make `mlx_lm.models` importable by itself; further calls do nothing.

    Raises:
        EngineError: mlx-lm is missing, has another version, or was already imported in full.
    """
    present = sys.modules.get("mlx_lm")
    if present is not None:
        if not hasattr(present, _MARK):
            raise EngineError(
                "mlx_lm was imported in full before Sotto's engine; import sotto.engine.architectures.zoo first."
            )
        return
    # Locates the package without running it.
    spec = importlib.util.find_spec("mlx_lm")
    if spec is None:
        raise EngineError(f"mlx-lm is not installed; Sotto needs version {_VERSION}x of it.")
    version = importlib.metadata.version("mlx-lm")
    if not version.startswith(_VERSION):
        raise EngineError(f"mlx-lm {version} is installed, but Sotto needs version {_VERSION}x of it.")
    package = importlib.util.module_from_spec(spec)
    setattr(package, _MARK, True)
    sys.modules["mlx_lm"] = package
    attention.install()


Make = Callable[[ModuleType, Mapping[str, Any]], nn.Module]
"""Makes a model without its weights from its definition and its config."""


def plain(definition: ModuleType, config: Mapping[str, Any]) -> nn.Module:
    """Return a model as it is defined, without its weights."""
    return definition.Model(definition.ModelArgs.from_dict(config))


def build(config: Mapping[str, Any], make: Make = plain) -> tuple[nn.Module, dict[str, Any]]:
    """Return a model without its weights, and its config with the keys that its definition reads.

    Args:
        config: The content of `config.json`.
        make: Makes the model.

    Raises:
        UnsupportedModelError: No definition computes this config correctly.
    """
    if reason := refusal(config):
        raise UnsupportedModelError(reason)
    normalised = normalise.normalise(config)
    definition = _definition(normalised)
    _refuse_unread(normalised, definition)
    try:
        return make(definition, normalised), normalised
    except Exception as error:
        # Definitions check nothing, so a missing or meaningless value shows only in the first error that it causes.
        raise UnsupportedModelError(
            f"Its config.json does not describe a {normalised['model_type']} model that can be built: "
            f"{reason_of(error)}."
        ) from error


def _definition(config: Mapping[str, Any]) -> ModuleType:
    install()
    found = architecture(config)
    own = f"sotto.engine.architectures.definitions.{found.definition}"
    return importlib.import_module(own if found.definition else f"mlx_lm.models.{found.name}")


def _refuse_unread(config: Mapping[str, Any], definition: ModuleType) -> None:
    """Refuse a config with a key that changes the result but that the definition does not read."""
    read = inspect.signature(definition.ModelArgs).parameters
    kind, found, inner = config["model_type"], architecture(config), config.get("text_config")
    # Our own definitions read the window; they are used inside of others as well.
    for level in (config, inner) if isinstance(inner, Mapping) else (config,):
        computed = architecture(level)
        if computed.windows_by_default and not computed.definition and not level.get("layer_types"):
            _refuse_window(level, kind)
    if "text_config" in read:
        return
    if (scaling := normalise.rope_scaling_of(config)) and not {"rope_scaling", "rope_parameters"} & read.keys():
        raise UnsupportedModelError(
            f"Its positions are scaled by '{printable(scaling)}' (rope_scaling), which is not supported in {kind} "
            "models."
        )
    partial = "partial_rotary_factor"
    rotary = {partial, "rotary_pct", "rotary_dim", "rope_parameters"}
    # Some definitions always rotate a fixed part of each head; the table then lists it among the supported values.
    if config.get(partial) not in (None, 1, 1.0) and not rotary & read.keys() and partial not in found.supported_values:
        raise UnsupportedModelError(
            f"It rotates only a part of each head (partial_rotary_factor), which is not supported in {kind} models."
        )
    windows = {"sliding_window", "sliding_window_size", "attention_window_size"}
    if not windows & read.keys():
        _refuse_window(config, kind)


def _refuse_window(config: Mapping[str, Any], kind: str) -> None:
    """Refuse a config in which every layer sees only a window."""
    if normalise.window_of(config):
        raise UnsupportedModelError(
            f"Its attention sees only a window of the text (sliding_window), which is not supported in {kind} models."
        )
