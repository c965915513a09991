"""Reading Hugging Face's cache: `models--<organisation>--<name>/{refs,snapshots,blobs}`.

A snapshot is a folder of links into `blobs`, whose files are named by their content: large ones by their sha256, small
ones by their git object id, the sha1 of `blob <size>`, a zero byte and the content. `refs/main` contains the name of
the current snapshot.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import is_folder, read_all, resolve_inside
from sotto.store.records import Source
from sotto.store.sources.harvest import Harvest
from sotto.store.sources.plain_folders import ModelFolder, add_folder, add_gguf, look_into, subfolders

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
            add_snapshot(model, repository_name(path), source, harvest)


def add_snapshot(folder: ModelFolder, name: str, source: Source, harvest: Harvest) -> None:
    """Add the models in a snapshot: those in its folder, and the GGUF models in the folders within it."""
    below = _gguf_folders(folder)
    if not below:
        add_folder(folder, name, source, harvest)
        return
    if folder.is_model:
        add_folder(replace(folder, names=_without_ggufs(folder)), name, source, harvest)
    found = [(each, stem, parts) for each in (folder, *below) for stem, parts in each.ggufs.items()]
    for each, stem, parts in found:
        place = stem if each is folder else f"{each.path.name}/{stem}"
        named = name if len(found) == 1 and not folder.is_model else f"{name}:{place}"
        add_gguf(each, parts, named, source, harvest)


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
        if folder.is_model or folder.ggufs or _gguf_folders(folder):
            return folder
    return None


def repository_of(folder: Path) -> Path | None:
    """Return the repository that `folder` is a snapshot of, or a folder in a snapshot; None if it is neither."""
    for snapshots in (folder.parent, folder.parent.parent):
        if snapshots.name == "snapshots" and snapshots.parent.name.startswith(_PREFIX):
            return snapshots.parent
    return None


def blob_of_link(path: Path) -> str:
    """Return the name of the blob that a file of a snapshot is a link to: a digest; empty if it is none."""
    real = Path(os.path.realpath(path))
    return real.name if real.parent.name == "blobs" and real != path else ""


def repository_name(repository: Path) -> str:
    """Return the name of a repository's folder as `organisation/name`."""
    return repository.name.removeprefix(_PREFIX).replace("--", "/", 1)


def _gguf_folders(folder: ModelFolder) -> list[ModelFolder]:
    """Return the folders in a snapshot that hold GGUF models."""
    below = (look_into(path, folder.base) for path in subfolders(folder.path, folder.names))
    return [each for each in below if each.ggufs]


def _without_ggufs(folder: ModelFolder) -> frozenset[str]:
    return frozenset(name for name in folder.names if not name.lower().endswith(".gguf"))


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
