"""What is in the portable folder, as a CycloneDX bill of materials: every part with its files and their digests."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
import subprocess
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from artefacts import contents, definition, desktop_files, embedded, licences, notices
from artefacts.embedded import Embedded
from installing import InstallError

NAME = "sbom.cdx.json"
LICENCE_TEXT = "sotto:licence-text"
"""The property with the name of a file that has a licence of the part, or of what is inside of it."""
_INSIDE = "_internal"
_DOCUMENTS = Path("/usr/share/doc")


@dataclass(frozen=True)
class Part:
    """A part that comes from elsewhere, or Sotto itself.

    Attributes:
        name: Its name.
        version: Its version.
        licence: An SPDX expression.
        address: Its package URL.
        files: Its files in the folder, each with the digest that it had when it was installed, if that is known. A part
            without files is inside the program.
        inside: What is inside of it.
        text: A file elsewhere with its licence, if none of its own files has it.
        notice: Its copyright, or who made it.
        source: Where its source is.
    """

    name: str
    version: str
    licence: str
    address: str
    files: dict[str, str] = field(default_factory=dict)
    inside: list[Embedded] = field(default_factory=list)
    text: Path | None = None
    notice: str = ""
    source: str = ""


def parts(folder: Path, site: Path) -> list[Part]:
    """Return the parts of a portable folder that was made from the packages in `site`.

    Raises:
        InstallError: A licence does not fit.
    """
    inside = folder / _INSIDE
    packages = {package.name: package for package in distributions(path=[str(site)])}
    found = [
        part_of(package, _files_of(package, folder))
        for name, package in sorted(packages.items())
        if name not in ("sotto", "pyinstaller") and _folder_of(package) and (inside / _folder_of(package)).is_dir()
    ]
    configuration = dict(
        re.findall(r"^(\S+) = (.+)$", (site.parents[2] / "pyvenv.cfg").read_text("utf-8"), re.MULTILINE)
    )
    version = configuration["version"]
    own = ("python3", "libpython3", "base_library.zip")
    runtime = {name: "" for name in names(folder) if name.removeprefix(f"{_INSIDE}/").startswith(own)}
    text = _python_licence(Path(configuration["home"]), version)
    found.append(Part("CPython", version, "PSF-2.0", f"pkg:generic/python@{version}", runtime, text=text))
    loader = packages["pyinstaller"]
    found.append(part_of(loader, {"sotto": "", **_files_of(loader, folder)}))
    found += _system_libraries(inside)
    found += [
        Part(each.name, each.version, each.licence, f"pkg:generic/{each.name}", notice=each.notice, source=each.source)
        for each in embedded.inside(packages["sotto"])
    ]
    licences.check(found)
    return found


def write(folder: Path, found: Iterable[Part], target: Path | None = None, machine: str = platform.machine()) -> None:
    """Write the bill of materials into the folder, or to `target` inside; files of no part are Sotto's own."""
    target = target or folder / NAME
    bill = describe(folder, list(found), machine, target.parent)
    target.write_text(json.dumps(bill, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if wrong := list(differences(bill, folder)):
        raise InstallError(f"The bill of materials does not fit the folder: {'; '.join(wrong)}.")


def forget_missing(folder: Path) -> None:
    """Take Sotto's own files that are no longer there out of a folder's bill."""
    path = folder / NAME
    bill = json.loads(path.read_text(encoding="utf-8"))
    own = bill["metadata"]["component"]
    own["components"] = [file for file in own["components"] if (folder / file["name"]).is_file()]
    path.write_text(json.dumps(bill, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def describe(
    folder: Path, found: list[Part], machine: str = platform.machine(), place: Path | None = None
) -> dict[str, Any]:
    """Return the bill of materials of a folder, which is in `place` inside, beside the texts of licences."""
    place = place or folder
    project = definition.project()
    taken = {name for part in found for name in part.files}
    own = Part(
        "sotto",
        project["version"],
        project["license"],
        f"pkg:generic/sotto@{project['version']}?arch={machine}",
        {name: "" for name in names(folder) if name not in taken},
    )
    ordered = sorted(found, key=lambda part: part.name.lower())
    content = [_component(part, folder, place) for part in ordered]
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(digest[:32])}",
        "version": 1,
        "metadata": {
            "timestamp": desktop_files.date().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**_component(own, folder, place), "type": "application"},
        },
        "components": content,
    }


def differences(bill: dict[str, Any], folder: Path) -> Iterator[str]:
    """Yield a sentence for each file that the folder and the bill do not both have, with the same content."""
    listed: dict[str, str] = {}
    for component in (bill["metadata"]["component"], *bill["components"]):
        for file in component.get("components", ()):
            if file["type"] != "file":
                continue
            if file["name"] in listed:
                yield f"{file['name']} is listed twice"
            listed[file["name"]] = file["hashes"][0]["content"]
    present = set(names(folder))
    for name in sorted(listed.keys() ^ present):
        yield f"{name} is {'missing' if name in listed else 'not listed'}"
    for name in sorted(listed.keys() & present):
        if _digest(folder / name) != listed[name]:
            yield f"{name} is not the file that is listed"


def _component(part: Part, folder: Path, place: Path) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": "library",
        "bom-ref": part.address,
        "name": part.name,
        "version": part.version,
        "licenses": [{"expression": part.licence}],
        "purl": part.address,
    }
    paths = [base / name for name in notices.texts_of(part) for base in dict.fromkeys((folder, place))]
    texts = [os.path.relpath(path, place) for path in paths if path.is_file()]
    if texts:
        described["properties"] = [{"name": LICENCE_TEXT, "value": text} for text in texts]
    files = [_file(name, installed, folder / name) for name, installed in sorted(part.files.items())]
    inside = [_embedded(each, part.address) for each in part.inside]
    return {**described, "components": [*inside, *files]} if inside or files else described


