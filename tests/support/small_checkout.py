"""A checkout with the real scripts and next to no packages, so that it is set up in a second and without a network."""

import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = (
    "start.py",
    "checkout.py",
    "installing.py",
    "progress.py",
    "unwritable.py",
    "native_build.py",
    "build_hook.py",
)
_LINUX_PACKAGES = "desktop/sotto/cli/linux_packages.py"
_SETTINGS = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "sotto"
dependencies = ["part{version}"]
optional-dependencies.test = []
[dependency-groups]
weights = []
suites = []
"""
# Builds an editable wheel without the network, and says when.
_BACKEND = """
import os, pathlib, sys, sysconfig, time, zipfile
def get_requires_for_build_editable(config_settings=None):
    return []
def build_editable(folder, config_settings=None, metadata_directory=None):
    for path in map(pathlib.Path, filter(None, [os.environ.get("SOTTO_TEST_HOLD")])):
        path.with_name("building").touch()
        while path.exists():
            time.sleep(0.02)
    record = pathlib.Path("desktop/sotto/_native", sysconfig.get_config_var("SOABI") + ".json")
    record.parent.mkdir(exist_ok=True)
    record.write_text('{"reason": "%s"}' % os.environ.get("SOTTO_TEST_REASON", ""))
    name = "sotto-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("sotto.pth", os.path.join(os.getcwd(), "desktop"))
        for name_in, text in (
            ("METADATA", "Metadata-Version: 2.1\\nName: sotto\\nVersion: 1.0\\n"),
            ("WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"),
            ("entry_points.txt", "[console_scripts]\\nsotto = small:main\\n"),
            ("RECORD", ""),
        ):
            wheel.writestr("sotto-1.0.dist-info/" + name_in, text)
    return name
"""
_PROGRAM = """
import sys
import part
def main():
    print("Started with part", part.VERSION, sys.argv[1:])
"""


@dataclass
class SmallCheckout:
    """A small checkout in a folder.

    Attributes:
        root: The folder.
        wheels: Where its only package is found.
        home: The home of whoever starts it.
    """

    root: Path
    wheels: Path
    home: Path

    @classmethod
    def create(cls, root: Path, aside: Path) -> "SmallCheckout":
        """Create one in `root`, and a home and wheels in another folder."""
        made = cls(root, aside / "wheels", aside / "home")
        for folder in (root / "packaging", root / "desktop" / "sotto" / "cli", made.wheels, made.home):
            folder.mkdir(parents=True)
        for name in SCRIPTS:
            shutil.copy(ROOT / "packaging" / name, root / "packaging" / name)
        shutil.copy(ROOT / _LINUX_PACKAGES, root / _LINUX_PACKAGES)
        (root / "backend.py").write_text(_BACKEND)
        (root / "desktop" / "small.py").write_text(_PROGRAM)
        made.compiler.parent.mkdir()
        made.compiler.symlink_to("/bin/true")
        made.publish("1.0")
        made.ask_for("")
        return made

    @property
    def compiler(self) -> Path:
        """What passes for a C++ compiler, alone in its folder."""
        return self.home / "bin" / "g++"

    @property
    def venv(self) -> Path:
        """The environment."""
        return self.root / ".venv"

    def ask_for(self, version: str) -> None:
        """Let it ask for a version of its package, such as `>=2`."""
        (self.root / "pyproject.toml").write_text(_SETTINGS.replace("{version}", version))

    def publish(self, version: str, size: int = 0) -> None:
        """Put a version of its package, with some more bytes in it, where pip finds it."""
        with zipfile.ZipFile(self.wheels / f"part-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr("part.py", f"VERSION = {version!r}\n")
            wheel.writestr("part.bin", os.urandom(size))
            about = f"part-{version}.dist-info"
            wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: part\nVersion: {version}\n")
            wheel.writestr(
                f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{about}/RECORD", "")

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a start without a network, a display or root's package manager."""
        return {
            "PATH": str(self.compiler.parent),
            "HOME": str(self.home),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_CACHE_DIR": "1",
            "LANG": "C.UTF-8",
            **more,
        }

    def command(self, *arguments: str, python: str = sys.executable) -> list[str]:
        """Return the command that starts it."""
        return [python, str(self.root / "packaging" / "start.py"), *arguments]

    def start(
        self, *arguments: str, python: str = sys.executable, before: tuple[str, ...] = (), **more: str
    ) -> "subprocess.CompletedProcess[str]":
        """Start it, and return what it said."""
        return subprocess.run(
            [*before, *self.command(*arguments, python=python)],
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.home,
        )
