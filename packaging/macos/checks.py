"""Checks a finished app on any system: what macOS, dyld, codesign and Apple's notaries would refuse, before they do.

    python packaging/macos/checks.py Sotto.app

prints what is wrong. What only a Mac can show is in `release.sh`.
"""

from __future__ import annotations

import importlib.util
import json
import plistlib
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema

sys.path.append(str(Path(__file__).resolve().parents[1]))

from artefacts import sbom
from macos import macho, property_list

# Where the system keeps its own libraries; they are in its cache, so the files themselves need not exist.
_SYSTEM = ("/usr/lib/", "/System/Library/")
_KINDS = ("program", "library", "plug-in")
# What Finder leaves, and what belongs to repositories: codesign refuses the former inside bundles.
_DETRITUS = (".DS_Store", "__MACOSX", ".git", "Icon\r")
# Apple's notaries refuse what was built with an older kit.
_OLDEST_KIT = (10, 9)
# The folders in which codesign takes everything for code.
_CODE_ONLY = ("MacOS",)


def problems(app: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with an app."""
    for check in (property_lists, binaries, places, bytecode, bill_of_materials):
        yield from check(app)


def property_lists(app: Path) -> Iterator[str]:
    """Yield what is wrong with the app's property list, and with those of its frameworks."""
    described = plistlib.loads((app / "Contents" / "Info.plist").read_bytes())
    for error in jsonschema.Draft202012Validator(property_list.schema()).iter_errors(described):
        yield f"Info.plist: {'.'.join(map(str, error.path)) or 'the whole'}: {error.message}"
    contents = app / "Contents"
    program = contents / "MacOS" / described.get("CFBundleExecutable", "")
    if not macho.is_macho(program) or not program.stat().st_mode & stat.S_IXUSR:
        yield f"Info.plist names a program that is none: {program.relative_to(app)}"
    kinds = (*described.get("CFBundleDocumentTypes", ()), *described.get("UTExportedTypeDeclarations", ()))
    icons = {described.get("CFBundleIconFile")}
    icons |= {kind[key] for kind in kinds for key in ("CFBundleTypeIconFile", "UTTypeIconFile") if key in kind}
    for icon in icons:
        if not (contents / "Resources" / str(icon)).is_file():
            yield f"Info.plist names an icon that is not there: {icon}"
    declared = {
        kind["UTTypeIdentifier"]
        for key in ("UTExportedTypeDeclarations", "UTImportedTypeDeclarations")
        for kind in described.get(key, ())
    }
    for kind in described.get("CFBundleDocumentTypes", ()):
        for identifier in kind["LSItemContentTypes"]:
            if not identifier.startswith("public.") and identifier not in declared:
                yield f"Info.plist opens {identifier}, which nobody declares"


def binaries(app: Path) -> Iterator[str]:
    """Yield what is wrong with programs and libraries: architecture, age, signature, and what they ask for."""
    oldest = property_list.oldest_macos()
    paths = list(macho.files(app))
    read = {path: macho.read(path) for path in paths}
    # Folders of a library that was loaded before also serve those that it loads.
    inherited = {
        _placed(folder, path, app) for path, parts in read.items() for part in parts for folder in part.folders
    }
    for path, parts in read.items():
        name = path.relative_to(app)
        for part in parts:
            if part.architecture != "ARM64":
                yield f"{name} is for {part.architecture}"
            if part.kind not in _KINDS:
                yield f"{name} is neither a program nor a library nor a plug-in but {part.kind}"
            if part.minimum == (0,) or part.minimum > oldest:
                yield f"{name} needs macOS {'.'.join(map(str, part.minimum))}"
            if part.kit < _OLDEST_KIT:
                yield f"{name} was built with the kit of macOS {'.'.join(map(str, part.kit))}"
            if not part.signed:
                yield f"{name} has no signature, not even its linker's"
            # Where nothing but the system's is asked for, a folder of the maker's machine is never looked into.
            asks = any(not library.startswith(_SYSTEM) for library in part.libraries)
            for folder in part.folders if asks else ():
                place = _placed(folder, path, app)
                if place is None or not (place.is_relative_to(app) or folder.startswith(_SYSTEM)):
                    yield f"{name} looks for libraries outside of the app: {folder}"
            own = [_placed(folder, path, app) for folder in part.folders]
            for library in part.libraries:
                if not _is_there(library, path, app, [*own, *inherited]):
                    yield f"{name} asks for {library}"


def _placed(name: str, path: Path, app: Path) -> Path | None:
    """Return where a name that begins with a variable of dyld's points to; None for one outside of the app."""
    variable, _, rest = name.partition("/")
    start = {"@loader_path": path.parent, "@executable_path": app / "Contents" / "MacOS"}.get(variable)
    return Path(str(start / rest)).resolve() if start is not None else None


def _is_there(library: str, path: Path, app: Path, folders: list[Path | None]) -> bool:
    if library.startswith(_SYSTEM):
        return True
    variable, _, rest = library.partition("/")
    if variable == "@rpath":
        candidates = [folder / rest for folder in folders if folder is not None]
    else:
        candidates = [place] if (place := _placed(library, path, app)) else []
    return any(place.is_file() and place.resolve().is_relative_to(app) for place in candidates)


def places(app: Path) -> Iterator[str]:
    """Yield what codesign refuses, and names that are one to a disk of a Mac."""
    if extra := sorted(path.name for path in app.iterdir() if path.name != "Contents"):
        yield f"beside Contents there is {', '.join(extra)}"
    seen: dict[str, Path] = {}
    for path in sorted(app.rglob("*")):
        name = path.relative_to(app)
        folded = str(name).casefold()
        if folded in seen:
            yield f"{name} and {seen[folded]} are one to a Mac"
        seen[folded] = name
        if path.name in _DETRITUS or path.name.startswith("._"):
            yield f"{name} does not belong into a bundle"
        if path.is_symlink():
            if path.readlink().is_absolute() or not path.exists() or not path.resolve().is_relative_to(app):
                yield f"{name} is a link to {path.readlink()}"
        elif path.is_file():
            if not path.stat().st_mode & stat.S_IWUSR:
                yield f"{name} cannot be changed, and so not be signed"
            if path.parent.name in _CODE_ONLY and path.parent.parent.name == "Contents" and not macho.is_macho(path):
                yield f"{name} is where programs are, and none"
        elif path.suffix == ".framework":
            yield from (f"{name}: {reason}" for reason in framework(path))


def framework(folder: Path) -> Iterator[str]:
    """Yield why codesign would not take a folder for a framework."""
    versions = folder / "Versions"
    if not (versions / "Current").is_symlink():
        yield "Versions/Current is no link to a version"
        return
    described = versions / "Current" / "Resources" / "Info.plist"
    if not described.is_file():
        yield "it has no Resources/Info.plist"
    elif plistlib.loads(described.read_bytes()).get("CFBundleExecutable") != folder.stem:
        yield "its Info.plist does not name its library as CFBundleExecutable"
    for path in folder.iterdir():
        if path.name != "Versions" and not path.is_symlink():
            yield f"{path.name} is no link into Versions/Current"


def bytecode(app: Path) -> Iterator[str]:
    """Yield modules that are sources, or bytecode of another version of Python."""
    for path in sorted(app.rglob("*")):
        if path.suffix == ".py":
            yield f"{path.relative_to(app)} is a source, which Python would compile at each start"
        elif path.suffix == ".pyc" and path.read_bytes()[:4] != importlib.util.MAGIC_NUMBER:
            yield f"{path.relative_to(app)} was compiled by another version of Python"


def bill_of_materials(app: Path) -> Iterator[str]:
    """Yield where the app differs from its bill of materials."""
    resources = app / "Contents" / "Resources"
    bill = json.loads((resources / sbom.NAME).read_text(encoding="utf-8"))
    yield from sbom.differences(bill, app)


def main(arguments: list[str]) -> int:
    """Print what is wrong with an app, and return the exit status."""
    found = list(problems(Path(arguments[0]).resolve()))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
