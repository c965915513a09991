"""The folder of real models and test vectors next to the project folder, which may be missing."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3] / "shared" / "material"


def material(*parts: str) -> Path:
    """Return a path in the material folder, or skip the test if it is missing."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {path}, which is not on this machine")
    return path
