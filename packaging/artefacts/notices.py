"""The texts that licences ask to come along, in the folder `licences`, and where those of each part are."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from artefacts import contents, definition, licences
from installing import InstallError

if TYPE_CHECKING:
    from artefacts.sbom import Part

FOLDER = licences.FOLDER
NOTICES = f"{FOLDER}/NOTICES.txt"
_TEXTS = Path(__file__).parent / "licence_texts"
# Licences that build on the text of another.
_BASES = {"LGPL-3.0-only": "GPL-3.0-only"}
_README = """Sotto {version} is under the MIT licence, see LICENSE. It comes with the parts below.

Qt and PySide6, in {packages}/PySide6 and {packages}/shiboken6, are used under the GNU Lesser General Public License,
version 3 (LGPL-3, and GPL-3, on which it builds). They are libraries of their own: to use changed ones, replace their
files. Their source is at https://download.qt.io/official_releases/QtForPython/ and
https://download.qt.io/official_releases/qt/. Of Qt's copy of ICU's data, in libicudata, the items that Qt does not use
are left out.

The texts of the other licences are in this folder and in {packages}/*.dist-info. What is inside of the parts is listed
in NOTICES.txt; sbom.cdx.json names the files of each.

"""
_HEAD = """What comes with Sotto and has no text of its licence beside it: most of it is inside of other parts. The
texts of their licences are in the files of the same names.

"""


def write(folder: Path, parts: Iterable[Part], packages: str = "_internal") -> None:
    """Write the notices and the texts that must come along into a folder.

    Args:
        folder: The folder.
        parts: What is in it.
        packages: Where in it the packages are.

    Raises:
        InstallError: The text of a licence is missing.
    """
    parts = sorted(parts, key=lambda part: part.name.lower())
    target = folder / FOLDER
    target.mkdir()
    shutil.copyfile(definition.ROOT / "LICENSE", target / "LICENSE")
    for name in sorted({name for part in parts for name in _standard(part)}):
        for text in _sources(name):
            shutil.copyfile(text, target / text.name)
    for part in parts:
        if part.text is not None:
            shutil.copyfile(part.text, target / f"{part.name}.txt")
    readme = _README.format(version=definition.project()["version"], packages=packages)
    (target / "README.txt").write_text(f"{readme}{_table(parts)}", encoding="utf-8")
    (folder / NOTICES).write_text(f"{_HEAD}{chr(10).join(_entries(parts))}", encoding="utf-8")


def texts_of(part: Part) -> list[str]:
    """Return the names of the files, relative to the folder, that have the licences of a part and of what is in it."""
    own = [name for name in sorted(part.files) if ".dist-info/" in name and contents.is_licence(name.partition("/")[2])]
    if part.text is not None:
        own.append(f"{FOLDER}/{part.name}.txt")
    standard = [f"{FOLDER}/{text.name}" for name in sorted(_standard(part)) for text in _sources(name)]
    notices = [NOTICES] if part.inside or not own else []
    return [*own, *notices, *standard]


def _has_text(part: Part) -> bool:
    return part.text is not None or any(
        ".dist-info/" in name and contents.is_licence(name.partition("/")[2]) for name in part.files
    )


def _standard(part: Part) -> set[str]:
    """Return the licences whose texts a part needs beside those that it brings along."""
    found = {name for each in part.inside for name in licences.chosen(each.name, each.licence)}
    return found if _has_text(part) else found | set(licences.chosen(part.name, part.licence))


def _sources(name: str) -> list[Path]:
    """Return the files with the text of a licence, and with the one that it builds on."""
    name = name.partition(" WITH ")[0]
    found = [_TEXTS / f"{each}.txt" for each in (name, _BASES.get(name)) if each]
    for path in found:
        if not path.is_file():
            raise InstallError(f"The text of the licence {name}, which must come along, is missing: {path}.")
    return found


def _entries(parts: list[Part]) -> Iterator[str]:
    for part in parts:
        if not _has_text(part):
            yield _entry(part.name, part.version, "", part.licence, part.notice, part.source)
        for each in part.inside:
            yield _entry(each.name, each.version, f" (in {part.name})", each.licence, each.notice, each.source)


def _entry(name: str, version: str, where: str, licence: str, notice: str, source: str) -> str:
    used = " AND ".join(licences.chosen(name, licence))
    offered = "" if used == licence else f", offered as {licence}"
    lines = [f"{name} {version}".rstrip() + where, f"    {used}{offered}", f"    {notice}" if notice else ""]
    return "\n".join(filter(None, (*lines, f"    {source}" if source else ""))) + "\n"


def _table(parts: list[Part]) -> str:
    rows = [(part.name, part.version, part.licence) for part in parts]
    widths = [max(len(row[column]) for row in rows) + 2 for column in (0, 1)]
    return "".join(f"{name:{widths[0]}}{version:{widths[1]}}{licence}\n" for name, version, licence in rows)
