"""The files and addresses that are dropped on the app, or that the system asks it to open."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl

from sotto.ui.state.addresses import path_of_address


@dataclass(frozen=True, slots=True)
class DropContents:
    """The contents of a drop.

    Attributes:
        paths: Files and folders on this machine.
        remote: Addresses of anything that is not on this machine.
    """

    paths: tuple[Path, ...]
    remote: tuple[str, ...]


def path_from_url(url: QUrl) -> Path | None:
    """Return the file or folder at `url`, or None if it is not on this machine."""
    if not url.isLocalFile():
        return None
    if os.name != "posix":
        return Path(url.toLocalFile())
    # WORKAROUND: `QUrl.toLocalFile` replaces bytes that are not UTF-8, so the path is decoded from the encoded address.
    encoded = bytes(url.toEncoded(QUrl.ComponentFormattingOption.FullyEncoded).data())
    return path_of_address(encoded.decode("ascii"))


def read_drop(data: QMimeData) -> DropContents:
    """Return the contents of a drop."""
    paths, remote = [], []
    for url in data.urls():
        path = path_from_url(url)
        if path is None:
            remote.append(url.toDisplayString())
        else:
            paths.append(path)
    return DropContents(tuple(paths), tuple(remote))


def path_names(paths: Sequence[Path]) -> str:
    """Return the file names of paths, separated by commas; bytes that cannot be shown are replaced."""
    return ", ".join(os.fsencode(path.name).decode("utf-8", "replace") for path in paths)
