"""A tiny configuration of every supported model family, by name."""

import json
from pathlib import Path

FAMILIES = json.loads(Path(__file__).with_name("tiny_families.json").read_text(encoding="utf-8"))
