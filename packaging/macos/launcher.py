"""The app's program: starts Python in its own process, compiled for the Mac on any system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from artefacts import definition
from installing import InstallError

_SOURCE = Path(__file__).with_name("launcher.c")


def build(target: Path, version: str, work: Path, *, own_python: bool) -> None:
    """Compile the launcher.

    Args:
        target: The program.
        version: The version of Python that it starts, such as `3.13`.
        work: A folder for the compiler's own files.
        own_python: Whether the app has a Python; else it starts one that is installed.

    Raises:
        InstallError: The compiler fails.
    """
    oldest = definition.app()["macOS"]["min_os_version"]
    options = ["-Os", "-Wall", "-Wextra", "-Werror", f'-DVERSION="{version}"']
    if not own_python:
        options.append("-DINSTALLED_PYTHON")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"aarch64-macos.{oldest}", *options]
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(work / "global"), "ZIG_LOCAL_CACHE_DIR": str(work / "local")}
    environment = {**os.environ, **caches}
    result = subprocess.run([*command, "-o", target, _SOURCE], env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        raise InstallError(f"The launcher cannot be compiled:\n{result.stderr.strip()[-4000:]}")
    target.chmod(0o755)
