"""A tiny configuration of every family of models that can run, by its name."""

import json
from pathlib import Path

FAMILIES = json.loads(Path(__file__).with_name("tiny_families.json").read_text(encoding="utf-8"))
