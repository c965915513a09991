"""What Sotto is as a package: read from `pyproject.toml` and `briefcase.toml`, the only places that say so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Of the desktop entry and the icons; shops want three words.
ID = "app.sotto"
SHOP_ID = f"{ID}.sotto"
# The prefix of those `cleanup_paths` that are packages; the rest are files inside packages that are kept.
_PACKAGES = "**/app_packages/"


def settings() -> dict[str, Any]:
    """Return the content of `pyproject.toml`."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def project() -> dict[str, Any]:
    """Return `[project]`, with the version."""
    source = (ROOT / "desktop" / "sotto" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    if found is None:
        raise SystemExit('desktop/sotto/__init__.py has no line __version__ = "..." to take the version from.')
    return {**settings()["project"], "version": found.group(1)}


def app() -> dict[str, Any]:
    """Return what `briefcase.toml` says about the app."""
    parsed = tomllib.loads((ROOT / "briefcase.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = parsed["tool"]["briefcase"]["app"]["sotto"]
    return found


def cleanup_paths(platform: str) -> list[str]:
    """Return the globs of what a bundle for a platform, `macOS` or `linux`, does not need."""
    described = app()
    return [*described["cleanup_paths"], *described[platform]["cleanup_paths"]]


def unused_packages() -> list[str]:
    """Return the Python packages that are installed as dependencies of others, but never imported."""
    paths = app()["cleanup_paths"]
    return [path.removeprefix(_PACKAGES) for path in paths if path.startswith(_PACKAGES)]


def unused_files(platform: str = "linux") -> list[str]:
    """Return the globs of files inside packages that a bundle does not need."""
    return [path for path in cleanup_paths(platform) if not path.startswith(_PACKAGES)]


def languages() -> frozenset[str]:
    """Return the languages of the window other than English, as in the names of files."""
    files = (ROOT / "resources" / "translations").glob("sotto_*.qm")
    return frozenset(file.stem.removeprefix("sotto_") for file in files)
