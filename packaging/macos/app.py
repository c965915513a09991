"""Builds `Sotto.app` for Macs with Apple silicon, on any system; run by `build.py` in an environment with the tools."""

from __future__ import annotations

import argparse
import os
import plistlib
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from artefacts import definition, notices, sbom
from installing import InstallError, say
from macos import bill, checks, launcher, macho, packages, property_list, python_support
from macos.python_support import PythonSupport

_VERSION = ".".join(map(str, sys.version_info[:2]))
# Modules without a file or a place in a library's table.
_MADE_WHILE_STARTING = frozenset({"_frozen_importlib", "_frozen_importlib_external", "builtins", "os.path", "sys"})
_PLATFORM = "aarch64-apple-darwin"
_MODE = py_compile.PycInvalidationMode.UNCHECKED_HASH


def main(arguments: list[str]) -> int:
    """Build the app, print its path, and return the exit status."""
    parser = argparse.ArgumentParser(prog="app.py", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--python-support", type=Path)
    parsed = parser.parse_args(arguments)
    try:
        print(build(parsed.out, parsed.work, parsed.python_support))
    except InstallError as error:
        say(str(error))
        return 1
    return 0


def build(out: Path, work: Path, given: Path | None) -> Path:
    """Build the app in the folder `out`, check it, and return its path.

    Args:
        out: The folder.
        work: A folder for what is made on the way.
        given: An archive or folder with Python for the Mac; None for an app that starts an installed one.

    Raises:
        InstallError: It cannot be built, or is not as it should be.
    """
    app = fresh(work.resolve() / "app") / f"{property_list.NAME}.app"
    contents = app / "Contents"
    resources = contents / "Resources"
    resources.mkdir(parents=True)
    support = None
    if given is not None:
        oldest_macos = property_list.oldest_macos()
        support = python_support.find(given, fresh(work / "python"), _VERSION, oldest_macos)
        python_support.install(support, contents / "Frameworks" / "Python.framework", _VERSION)
    copy_sources(resources / "app")
    say(f"Installing the packages for {_PLATFORM}.")
    site = resources / "app_packages"
    install_packages(site, work)
    bill_of_packages = bill.packages(site)
    say("Removing what is not used.")
    slim(contents, support)
    say("Compiling.")
    for folder in (resources, contents / "Frameworks"):
        compile_sources(folder)
    program = contents / "MacOS" / property_list.NAME
    program.parent.mkdir()
    launcher.build(program, _VERSION, work / "zig", own_python=support is not None)
    write_descriptions(contents)
    finish(app, bill_of_packages, support)
    if wrong := list(checks.problems(app)):
        raise InstallError(f"{app.name} is not as it should be:\n" + "\n".join(f"  {line}" for line in wrong))
    if support is None:
        say(
            f"The app has no Python: it starts the Python {_VERSION} that is installed on a Mac from python.org. "
            f"For one that needs nothing, name {python_support.WANTED} with --python-support."
        )
    target = out / app.name
    shutil.rmtree(target, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copytree(app, target, symlinks=True))


def fresh(folder: Path) -> Path:
    """Return an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def copy_sources(target: Path) -> None:
    """Copy Sotto and its resources as they are in a wheel, without kernels, which are for Linux."""
    ignored = shutil.ignore_patterns("__pycache__", "_native")
    shutil.copytree(definition.ROOT / "desktop" / "sotto", target / "sotto", ignore=ignored)
    shutil.copytree(definition.ROOT / "resources", target / "sotto" / "_resources")


def install_packages(site: Path, work: Path) -> None:
    """Choose the packages for macOS and Apple silicon, whatever this system is, and unpack them.

    Raises:
        InstallError: They cannot be had.
    """
    wanted, chosen = work / "requirements.in", work / "requirements.txt"
    wanted.write_text("\n".join(packages.requirements()) + "\n", encoding="utf-8")
    target = ("--only-binary", ":all:", "--python-platform", _PLATFORM, "--python-version", _VERSION)
    _uv("compile", "--quiet", "--no-header", "--generate-hashes", *target, "--output-file", chosen, wanted)
    _uv(
        "install",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "--link-mode",
        "copy",
        *target,
        "--target",
        site,
        "-r",
        chosen,
    )


def _uv(*arguments: object) -> None:
    # Otherwise, uv would choose packages for an older macOS, of which MLX has none.
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": definition.app()["macOS"]["min_os_version"]}
    command = [sys.executable, "-m", "uv", "pip", *map(str, arguments)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        raise InstallError(f"The packages for macOS cannot be installed:\n{result.stderr.strip()[-4000:]}")


def slim(contents: Path, support: PythonSupport | None) -> None:
    """Remove what is not used, and make binaries smaller.

    Raises:
        InstallError: Something that is used is not there.
    """
    resources = contents / "Resources"
    site = resources / "app_packages"
    packages.clean(site)
    modules = None
    if support is not None:
        modules = contents / "Frameworks" / "Python.framework" / "Versions" / _VERSION / "lib" / f"python{_VERSION}"
    imports = packages.follow(site, resources / "app", modules, _knower(support))
    packages.prune(site, imports)
    packages.complete_frameworks(site)
    for path in macho.files(contents):
        macho.thin(path)


def _knower(support: PythonSupport | None) -> Callable[[str], bool]:
    """Return what says whether Python has a module in its library, or, where none comes along, at all."""
    if support is None:
        return lambda name: name.partition(".")[0] in sys.stdlib_module_names
    content = support.library.read_bytes()

    def has(name: str) -> bool:
        # The table of the modules in the library has their names.
        return name in _MADE_WHILE_STARTING or b"\0%s\0" % name.encode() in content

    return has


def compile_sources(folder: Path) -> None:
    """Replace sources with bytecode, which is smaller, and is the same whenever it is made.

    Raises:
        InstallError: One cannot be compiled.
    """
    for path in sorted(folder.rglob("*.py")):
        name = str(path.relative_to(folder))
        try:
            py_compile.compile(str(path), str(path.with_suffix(".pyc")), name, doraise=True, invalidation_mode=_MODE)
        except py_compile.PyCompileError as error:
            raise InstallError(f"{name} cannot be compiled: {error.msg.strip()}") from error
        path.unlink()


def write_descriptions(contents: Path) -> None:
    """Write what macOS reads, with the icons and the script that the launcher runs."""
    (contents / "Info.plist").write_bytes(plistlib.dumps(property_list.info()))
    (contents / "PkgInfo").write_text("APPL????", encoding="ascii")
    resources = contents / "Resources"
    described = definition.app()
    for icon in {described["icon"], *(kind["icon"] for kind in described["document_type"].values())}:
        shutil.copyfile(definition.ROOT / f"{icon}.icns", resources / property_list.icon_name(icon))
    start = Path(__file__).with_name("start.py")
    py_compile.compile(str(start), str(resources / "start.pyc"), start.name, doraise=True, invalidation_mode=_MODE)


def finish(app: Path, found: list[bill.InstalledPackage], support: PythonSupport | None) -> None:
    """Write licences and the bill of materials, which name everything else that is there.

    Raises:
        InstallError: A licence does not fit.
    """
    resources = app / "Contents" / "Resources"
    parts = bill.parts(app, found, support)
    notices.write(resources, parts, "app_packages")
    sbom.write(app, parts, resources / sbom.NAME, "arm64")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
