"""Which licence each part has, and that all fit: permissive ones, and few others that are named with their part."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING

from artefacts import definition
from installing import InstallError

if TYPE_CHECKING:
    from artefacts.sbom import Part

FOLDER = "licences"
PERMISSIVE = frozenset(
    "0BSD Apache-2.0 blessing BSD-2-Clause BSD-3-Clause bzip2-1.0.6 ISC MIT OFL-1.1 PSF-2.0 Zlib".split()
)
# Not permissive, but fit here, each for one part.
EXCEPTIONS = {
    # Libraries of their own, which a person can replace; the notice names their source.
    "PySide6_Essentials": "LGPL-3.0-only",
    "shiboken6": "LGPL-3.0-only",
    # Unchanged: a list of certificates.
    "certifi": "MPL-2.0",
    # The program's loader, whose licence allows that for programs of any licence.
    "pyinstaller": "GPL-2.0-or-later WITH Bootloader-exception",
}
# What packages say in words of their own.
_MEANT = {
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD-3-Clause",
    "GPLv2-or-later with a special exception which allows to use PyInstaller to build and distribute non-free programs "
    "(including commercial ones)": "GPL-2.0-or-later WITH Bootloader-exception",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
# Debian's copies, which the licence of Qt asks to come along.
_TEXTS = Path("/usr/share/common-licenses")
_NOTICE = """Sotto {version} is under the MIT licence, see LICENSE. It comes with the parts below.

Qt and PySide6, in _internal/PySide6 and _internal/shiboken6, are used under the GNU Lesser General Public License,
version 3 (LGPL-3, and GPL-3, on which it builds). They are libraries of their own: to use changed ones, replace their
files. Their source is at https://download.qt.io/official_releases/QtForPython/ and
https://download.qt.io/official_releases/qt/. Of Qt's copy of ICU's data, in libicudata, the items that Qt does not use
are left out.

The texts of the other licences are in the folders _internal/*.dist-info, as far as their packages bring them along.

"""


def stated(metadata: Message) -> str:
    """Return the licence that a package's metadata states, as an SPDX expression or in its own words."""
    values = [metadata["License-Expression"], metadata["License"]]
    classifiers = [text for text in metadata.get_all("Classifier") or () if text.startswith("License ::")]
    values += [text.rpartition(" :: ")[2] for text in classifiers]
    words = [" ".join(str(value).split()) for value in values if value]
    # A whole text is no name.
    short = [_MEANT.get(word, word) for word in words if len(word) < 200]
    return next((word for word in short if word in PERMISSIVE or " " in word), short[0] if short else "")


def fits(part: str, expression: str) -> bool:
    """Return whether a part may come along under one of the licences that its expression offers."""
    allowed = PERMISSIVE | {EXCEPTIONS.get(part, "MIT")}
    return any(all(name in allowed for name in offer.split(" AND ")) for offer in expression.split(" OR "))


def check(parts: Iterable[Part]) -> None:
    """Check that every licence fits.

    Raises:
        InstallError: One does not; the message names the parts.
    """
    wrong = [f"{part.name} ({part.licence or 'none stated'})" for part in parts if not fits(part.name, part.licence)]
    if wrong:
        raise InstallError(
            f"These licences are not on the list in packaging/artefacts/licences.py: {', '.join(wrong)}."
        )


def write(folder: Path, parts: Iterable[Part]) -> None:
    """Write the notice and the texts that must come along into the portable folder."""
    target = folder / FOLDER
    target.mkdir()
    shutil.copyfile(definition.ROOT / "LICENSE", target / "LICENSE")
    for name in ("LGPL-3", "GPL-3"):
        if not (_TEXTS / name).is_file():
            raise InstallError(f"{_TEXTS / name}, whose text must come along with Qt, is missing on this system.")
        shutil.copyfile(_TEXTS / name, target / name)
    rows = [(part.name, part.version, part.licence) for part in sorted(parts, key=lambda part: part.name.lower())]
    widths = [max(len(row[column]) for row in rows) + 2 for column in (0, 1)]
    table = "".join(f"{name:{widths[0]}}{version:{widths[1]}}{licence}\n" for name, version, licence in rows)
    notice = _NOTICE.format(version=definition.project()["version"])
    (target / "README.txt").write_text(notice + table, encoding="utf-8")
