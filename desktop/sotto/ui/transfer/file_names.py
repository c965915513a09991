"""Names of files and folders for chats: made from titles, safe on every system, and unique."""

import os
import unicodedata
from collections import Counter
from pathlib import Path

from sotto.ui.toolkit.translation import tr

_LONGEST = 60
# Names of devices on Windows, which no file can have.
_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)))
)


def file_name(title: str) -> str:
    """Return a file name for a chat of this title, without a suffix and without characters that form paths."""
    composed = unicodedata.normalize("NFC", title)
    clean = "".join(letter if letter.isalnum() or letter in " -_,'" else " " for letter in composed)
    name = " ".join(clean.split())[:_LONGEST].strip()
    return tr("chat") if not name or name.casefold() in _DEVICES else name


class UniqueNames:
    """Numbers names that were used before, as `Rice`, `Rice 2` and `Rice 3`; upper and lower case are the same."""

    def __init__(self) -> None:
        """Begin without names."""
        self._used: Counter[str] = Counter()

    def of(self, name: str) -> str:
        """Return `name`, with a number if need be."""
        unique = name
        while self._used[key := unique.casefold()]:
            self._used[name.casefold()] += 1
            unique = f"{name} {self._used[name.casefold()]}"
        self._used[key] = 1
        return unique


def free_path(folder: Path, name: str) -> Path:
    """Return a path in a folder at which there is nothing yet, numbered if need be."""
    names = UniqueNames()
    while os.path.lexists(path := folder / names.of(name)):
        pass
    return path
