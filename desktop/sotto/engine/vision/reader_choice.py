"""Which reader of images a model has."""

import importlib
from collections.abc import Mapping
from typing import Any

from sotto.engine.config.architecture_table import architecture
from sotto.engine.vision.image_reader import ImageReader


def make_reader(config: Mapping[str, Any], preprocessor: Mapping[str, Any]) -> ImageReader | None:
    """Return what reads images for a model; None if models of its type do not see.

    Args:
        config: The contents of `config.json`.
        preprocessor: The contents of `preprocessor_config.json`; empty for what the family usually has.

    Raises:
        UnsupportedModelError: The files ask for something that this family's reader does not do.
    """
    found = architecture(config)
    if not found.sees:
        return None
    module = importlib.import_module(f"sotto.engine.vision.{found.sees}_images")
    reader: ImageReader = module.make_reader(config, preprocessor)
    return reader
