"""The environment in which artefacts are built, apart from that of the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import native_build
from artefacts import definition
from installing import (
    InstallError,
    ask,
    can_compile,
    make_venv,
    provide_compiler,
    provide_libraries,
    run_pip,
    say,
)

_FOLDER = definition.ROOT / "build" / "artefacts"


def is_made_from(own: Path, python: Path) -> bool:
    """Return whether an environment's Python works and is the same installation as another Python."""
    which = "import sys; print(sys.version, sys.base_prefix)"
    try:
        return ask(own, which) == ask(python, which)
    except InstallError:
        return False


@dataclass(frozen=True)
class Workshop:
    """An environment with the tools that build artefacts.

    Attributes:
        folder: Where everything is made.
        python: The environment's Python.
    """

    folder: Path
    python: Path

    @classmethod
    def open(cls, python: Path) -> Workshop:
        """Set up the environment for a Python, with the system's tools and libraries.

        Raises:
            InstallError: Something is missing that cannot be installed.
        """
        if sys.platform != "linux":
            raise InstallError("Linux packages are built on Linux; only `app` is built on other systems, too.")
        provide_compiler(python)
        if not can_compile(python):
            raise InstallError(
                f"The native kernels need a C++ compiler and the headers of {python} "
                "(on Debian: sudo apt-get install g++ python3-dev)."
            )
        if line := provide_libraries(windows=True):
            raise InstallError(f"Qt is examined while it is packed, which needs this line first:\n    {line}")
        wheel = [*definition.settings()["build-system"]["requires"], *native_build.requirements()]
        return cls.with_tools(python, "packaging", *wheel)

    @classmethod
    def with_tools(cls, python: Path, group: str, *more: str) -> Workshop:
        """Set up the environment for a Python with the tools of a dependency group and `more`, apart from the system.

        Raises:
            InstallError: They cannot be installed.
        """
        tag = ask(python, "import sys; print('cp%d%d' % sys.version_info[:2])")
        folder = _FOLDER / (tag if group == "packaging" else f"{group}-{tag}")
        own = folder / "environment" / "bin" / "python"
        if not is_made_from(own, python):
            make_venv(folder / "environment", python)
        say(f"Setting up the tools in {folder.relative_to(definition.ROOT)}.")
        run_pip(own, [["install", "--no-compile", *definition.settings()["dependency-groups"][group], *more]])
        return cls(folder, own)

    @property
    def site(self) -> Path:
        """The folder of the environment's packages."""
        (found,) = (self.folder / "environment" / "lib").glob("python3.*/site-packages")
        return found

    def fresh(self, name: str) -> Path:
        """Return an empty folder of that name."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def run(self, *arguments: object, environment: Mapping[str, str] | None = None) -> str:
        """Run the environment's Python, with its tools on the path, and return its stdout.

        Raises:
            InstallError: It fails.
        """
        path = f"{self.python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        result = subprocess.run(
            [str(self.python), *map(str, arguments)],
            env={**os.environ, "PATH": path, "PYTHONPATH": "", **(environment or {})},
            capture_output=True,
            text=True,
        )
        if result.returncode != 0:
            raise InstallError(f"{' '.join(map(str, arguments))} failed:\n{result.stderr.strip()[-4000:]}")
        return result.stdout
