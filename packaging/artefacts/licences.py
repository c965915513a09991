"""Which licence each part has, and that all fit: permissive ones, and few others that are named with their part.

`notices.py` writes their texts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from importlib.metadata import PackageMetadata
from typing import TYPE_CHECKING

from installing import InstallError

if TYPE_CHECKING:
    from artefacts.sbom import Part

FOLDER = "licences"
PERMISSIVE = frozenset(
    (
        "0BSD Apache-2.0 blessing BSD-2-Clause BSD-3-Clause bzip2-1.0.6 IJG ISC libpng-2.0 libtiff MIT MIT-0 MIT-CMU "
        "MIT-Modern-Variant MIT-open-group OFL-1.1 PSF-2.0 Unicode-3.0 X11 Zlib"
    ).split()
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


def stated(metadata: PackageMetadata) -> str:
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
    return bool(chosen(part, expression))


def chosen(part: str, expression: str) -> tuple[str, ...]:
    """Return the licences under which a part comes along, in order; empty if it may not.

    Apache's is preferred where there is a choice: it asks for no copyright notice, which few libraries' files have.
    """
    allowed = PERMISSIVE | {EXCEPTIONS.get(part, "MIT")}
    fitting = [
        offer for offer in _offers(expression) if all(name.partition(" WITH LLVM")[0] in allowed for name in offer)
    ]
    return tuple(sorted(min(fitting, key=lambda offer: offer != {"Apache-2.0"}))) if fitting else ()


def check(parts: Iterable[Part]) -> None:
    """Check that every licence fits, also of what is inside of parts.

    Raises:
        InstallError: One does not; the message names the parts.
    """
    stated = [(part.name, part.licence) for part in parts]
    stated += [(each.name, each.licence) for part in parts for each in part.inside]
    wrong = sorted({f"{name} ({licence or 'none stated'})" for name, licence in stated if not fits(name, licence)})
    if wrong:
        raise InstallError(
            f"These licences are not on the list in packaging/artefacts/licences.py: {', '.join(wrong)}."
        )


def _offers(expression: str) -> list[frozenset[str]]:
    """Return the licences of each offer: AND and OR as in SPDX, where `MIT/Apache-2.0` means either, too."""
    words = re.findall(r"[()]|[^\s()]+(?: WITH [^\s()]+)?", expression.replace("/", " OR "))
    offers = _either(words)
    return [] if words else offers


def _either(words: list[str]) -> list[frozenset[str]]:
    found = _all(words)
    while words[:1] == ["OR"]:
        words.pop(0)
        found += _all(words)
    return found


def _all(words: list[str]) -> list[frozenset[str]]:
    found = _one(words)
    while words[:1] == ["AND"]:
        words.pop(0)
        found = [one | other for one, other in itertools.product(found, _one(words))]
    return found


def _one(words: list[str]) -> list[frozenset[str]]:
    word = words.pop(0) if words else ""
    if word != "(":
        return [frozenset({word})]
    found = _either(words)
    if words[:1] == [")"]:
        words.pop(0)
    return found
