"""What is dropped on the app, or handed to it by the system."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

from PySide6.QtCore import QMimeData, QUrl


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a drop holds.

    Attributes:
        paths: Files and folders of this machine.
        elsewhere: Addresses of things that are not on this machine.
    """

    paths: tuple[Path, ...]
    elsewhere: tuple[str, ...]


def path_of(url: QUrl) -> Path | None:
    """Return the file or folder that `url` means, or None if it is not on this machine.

    `QUrl.toLocalFile` replaces bytes that are no UTF-8; the path is taken from the encoded address instead.
    """
    if not url.isLocalFile():
        return None
    if os.name != "posix":
        return Path(url.toLocalFile())
    encoded = bytes(url.toEncoded(QUrl.ComponentFormattingOption.FullyEncoded).data())
    address = encoded.decode("ascii").removeprefix("file://")
    return Path(os.fsdecode(unquote_to_bytes(address[address.index("/") :])))


def dropped(data: QMimeData) -> Dropped:
    """Return what `data` holds."""
    paths, elsewhere = [], []
    for url in data.urls():
        path = path_of(url)
        if path is None:
            elsewhere.append(url.toDisplayString())
        else:
            paths.append(path)
    return Dropped(tuple(paths), tuple(elsewhere))


def path_names(paths: Sequence[Path]) -> str:
    """Return the names of paths as far as they can be shown."""
    return ", ".join(os.fsencode(path.name).decode("utf-8", "replace") for path in paths)
