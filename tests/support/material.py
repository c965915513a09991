"""The folder of real models and vectors that tests may read beside the project."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3] / "shared" / "material"


def material(*parts: str) -> Path:
    """Return a path inside the material folder, or skip the test where it is absent."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {path}, which is not on this machine")
    return path
