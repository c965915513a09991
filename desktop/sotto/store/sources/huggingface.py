"""Reading Hugging Face's cache: `models--<organisation>--<name>/{refs,snapshots,blobs}`.

A snapshot is a folder of links into `blobs`, whose files are named by their content: large ones by their sha256, small
ones by their git object id, the sha1 of `blob <size>`, a zero byte and the content. `refs/main` contains the name of
the current snapshot.
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
_MAX_REF_BYTES = 256


def is_cache(path: Path, names: frozenset[str]) -> bool:
    """Return whether a folder with these entries is a Hugging Face cache."""
    return any(name.startswith(_PREFIX) and is_folder(path / name) for name in names)


def list_cache(root: Path, source: Source, harvest: Harvest) -> None:
    """Add every model of a cache, each in its current snapshot."""
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
    """Return the snapshot that `refs/main` names, else the newest one that holds a model; None if none does.

    Raises:
        BrokenModelError: The repository cannot be read.
    """
    base = os.path.realpath(repository)
    snapshots = repository / "snapshots"
    if not is_folder(snapshots):
        return None
    folders = subfolders(snapshots, look_into(snapshots, base).names)
    newest = sorted(folders, key=_modified_at, reverse=True)
    main = snapshots / _main(repository)
    for path in sorted(newest, key=lambda path: path != main):
        folder = look_into(path, base)
        if folder.is_model or folder.ggufs:
            return folder
    return None


def repository_of(folder: Path) -> Path | None:
    """Return the repository that `folder` is a snapshot of, or None if it is not a snapshot."""
    repository = folder.parent.parent
    return repository if folder.parent.name == "snapshots" and repository.name.startswith(_PREFIX) else None


def repository_name(repository: Path) -> str:
    """Return the name of a repository's folder as `organisation/name`."""
    return repository.name.removeprefix(_PREFIX).replace("--", "/", 1)


def _modified_at(path: Path) -> float:
    """Return when a snapshot was last modified, in seconds since the epoch; 0 if it was deleted meanwhile."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _main(repository: Path) -> str:
    """Return the name of the snapshot that `refs/main` contains, or an empty string."""
    ref = repository / "refs" / "main"
    if not os.path.lexists(ref):
        return ""
    resolve_inside(ref, os.path.realpath(repository))
    revision = read_all(ref, _MAX_REF_BYTES, "a reference").strip()
    return revision.decode() if _REVISION.fullmatch(revision) else ""
