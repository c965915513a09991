"""Build app bundles with Briefcase: `python packaging/bundle.py create|build|package macOS|linux ...`.

Briefcase reads only `pyproject.toml` in the current folder. To keep version, licence and dependencies in one place,
ours has no Briefcase part. This script copies the contents of a bundle to `build/stage`, writes a `pyproject.toml`
there that joins our `[project]` with `briefcase.toml`, and runs Briefcase in that folder with the given arguments.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import tomli_w

from artefacts import definition
from artefacts.desktop_files import with_actions

ROOT = Path(__file__).resolve().parent.parent
STAGE = ROOT / "build" / "stage"


def main(arguments: list[str]) -> int:
    """Stage the sources and run Briefcase on them; return its exit status."""
    stage(STAGE)
    command, *rest = arguments or [""]
    if command in ("build", "package") and rest[:1] == ["linux"] and not entries(STAGE):
        # Otherwise Briefcase would create and pack the desktop entry in a single run, before it can be changed.
        briefcase(["create", *rest])
    for entry in entries(STAGE):
        entry.write_text(with_actions(entry.read_text()))
        # The symbolic icon, which desktop panels draw in their own colours.
        symbolic = entry.parents[1] / "icons" / "hicolor" / "symbolic" / "apps"
        symbolic.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / "resources" / "icons" / "sotto-symbolic.svg", symbolic / "app.sotto-symbolic.svg")
    return briefcase(arguments)


def briefcase(arguments: list[str]) -> int:
    """Run Briefcase and return its exit status."""
    return subprocess.call([sys.executable, "-m", "briefcase", *arguments], cwd=STAGE)


def entries(target: Path) -> list[Path]:
    """Return the desktop entries that Briefcase created in the folder `target`."""
    return sorted((target / "build").rglob("usr/share/applications/*.desktop"))


def stage(target: Path) -> None:
    """Copy everything that Briefcase needs into the folder `target`, keeping Briefcase's own files there."""
    for name in ("desktop", "resources", "tests"):
        shutil.rmtree(target / name, ignore_errors=True)
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "resources", target / "desktop" / "sotto" / "_resources")
    for name in ("LICENSE", "README.md"):
        shutil.copy2(ROOT / name, target / name)
    shutil.copy2(ROOT / "CHANGELOG.md", target / "CHANGELOG")
    (target / "pyproject.toml").write_text(tomli_w.dumps(definition.briefcase_configuration()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
