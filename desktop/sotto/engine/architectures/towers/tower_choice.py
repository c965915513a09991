"""Which vision tower a model has."""

import importlib
from collections.abc import Mapping
from typing import Any

from sotto.engine.architectures.towers.tower import Tower
from sotto.engine.config.architecture_table import architecture


def make_tower(config: Mapping[str, Any]) -> Tower | None:
    """Return a model's tower without its weights; None if models of its type do not see.

    Args:
        config: The contents of `config.json`.

    Raises:
        UnsupportedModelError: The config asks for something that this family's tower does not do.
    """
    found = architecture(config)
    if not found.sees:
        return None
    module = importlib.import_module(f"sotto.engine.architectures.towers.{found.sees}_tower")
    tower: Tower = module.make_tower(config)
    return tower
