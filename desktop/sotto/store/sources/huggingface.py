"""The cache of Hugging Face's tools: `models--<organisation>--<name>/{refs,snapshots,blobs}`.

A snapshot is a folder of links into `blobs`, whose files are named by their content: large ones by their sha256, small
ones by the id that git gives them, the sha1 of `blob <size>`, a zero byte and the content. `refs/main` holds the name
of the snapshot in use.
"""

import os
import re
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import is_folder, read_all, resolve_inside
from sotto.store.records import Source
from sotto.store.sources.harvest import Harvest
from sotto.store.sources.plain_folders import ModelFolder, add_folder, look_into, subfolders

_PREFIX = "models--"
_REVISION = re.compile(rb"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")
_LONGEST_REF = 256


def is_cache(path: Path, names: frozenset[str]) -> bool:
    """Return whether a folder of these names is such a cache."""
    return any(name.startswith(_PREFIX) and is_folder(path / name) for name in names)


def list_cache(root: Path, source: Source, harvest: Harvest) -> None:
    """Add every model of a cache, each in the snapshot in use."""
    folder = look_into(root)
    for path in subfolders(root, (name for name in folder.names if name.startswith(_PREFIX))):
        try:
            resolve_inside(path, folder.base)
            model = snapshot(path)
        except BrokenModelError as error:
            harvest.add_problem(path, error.message)
            continue
        if model is not None:
            add_folder(model, repository_name(path), source, harvest)


def snapshot(repository: Path) -> ModelFolder | None:
    """Return the snapshot in use, or None if no snapshot holds a model: the newest, where `refs/main` names none.

    Raises:
        BrokenModelError: The repository cannot be read.
    """
    base = os.path.realpath(repository)
    snapshots = repository / "snapshots"
    if not is_folder(snapshots):
        return None
    found = subfolders(snapshots, look_into(snapshots, base).names)
    newest = sorted(found, key=_changed, reverse=True)
    main = snapshots / _main(repository)
    for path in sorted(newest, key=lambda path: path != main):
        folder = look_into(path, base)
        if folder.is_model or folder.ggufs:
            return folder
    return None


def repository_of(folder: Path) -> Path | None:
    """Return the repository whose snapshot `folder` is, or None if it is none."""
    repository = folder.parent.parent
    return repository if folder.parent.name == "snapshots" and repository.name.startswith(_PREFIX) else None


def repository_name(repository: Path) -> str:
    """Return `organisation/name` of a repository's folder."""
    return repository.name.removeprefix(_PREFIX).replace("--", "/", 1)


def _changed(path: Path) -> float:
    """Return when a snapshot was last changed; one that was deleted in the meantime is the oldest."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _main(repository: Path) -> str:
    """Return the name of the snapshot that `refs/main` names, or an empty text."""
    ref = repository / "refs" / "main"
    if not os.path.lexists(ref):
        return ""
    resolve_inside(ref, os.path.realpath(repository))
    revision = read_all(ref, _LONGEST_REF, "a reference").strip()
    return revision.decode() if _REVISION.fullmatch(revision) else ""
