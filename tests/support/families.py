"""A tiny configuration of every family of models that can run, by its name."""

import json

from places import SUPPORT

FAMILIES = json.loads((SUPPORT / "tiny_families.json").read_text(encoding="utf-8"))
