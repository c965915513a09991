"""The settings of a model's preprocessor of images, from the files that may hold them."""

from collections.abc import Mapping
from typing import Any


def preprocessor_of(json_files: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return how a model's images are preprocessed; empty if its files do not say.

    Since version 5, transformers writes the settings of all preprocessors into one file, which comes first.

    Args:
        json_files: Its parsed JSON files by name.
    """
    joint = json_files.get("processor_config.json", {}).get("image_processor")
    return joint if isinstance(joint, Mapping) else json_files.get("preprocessor_config.json", {})
