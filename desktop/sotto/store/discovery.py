"""Finding every model on this machine, one row for each distinct one."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import real_inside, unreadable
from sotto.store.printable import printable_path
from sotto.store.records import ModelRecord, Place, Problem, Source
from sotto.store.roots import Root, default_roots
from sotto.store.sources.harvest import Harvest, Judge, everything_runs
from sotto.store.sources.huggingface import is_cache, list_cache
from sotto.store.sources.ollama_listing import list_store
from sotto.store.sources.plain_folders import ModelFolder, add_folder, look_into, subfolders

__all__ = ["Listing", "Problem", "discover", "distinct_names", "list_folders"]

_DEEPEST = 4
_MOST_FOLDERS = 2000


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found.

    Attributes:
        records: Each distinct model once, by digest; names are unique.
        problems: What was found and is no whole model, and roots that should be there and are not.
        roots: Where was looked.
        there: Paths of those roots that are there.
    """

    records: tuple[ModelRecord, ...]
    problems: tuple[Problem, ...]
    roots: tuple[Root, ...]
    there: frozenset[Path] = frozenset()


def discover(roots: Sequence[Root] | None = None, judge: Judge = everything_runs) -> Listing:
    """Look into all roots.

    Nothing large is read: manifests, headers, small JSON files and the sizes of the others.

    Args:
        roots: Where to look; by default `default_roots()`.
        judge: Given a model's configuration, returns an empty text or one sentence why the engine cannot run it.
    """
    roots = tuple(default_roots() if roots is None else roots)
    found: list[ModelRecord] = []
    problems: list[Problem] = []
    there: set[Path] = set()
    for root in roots:
        harvest = Harvest(judge)
        try:
            if _is_there(root):
                there.add(root.path)
                _list_root(root, harvest)
        except BrokenModelError as error:
            harvest.problem(root.path, error.message)
        found += sorted(harvest.records, key=lambda record: record.name.casefold())
        problems += harvest.problems
    return Listing(tuple(distinct_names(_distinct(found))), tuple(problems), roots, frozenset(there))


def list_folders(root: Path, source: Source, harvest: Harvest) -> None:
    """Add every model folder at or below `root`, a few levels deep.

    In LM Studio's folder a model is called by its publisher and its folder, elsewhere by its folder.
    """
    for folder in _model_folders(root, harvest):
        inside = folder.path.relative_to(root).as_posix()
        name = inside if source is Source.LMSTUDIO and inside != "." else folder.path.name
        add_folder(folder, name, source, harvest)


def _is_there(root: Root) -> bool:
    """Return whether there is a folder; raise BrokenModelError if there is not and should be, or it may not be seen."""
    try:
        status = root.path.stat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise unreadable(root.path, error) from error
        if root.missing_is_error:
            raise BrokenModelError(
                f"{printable_path(root.path)} is not there; it should be the folder of models that was asked for."
            ) from error
        return False
    if not stat.S_ISDIR(status.st_mode):
        raise BrokenModelError(f"{printable_path(root.path)} is no folder; it should be a folder of models.")
    return True


def _list_root(root: Root, harvest: Harvest) -> None:
    if root.kind in (Source.BUILTIN, Source.SOTTO, Source.OLLAMA):
        list_store(root.path, root.kind, harvest)
    elif root.kind is Source.HUGGINGFACE:
        list_cache(root.path, root.kind, harvest)
    else:
        names = look_into(root.path).names
        if {"manifests", "blobs"} <= names:
            list_store(root.path, root.kind, harvest)
        elif is_cache(root.path, names):
            list_cache(root.path, root.kind, harvest)
        else:
            list_folders(root.path, root.kind, harvest)


def _model_folders(root: Path, harvest: Harvest) -> Iterator[ModelFolder]:
    """Yield the folders that hold models; below such a folder none is looked for."""
    base = os.path.realpath(root)
    seen: set[str] = set()
    pending = [(root, 0)]
    while pending:
        path, depth = pending.pop()
        try:
            real = real_inside(path, base)
            if real in seen:
                continue
            seen.add(real)
            folder = look_into(path, base)
        except BrokenModelError as error:
            harvest.problem(path, error.message)
            continue
        if len(seen) > _MOST_FOLDERS:
            harvest.problem(
                root, f"{printable_path(root)} has more than {_MOST_FOLDERS} folders; the rest is not shown."
            )
            return
        if folder.is_model or folder.ggufs:
            yield folder
        elif depth < _DEEPEST:
            pending += [(below, depth + 1) for below in reversed(subfolders(path, folder.names))]


def _distinct(records: Sequence[ModelRecord]) -> list[ModelRecord]:
    """Return each digest once, where it was found first, with the other places beside it."""
    first: dict[str, ModelRecord] = {}
    others: dict[str, list[Place]] = {}
    for record in records:
        if record.digest not in first:
            first[record.digest] = record
        # One root may lie in another.
        elif record.path != first[record.digest].path:
            others.setdefault(record.digest, []).append(Place(record.name, record.source, record.path))
    return [replace(record, also=tuple(others.get(digest, ()))) for digest, record in first.items()]


def distinct_names(records: Sequence[ModelRecord]) -> Iterator[ModelRecord]:
    """Yield the records, in order; a name that is taken gets its store or, if need be, its digest behind it."""
    taken = {record.name for record in records}
    given: set[str] = set()
    for record in records:
        name = record.name if record.name not in given else _further_name(record, taken)
        given.add(name)
        taken.add(name)
        yield record if name == record.name else replace(record, name=name)


def _further_name(record: ModelRecord, taken: Set[str]) -> str:
    additions = chain((record.source.value, record.digest[:8], record.digest), count(2))
    return next(name for name in (f"{record.name}@{addition}" for addition in additions) if name not in taken)
