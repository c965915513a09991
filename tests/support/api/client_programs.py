"""Installing the published clients from their registries, once each, into a folder outside the project."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

VERSIONS = {
    "codex": "0.169.0",
    "claude": "2.1.330",
    "opencode": "1.18.33",
    "aider": "0.86.2",
}
"""The versions tested last; `tests/README.md` has a table of the results."""

_SYSTEM = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), "")
_MACHINE = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
_HERE = f"{_SYSTEM}-{_MACHINE}"
# The npm package, and the path of the program in it. These packages contain the program for one system, and need
# neither Node nor their install scripts.
_PACKAGES = {
    "codex": (f"@openai/codex@{VERSIONS['codex']}-{_HERE}", "@openai/codex/vendor/*/bin/codex"),
    "claude": (
        f"@anthropic-ai/claude-code-{_HERE}@{VERSIONS['claude']}",
        f"@anthropic-ai/claude-code-{_HERE}/claude",
    ),
    "opencode": (f"opencode-{_HERE}@{VERSIONS['opencode']}", f"opencode-{_HERE}/bin/opencode"),
}


def install_client(name):
    """Install a client if it is missing, and return its path."""
    if not _SYSTEM or not _MACHINE:
        pytest.skip(f"no client is published for {platform.system()} on {platform.machine()}")
    cache = os.environ.get("SOTTO_CLIENTS_FOLDER") or Path.home() / ".cache" / "sotto-test-clients"
    folder = Path(cache) / f"{name}-{VERSIONS[name]}"
    program = _install_aider(folder) if name == "aider" else _install_from_npm(name, folder)
    assert program is not None, f"{folder} has no {name}"
    return program


def _install_from_npm(name, folder):
    package, path = _PACKAGES[name]
    if (program := next(folder.glob(f"node_modules/{path}"), None)) is None:
        folder.mkdir(parents=True, exist_ok=True)
        _run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, package)
        program = next(folder.glob(f"node_modules/{path}"), None)
    return program


def _install_aider(folder):
    program = folder / "bin" / "aider"
    if not program.exists():
        _run(sys.executable, "-m", "venv", folder)
        _run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", f"aider-chat=={VERSIONS['aider']}")
    return program


def _run(*command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert result.returncode == 0, f"{command}: {result.stderr[-2000:]}"
