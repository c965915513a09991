"""Gets the clients from the registries, each once, into a folder that is kept outside the project."""

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
"""Which ones were tried last; the table of `tests/README.md` says what came of it."""

_SYSTEM = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), "")
_MACHINE = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
_HERE = f"{_SYSTEM}-{_MACHINE}"
# What npm is asked for, and where the program then is. The programs themselves are in packages for each system, which
# need neither Node nor their install scripts.
_PACKAGES = {
    "codex": (f"@openai/codex@{VERSIONS['codex']}-{_HERE}", "@openai/codex/vendor/*/bin/codex"),
    "claude": (
        f"@anthropic-ai/claude-code-{_HERE}@{VERSIONS['claude']}",
        f"@anthropic-ai/claude-code-{_HERE}/claude",
    ),
    "opencode": (f"opencode-{_HERE}@{VERSIONS['opencode']}", f"opencode-{_HERE}/bin/opencode"),
}


def installed(name):
    """Return the path of a client, which is installed if it is not there yet."""
    if not _SYSTEM or not _MACHINE:
        pytest.skip(f"no client is published for {platform.system()} on {platform.machine()}")
    kept = os.environ.get("SOTTO_CLIENTS_FOLDER") or Path.home() / ".cache" / "sotto-test-clients"
    folder = Path(kept) / f"{name}-{VERSIONS[name]}"
    found = _aider(folder) if name == "aider" else _from_npm(name, folder)
    assert found is not None, f"{folder} has no {name}"
    return found


def _from_npm(name, folder):
    package, place = _PACKAGES[name]
    if (found := next(folder.glob(f"node_modules/{place}"), None)) is None:
        folder.mkdir(parents=True, exist_ok=True)
        _run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, package)
        found = next(folder.glob(f"node_modules/{place}"), None)
    return found


def _aider(folder):
    program = folder / "bin" / "aider"
    if not program.exists():
        _run(sys.executable, "-m", "venv", folder)
        _run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", f"aider-chat=={VERSIONS['aider']}")
    return program


def _run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
