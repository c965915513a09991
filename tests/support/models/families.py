"""A tiny configuration of every supported model family, by name."""

import json
from pathlib import Path

FAMILIES = json.loads(Path(__file__).with_name("tiny_families.json").read_text(encoding="utf-8"))


def vocabulary_of(config):
    """Return the size of a model's vocabulary, which the config of an inner model may hold."""
    return config.get("vocab_size") or config["text_config"]["vocab_size"]
