"""The packages that come along in the app: those for macOS, chosen on any system, without what is never used."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from artefacts import contents, definition, portable, slimming
from installing import InstallError
from macos import macho, python_support
from macos.imports import Imports

# Their definitions are imported without running the package itself.
_NOT_RUN = ("mlx_lm",)


def requirements() -> list[str]:
    """Return what the app for macOS depends on."""
    return [*definition.project()["dependencies"], *definition.app()["macOS"]["requires"]]


def only_elsewhere() -> frozenset[str]:
    """Return the packages that only other systems need."""
    names: dict[bool, set[str]] = {True: set(), False: set()}
    for line in definition.project()["dependencies"]:
        name = re.split(r"[^\w-]", line, maxsplit=1)[0].replace("-", "_")
        names["sys_platform == 'linux'" in line].add(name)
    return frozenset(names[True] - names[False])


def follow(site: Path, app: Path, python: Path | None, has: Callable[[str], bool]) -> Imports:
    """Follow all imports of Sotto and of the definitions of models.

    Args:
        site: The folder of packages.
        app: The folder with Sotto itself.
        python: The folder of Python's own modules; None if it does not come along.
        has: Says whether Python has a module that is in none of these folders.

    Raises:
        InstallError: A module is missing.
    """
    folders = [app, site]
    if python is not None:
        folders += [python, python / "lib-dynload"]
    imports = Imports(folders, has, _NOT_RUN)
    own = [".".join(path.relative_to(app).with_suffix("").parts) for path in (app / "sotto").rglob("*.py")]
    models = [f"mlx_lm.models.{path.stem}" for path in (site / "mlx_lm" / "models").glob("*.py")]
    by_name = [name for name in contents.BY_NAME if name.partition(".")[0] not in only_elsewhere()]
    imports.follow([name.removesuffix(".__init__") for name in (*own, *models, *by_name)])
    lacking = [
        f"{importer} imports {name}"
        for name, importer in sorted(imports.missing.items())
        if not _is_known(name, importer)
    ]
    if lacking:
        raise InstallError("Modules are missing: " + "; ".join(lacking) + ".")
    return imports


def _is_known(name: str, importer: str) -> bool:
    package = name.partition(".")[0]
    return package in only_elsewhere() or (package == "numpy" and importer in portable.NEED_NUMPY)


def prune(site: Path, reached: Imports) -> None:
    """Remove what is never imported, and libraries that nothing asks for."""
    kept = {path for path in reached.reached.values() if path is not None}
    packages = {name.partition(".")[0] for name in reached.reached}
    for path in sorted(site.iterdir()):
        if not path.name.endswith(".dist-info") and path.name.partition(".")[0] not in packages:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for package in sorted(_distributions(site), key=lambda found: found.name):
        if not any(path.is_file() for path in _files(package)):
            shutil.rmtree(_metadata(package))
    # Of mlx-lm only the definitions are used, of Qt only some modules.
    for path in (*(site / "mlx_lm").rglob("*.py"), *(site / "PySide6").glob("Qt*.abi3.so")):
        if path not in kept and path.name != "__init__.py":
            path.unlink()
    remove_unasked(site)
    for folder in sorted((path for path in site.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def remove_unasked(site: Path) -> None:
    """Remove programs, and libraries that neither extension modules and plug-ins nor what these need ask for."""
    for path in macho.files(site):
        if all(binary.kind == "program" for binary in macho.read(path)):
            path.unlink()
    libraries = {path.name: path for path in macho.files(site) if _is_library(path)}
    asked: set[str] = set()
    waiting = [path for path in macho.files(site) if path.name not in libraries]
    while waiting:
        for binary in macho.read(waiting.pop()):
            names = {name.rpartition("/")[2] for name in binary.libraries} & libraries.keys() - asked
            asked |= names
            waiting += [libraries[name] for name in names]
    for name in libraries.keys() - asked:
        framework = next((folder for folder in libraries[name].parents if folder.suffix == ".framework"), None)
        shutil.rmtree(framework) if framework is not None else libraries[name].unlink()


def _is_library(path: Path) -> bool:
    """Return whether a binary is used only by others that ask for it."""
    return (
        "plugins" not in path.parts
        and all(binary.kind == "library" and binary.name for binary in macho.read(path))
        and path.suffix != ".so"
    )


def complete_frameworks(site: Path) -> None:
    """Give Qt's frameworks their links."""
    for framework in sorted(site.rglob("*.framework")):
        python_support.link(framework, "A")


def clean(site: Path) -> None:
    """Remove what the definition says is not needed, and metadata other than names, versions and licences.

    Raises:
        InstallError: The definition names files that are not there.
    """
    stale = [glob for glob in definition.app()["macOS"]["cleanup_paths"] if not any(site.parent.glob(glob))]
    if stale:
        raise InstallError(f"These globs for macOS in briefcase.toml match nothing: {', '.join(stale)}.")
    for name in (*definition.unused_packages(), *(name.replace(".", "/") + ".py" for name in contents.NEVER_IMPORTED)):
        slimming.remove(site, [name])
    slimming.remove(site.parent, definition.unused_files("macOS"))
    slimming.remove_translations(site / "PySide6" / "Qt" / "translations")
    for path in sorted(site.rglob("*.dist-info/**/*")):
        if path.is_file() and path.name != "METADATA" and path.name != "RECORD" and not contents.is_licence(str(path)):
            path.unlink()


def _distributions(site: Path) -> Iterator[Distribution]:
    return iter(distributions(path=[str(site)]))


def _metadata(package: Distribution) -> Path:
    return Path(str(package.locate_file(""))) / next(
        str(file).partition("/")[0] for file in package.files or () if ".dist-info/" in str(file)
    )


def _files(package: Distribution) -> Iterator[Path]:
    """Yield the files of a package outside of its metadata."""
    for file in package.files or ():
        if ".dist-info/" not in str(file) and ".." not in file.parts:
            yield Path(str(package.locate_file(file)))
