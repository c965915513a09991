"""Lets tests import the scripts in `packaging`."""

import sys
from pathlib import Path

# At the end: PyPI has a package `build`, too.
sys.path.append(str(Path(__file__).resolve().parents[2] / "packaging"))
