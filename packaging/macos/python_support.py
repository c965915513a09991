"""The Python that comes along in the app: found in what the person names, checked, and laid out as a framework."""

from __future__ import annotations

import plistlib
import re
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from installing import InstallError
from macos import macho

WANTED = (
    "python-build-standalone's install_only archive or folder for aarch64-apple-darwin, or the macOS archive of "
    "BeeWare's Python-Apple-support"
)
_SYSTEM = ("/usr/lib/", "/System/Library/")
# Never imported by Sotto or what it depends on, or by macOS alone.
_UNUSED = (
    "__phello__", "config-*", "ensurepip", "idlelib", "lib2to3", "lib-dynload/*test*", "lib-dynload/_tkinter*",
    "lib-dynload/readline*", "lib-dynload/xx*", "pydoc_data", "site-packages", "test", "tkinter", "turtle.py",
    "turtledemo", "venv", "**/__pycache__", "**/tests",
)  # fmt: skip


@dataclass(frozen=True)
class PythonSupport:
    """A Python for Macs with Apple silicon that runs from any folder.

    Attributes:
        library: Its library.
        modules: The folder of its own modules.
        version: Its version, such as `3.13.9`.
        licences: Texts that come along.
    """

    library: Path
    modules: Path
    version: str
    licences: tuple[Path, ...]


def find(given: Path, work: Path, version: str, oldest_macos: tuple[int, ...]) -> PythonSupport:
    """Return the Python in an archive or a folder.

    Args:
        given: The archive or folder.
        work: An empty folder in which an archive is unpacked.
        version: The wanted version, such as `3.13`.
        oldest_macos: The oldest macOS on which it must run.

    Raises:
        InstallError: There is none that fits; the message says why.
    """
    folder = given if given.is_dir() else _unpack(given, work)
    # In a framework, and as python-build-standalone has it. A framework for several systems has the Mac's beside them.
    patterns = (f"**/Python.framework/Versions/{version}/Python", f"**/lib/libpython{version}.dylib")
    libraries = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if macho.is_macho(path)]
    if not libraries:
        raise InstallError(f"{given} has no library of Python {version} for macOS: name {WANTED}.")
    library = next((path for path in libraries if "macos" in str(path.relative_to(folder))), libraries[0])
    home = library.parent.parent if library.parent.name == "lib" else library.parent
    modules = home / "lib" / f"python{version}"
    if not (modules / "os.py").is_file():
        raise InstallError(f"{given} lacks Python's own modules, {modules.relative_to(folder)}: name {WANTED}.")
    if wrong := next(problems(library, modules, oldest_macos), ""):
        raise InstallError(f"{given} does not fit: {wrong}. Name {WANTED}.")
    licences = tuple(path for name in ("LICENSE*", "lib/LICENSE*") for path in sorted(home.glob(name)))
    own = tuple(path for path in (modules / "LICENSE.txt",) if path.is_file())
    return PythonSupport(library, modules, _version(given, home, version), (*licences, *own))


def problems(library: Path, modules: Path, oldest_macos: tuple[int, ...]) -> Iterator[str]:
    """Yield for each of Python's binaries why it cannot come along, if it cannot."""
    for path in (library, *macho.files(modules)):
        binary = next((found for found in macho.read(path) if found.architecture == "ARM64"), None)
        if binary is None:
            yield f"{path.name} has no part for Apple silicon (arm64)"
            continue
        if binary.minimum > oldest_macos:
            needed, wanted = (".".join(map(str, version)) for version in (binary.minimum, oldest_macos))
            yield f"{path.name} needs macOS {needed}, but Sotto runs from {wanted} on"
        for asked in binary.libraries:
            if asked.startswith("/") and not asked.startswith(_SYSTEM):
                yield f"{path.name} asks for {asked}, which is outside of the app"


def _version(given: Path, home: Path, version: str) -> str:
    for path in home.glob(f"[iI]nclude/python{version}/patchlevel.h"):
        if found := re.search(r'#define PY_VERSION\s+"([^"]+)"', path.read_text(encoding="utf-8")):
            return found.group(1)
    for path in home.glob("Headers/patchlevel.h"):
        if found := re.search(r'#define PY_VERSION\s+"([^"]+)"', path.read_text(encoding="utf-8")):
            return found.group(1)
    raise InstallError(f"{given} lacks Python's header patchlevel.h, which says its version: name {WANTED}.")


def _unpack(archive: Path, work: Path) -> Path:
    try:
        with tarfile.open(archive) as content:
            content.extractall(work, filter="tar")
    except (OSError, tarfile.TarError) as error:
        raise InstallError(f"{archive} is neither a folder nor a tar archive that can be read ({error}).") from error
    return work


def install(support: PythonSupport, framework: Path, version: str) -> None:
    """Lay a Python out as a framework, with what can be imported and no programs."""
    inside = framework / "Versions" / version
    modules = inside / "lib" / f"python{version}"
    shutil.copytree(support.modules, modules, symlinks=False)
    for pattern in _UNUSED:
        for path in sorted(modules.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copyfile(support.library, inside / "Python")
    (inside / "Python").chmod(0o755)
    resources = inside / "Resources"
    resources.mkdir()
    for path in support.licences:
        shutil.copyfile(path, resources / path.name)
    described = {
        "CFBundleDevelopmentRegion": "en",
        "CFBundleExecutable": "Python",
        "CFBundleIdentifier": "org.python.python",
        "CFBundleInfoDictionaryVersion": "6.0",
        "CFBundleName": "Python",
        "CFBundlePackageType": "FMWK",
        "CFBundleShortVersionString": support.version,
        "CFBundleVersion": support.version,
    }
    (resources / "Info.plist").write_bytes(plistlib.dumps(described))
    link(framework, version)


def link(framework: Path, version: str) -> None:
    """Give a framework the links that codesign expects, which wheels and some archives cannot hold."""
    name = framework.stem
    (framework / "Versions" / "Current").unlink(missing_ok=True)
    (framework / "Versions" / "Current").symlink_to(version)
    for inside in (name, "Resources"):
        place = framework / inside
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(f"Versions/Current/{inside}")
