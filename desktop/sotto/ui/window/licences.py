"""What Sotto comes with, and under which licences.

A packed program has a bill of materials, in CycloneDX's form, which was made with it. In a checkout, the metadata of
the installed packages says the same of those.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

import sotto

_BILL = "sbom.cdx.json"
_TEXT = "sotto:licence-text"
_WORDS = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS")


@dataclass(frozen=True, slots=True)
class Part:
    """A part that Sotto comes with.

    Attributes:
        name: Its name, with its version if that is known.
        licence: Its licence, in a few words; empty if it states none.
        within: The name of the part that it is inside of; empty for a part of its own.
        texts: The files with its licences.
    """

    name: str
    licence: str
    within: str
    texts: tuple[Path, ...]


@cache
def parts() -> tuple[Part, ...]:
    """Return all parts in order of their names, and after them what is inside of them."""
    bill = _bill()
    found = _installed() if bill is None else _packed(bill)
    return tuple(sorted(found, key=lambda part: (bool(part.within), part.name.lower())))


def text_of(part: Part) -> str:
    """Return the licences of a part."""
    return "\n\n".join(path.read_text(encoding="utf-8", errors="replace").strip() for path in part.texts)


def _bill() -> Path | None:
    """Return the bill of materials of the packed program; None in a checkout."""
    package = Path(sotto.__file__).resolve().parent
    return next(filter(Path.is_file, (folder / _BILL for folder in package.parents[:4])), None)


def _packed(bill: Path) -> Iterator[Part]:
    for component in json.loads(bill.read_text(encoding="utf-8"))["components"]:
        told = component.get("properties", ())
        texts = tuple(bill.parent / each["value"] for each in told if each["name"] == _TEXT)
        yield Part(_name(component), _licence(component), "", texts)
        for inside in component.get("components", ()):
            if inside["type"] != "file":
                yield Part(_name(inside), _licence(inside), component["name"], texts)


def _name(component: Mapping[str, Any]) -> str:
    return f"{component['name']} {component.get('version', '')}".rstrip()


def _licence(component: Mapping[str, Any]) -> str:
    return " ".join(licence["expression"] for licence in component["licenses"])


def _installed() -> Iterator[Part]:
    for package in distributions():
        name = package.metadata["Name"]
        if name and name.lower() != "sotto":
            files = (package.locate_file(file) for file in package.files or () if _is_licence(str(file)))
            texts = tuple(path for file in files if (path := Path(str(file))).is_file())
            yield Part(f"{name} {package.version}", _stated(package), "", texts)


def _is_licence(file: str) -> bool:
    folder, _, name = file.partition("/")
    return folder.endswith(".dist-info") and any(word in name.upper() for word in _WORDS)


def _stated(package: Distribution) -> str:
    """Return the licence that a package states in a few words."""
    data = package.metadata
    values = [*(data.get_all("License-Expression") or ()), *(data.get_all("License") or ()), ""]
    classifiers = [text.rpartition(" :: ")[2] for text in data.get_all("Classifier") or () if "License" in text]
    first = str(values[0])
    return " ".join((first if 0 < len(first) < 60 else ", ".join(classifiers)).split())
