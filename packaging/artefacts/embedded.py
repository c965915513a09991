"""What is inside of packages: crates that were compiled into Rust libraries, other libraries, and fonts.

Most wheels of Rust projects bring bills of materials along (PEP 770). llguidance's does not: `crates.json` was made
from the lock file in its source by `packaging/crates.py`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from installing import InstallError

_HERE = Path(__file__).parent
CRATES = _HERE / "crates.json"


@dataclass(frozen=True)
class Embedded:
    """A part of a package.

    Attributes:
        name: Its name.
        version: Its version; empty if it is not known.
        licence: An SPDX expression.
        address: Its package URL; empty if it is in no registry.
        notice: Its copyright, or who made it.
        source: Where its source is.
    """

    name: str
    version: str
    licence: str
    address: str
    notice: str
    source: str


def inside(package: Distribution, files: Iterable[str] = ()) -> list[Embedded]:
    """Return what is inside of a package.

    Args:
        package: The package.
        files: Those of its files that are packed, by which is told which of its libraries are; none for all of them.

    Raises:
        InstallError: What was found in another version of it is not known for this one.
    """
    found = {part.address: part for part in (*_described(package), *_from_lock_file(package))}
    return [*found.values(), *_listed(package.metadata["Name"], list(files))]


def signs() -> Iterator[tuple[str, str, str]]:
    """Yield the package, the name and the sign of each part that `embedded.toml` lists."""
    for part in _table():
        yield part["inside"], part["name"], part["sign"]


def crates_of(bill: dict[str, Any]) -> Iterator[Embedded]:
    """Yield the crates in a bill of materials in CycloneDX's form, other than the project itself."""
    for part in bill.get("components", ()):
        address = part.get("purl", "").partition("?")[0]
        if not address.startswith("pkg:cargo/"):
            continue
        expressions = [licence.get("expression", "") for licence in part.get("licenses", ())]
        source = next((link["url"] for link in part.get("externalReferences", ()) if link["type"] == "vcs"), "")
        makers = part.get("author", "") or f"the authors of {part['name']}"
        licence = " ".join(" AND ".join(expressions).split())
        yield Embedded(part["name"], part["version"], licence, address, makers, source)


def _described(package: Distribution) -> Iterator[Embedded]:
    for file in package.files or ():
        if ".dist-info/sboms/" in str(file) and file.suffix == ".json":
            yield from crates_of(json.loads(Path(str(package.locate_file(file))).read_text(encoding="utf-8")))


def _from_lock_file(package: Distribution) -> Iterator[Embedded]:
    known = json.loads(CRATES.read_text(encoding="utf-8"))
    name = package.metadata["Name"]
    if name != known["package"]:
        return
    if package.version != known["version"]:
        raise InstallError(
            f"{CRATES.name} lists the crates of {name} {known['version']}, and {package.version} is installed: "
            "make it again with packaging/crates.py."
        )
    for crate, version, licence in known["crates"]:
        address = f"pkg:cargo/{crate}@{version}"
        yield Embedded(crate, version, licence, address, f"the authors of {crate}", f"https://crates.io/crates/{crate}")


def _listed(name: str, files: list[str]) -> Iterator[Embedded]:
    for part in _table():
        if part["inside"] == name and (not files or any(part.get("file", "") in file for file in files)):
            yield Embedded(part["name"], "", part["licence"], "", part["notice"], part["source"])


def _table() -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads((_HERE / "embedded.toml").read_text(encoding="utf-8"))["part"]
    return found
