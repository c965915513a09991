"""Builds the packages that people install, and a bare Debian to install them on; only on request, see README.md."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bare_debian import Debian

ROOT = Path(__file__).resolve().parents[2]
# A folder for what is built, and kept there for the next run.
REQUEST = "SOTTO_PACKAGES"
# At the end: PyPI has a package `build`, too.
sys.path.append(str(ROOT / "packaging"))
# Which Debian, by the name of the release.
_SUITE, _MIRROR = os.environ.get("SOTTO_DEBIAN", "bookworm"), "http://deb.debian.org/debian"
# What a desktop has, for the tests.
_DESKTOP = (
    "desktop-file-utils",
    "libglib2.0-bin",
    "shared-mime-info",
    "squashfs-tools",
    "x11-utils",
    "xdg-utils",
    "xvfb",
)
_PERSON = "person"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get(REQUEST):
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=f"{REQUEST}=FOLDER builds the packages and tests them"))


@pytest.fixture(scope="session")
def out() -> Path:
    """Return the folder with the tarball, the bill of materials and the Debian package, built if it lacks one."""
    folder = Path(os.environ[REQUEST]).absolute()
    made = [path.suffix for path in folder.glob("sotto*")]
    if not {".xz", ".json", ".deb", ".whl"} <= set(made):
        command = [sys.executable, ROOT / "packaging" / "build.py", "wheel", "tarball", "deb", "sbom", "--out", folder]
        subprocess.run(command, check=True, timeout=1800)
    return folder


@pytest.fixture(scope="session")
def portable(out: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked tarball, in a path that is not simple."""
    place = tmp_path_factory.mktemp("a place ä ☃")
    (archive,) = out.glob("*.tar.xz")
    subprocess.run(["tar", "-xf", archive, "-C", place], check=True)
    (folder,) = place.iterdir()
    return folder


@pytest.fixture(scope="session")
def base(out: Path) -> Debian:
    """Return a Debian without anything that a desktop has; nothing is installed in it."""
    if not shutil.which("debootstrap") or os.geteuid() != 0:
        pytest.skip("needs root, and debootstrap (apt-get install debootstrap)")
    root = out / f"debian-{_SUITE}"
    if not (root / "etc" / "debian_version").is_file():
        subprocess.run(["debootstrap", "--variant=minbase", _SUITE, root, _MIRROR], check=True, timeout=900)
    return Debian(root)


@pytest.fixture(scope="session")
def debian(out: Path, base: Debian) -> Debian:
    """Return a bare Debian that has exactly the libraries that the package asks for, and what the tests use."""
    (package,) = out.glob("*.deb")
    root = out / "debian"
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["cp", "-a", base.root, root], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    fields = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
    install = (
        f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {' '.join(_DESKTOP)} && "
        f"apt-get satisfy -y -qq --no-install-recommends {shlex.quote(fields.strip())}"
    )
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["chroot", root, "sh", "-c", install], check=True, timeout=900, env=environment)
    shutil.copy(package, root / "tmp" / "sotto.deb")
    found = Debian(root)
    found.run("useradd", "--create-home", _PERSON)
    return found
