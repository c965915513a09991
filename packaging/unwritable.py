"""Starting Sotto from a checkout that cannot be written: a copy of it is set up in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from installing import ROOT, InstallError, say

# Made by a setup, or not needed for one.
_LEFT_OUT = {".git", ".venv", "build", "_native", "__pycache__"}


def can_be_written(checkout: Path) -> bool:
    """Return whether an environment and kernels can be put into a checkout."""
    return all(os.access(folder, os.W_OK) for folder in (checkout, checkout / "desktop" / "sotto"))


def start_copy(arguments: list[str]) -> None:
    """Go on as `start.py` of a copy of this checkout, which is brought up to date.

    Raises:
        InstallError: The copy cannot be written, either.
    """
    copy = place_of_copy(ROOT)
    say(f"{ROOT} cannot be written, so a copy is used: {copy}")
    try:
        update_copy(ROOT, copy)
    except OSError as error:
        raise InstallError(
            f"{copy} cannot be written, either ({error.strerror}): copy {ROOT} into a folder of yours, and start that."
        ) from error
    command = [sys.executable, str(copy / "packaging" / "start.py"), *arguments]
    os.execv(sys.executable, command)


def place_of_copy(checkout: Path) -> Path:
    """Return where the copy of a checkout is, outside of the cache that Sotto's settings can delete."""
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(os.fsencode(checkout)).hexdigest()[:8]
    return cache / "sotto-checkouts" / f"{checkout.name}-{digest}"


def update_copy(checkout: Path, copy: Path) -> None:
    """Copy the files that are new or have changed, and delete those that are gone."""
    wanted = dict(_files(checkout))
    for path, found in _files(copy):
        if path not in wanted:
            found.unlink()
    for path, source in wanted.items():
        target, stat = copy / path, source.stat()
        if target.is_file() and target.stat().st_mtime_ns == stat.st_mtime_ns and target.stat().st_size == stat.st_size:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        # Not its mode: a copy must be writable.
        os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _files(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the files of a checkout, relative to its folder and as they are."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        for name in names:
            path = Path(parent, name)
            yield path.relative_to(folder), path