def _embedded(part: Embedded, where: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"{where}#{part.name}@{part.version}",
        "name": part.name,
        "licenses": [{"expression": part.licence}],
    }
    known = {"version": part.version, "purl": part.address, "copyright": part.notice}
    return described | {name: value for name, value in known.items() if value}


def _file(name: str, installed: str, path: Path) -> dict[str, Any]:
    digest = _digest(path)
    described: dict[str, Any] = {
        "type": "file",
        "name": name,
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    if installed and installed != digest:
        # Made smaller: stripped, or without what is not used.
        described["properties"] = [{"name": "sotto:sha256-as-installed", "value": installed}]
    return described


def part_of(package: Distribution, files: dict[str, str]) -> Part:
    """Return a package with these files as a part."""
    name = package.metadata["Name"]
    address = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{package.version}"
    makers = package.metadata["Author"] or package.metadata["Author-email"] or f"the authors of {name}"
    return Part(
        name,
        package.version,
        licences.stated(package.metadata),
        address,
        files,
        embedded.inside(package, files),
        notice=str(makers),
        source=f"https://pypi.org/project/{name}/{package.version}/",
    )


def _python_licence(home: Path, version: str) -> Path:
    """Return the file with the licence of the Python whose programs are in `home`."""
    short = version.rpartition(".")[0]
    places = (home.parent / f"lib/python{short}/LICENSE.txt", _DOCUMENTS / f"libpython{short}-stdlib" / "copyright")
    found = next(filter(Path.is_file, places), None)
    if found is None:
        raise InstallError(
            f"The licence of Python, which must come along, is missing: {' and '.join(map(str, places))}."
        )
    return found


def _folder_of(package: Distribution) -> str:
    """Return the name of the folder with a package's metadata."""
    names = (str(file).partition("/")[0] for file in package.files or ())
    return next((name for name in names if name.endswith(".dist-info")), "")


def _files_of(package: Distribution, folder: Path) -> dict[str, str]:
    """Return the files of a package that are in the folder, with their digests as installed."""
    found = {}
    for file in package.files or ():
        path = folder / _INSIDE / str(file)
        if ".." not in file.parts and path.is_file() and not path.is_symlink():
            code = file.hash.value if file.hash is not None and file.hash.mode == "sha256" else ""
            found[f"{_INSIDE}/{file}"] = base64.urlsafe_b64decode(f"{code}=").hex() if code else ""
    return found


def _system_libraries(inside: Path) -> Iterator[Part]:
    """Yield the system's packages whose libraries are in the folder."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for path in sorted(inside.glob("lib*.so*")):
        kind = next((begin for begin in contents.SYSTEM_LIBRARIES if path.name.startswith(begin)), "")
        if not kind or kind.startswith("libpython") or path.is_symlink():
            continue
        name, version = _debian_package(path.name)
        found.setdefault((name, version, contents.SYSTEM_LIBRARIES[kind]), {})[f"{_INSIDE}/{path.name}"] = ""
    for (name, version, licence), files in found.items():
        text = _DOCUMENTS / name / "copyright"
        if not text.is_file():
            raise InstallError(f"The licence of {name}, which must come along, is missing: {text}.")
        yield Part(name, version, licence, f"pkg:deb/debian/{name}@{version}", files, text=text)


def _debian_package(library: str) -> tuple[str, str]:
    """Return the name and the version of the package that a library of the system belongs to."""
    owner = subprocess.run(["dpkg-query", "--search", f"*/{library}"], capture_output=True, text=True, check=True)
    package = owner.stdout.partition(": ")[0].split(",")[0]
    version = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=True
    )
    return package.partition(":")[0], version.stdout


def names(folder: Path) -> list[str]:
    """Return the names of the files in a folder, other than links and the bill itself."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [str(path.relative_to(folder)) for path in paths if path.name != NAME]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
