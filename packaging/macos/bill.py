"""Which parts the app has, for the licences and the bill of materials."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from importlib.metadata import distributions
from pathlib import Path

from artefacts import licences, sbom
from artefacts.sbom import Part
from macos.python_support import PythonSupport

_SITE = Path("Contents", "Resources", "app_packages")
_PYTHON = "Contents/Frameworks/Python.framework/"


@dataclass(frozen=True)
class InstalledPackage:
    """A package as it was installed.

    Attributes:
        part: The package, without files.
        files: The names of its files, each with its digest, if that is known.
    """

    part: Part
    files: dict[str, str]


def packages(site: Path) -> list[InstalledPackage]:
    """Return the packages in a folder, before anything is removed."""
    found = []
    for package in sorted(distributions(path=[str(site)]), key=lambda package: package.name):
        digests = {}
        for file in package.files or ():
            code = file.hash.value if file.hash is not None and file.hash.mode == "sha256" else ""
            digests[str(file)] = base64.urlsafe_b64decode(f"{code}=").hex() if code else ""
        found.append(InstalledPackage(sbom.part_of(package, {}), digests))
    return found


def parts(app: Path, found: list[InstalledPackage], python: PythonSupport | None) -> list[Part]:
    """Return the parts of an app; everything else in it is Sotto's own.

    Args:
        app: The app.
        found: The packages as they were installed.
        python: The Python that comes along; None for none.

    Raises:
        InstallError: A licence does not fit.
    """
    made = []
    for package in found:
        files = {}
        for name, digest in package.files.items():
            path = _SITE / name
            # Bytecode is no smaller form of the source that was installed.
            compiled = path.with_suffix(".pyc") if path.suffix == ".py" else None
            if compiled is not None and (app / compiled).is_file():
                files[str(compiled)] = ""
            elif (app / path).is_file() and (app / path).resolve() == app.resolve() / path:
                files[str(path)] = digest
        if files:
            made.append(replace(package.part, files=files))
    if python is not None:
        files = {name: "" for name in sbom.names(app) if name.startswith(_PYTHON)}
        address = f"pkg:generic/python@{python.version}"
        made.append(Part("CPython", python.version, "PSF-2.0", address, files, text=next(iter(python.licences), None)))
    licences.check(made)
    return made
