"""Discovery of every model on this machine, one record for each distinct model."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import read_error, resolve_inside
from sotto.store.printable import printable_path
from sotto.store.records import ModelRecord, Place, Problem, Source
from sotto.store.roots import Root, default_roots, device_of, may_disappear
from sotto.store.sources.harvest import Harvest, Judge, everything_runs
from sotto.store.sources.huggingface import is_cache, list_cache
from sotto.store.sources.ollama_listing import list_store
from sotto.store.sources.plain_folders import ModelFolder, add_folder, look_into, subfolders

_MAX_DEPTH = 4
_MAX_FOLDERS = 2000


@dataclass(frozen=True, slots=True)
class Listing:
    """The result of a discovery.

    Attributes:
        records: Each distinct model once, by digest; names are unique.
        problems: Files and folders that are not complete models, and missing roots that the user named.
        roots: The roots that were searched.
        existing: The paths of those roots that exist.
        devices: The disk on which each of those that may disappear was found, as `root_devices` returns them.
    """

    records: tuple[ModelRecord, ...]
    problems: tuple[Problem, ...]
    roots: tuple[Root, ...]
    existing: frozenset[Path] = frozenset()
    devices: Mapping[Path, int] = field(default_factory=dict)


def discover(roots: Sequence[Root] | None = None, judge: Judge = everything_runs) -> Listing:
    """Return every model in the roots.

    Only small parts of models are read: manifests, headers, small JSON files and the sizes of other files.

    Args:
        roots: The roots to search; None for `default_roots()`.
        judge: Given a model's configuration, returns an empty string, or one sentence saying why the engine cannot run
            it.
    """
    roots = tuple(default_roots() if roots is None else roots)
    records: list[ModelRecord] = []
    problems: list[Problem] = []
    existing: set[Path] = set()
    devices: dict[Path, int] = {}
    for root in roots:
        harvest, device = Harvest(judge), 0
        try:
            if _exists(root):
                existing.add(root.path)
                device = device_of(root.path)
                _list_root(root, harvest)
        except BrokenModelError as error:
            harvest.add_problem(root.path, error.message)
        if may_disappear(root):
            devices[root.path] = device
        records += sorted(harvest.records, key=lambda record: record.name.casefold())
        problems += harvest.problems
    found = tuple(with_distinct_names(_distinct(records)))
    return Listing(found, tuple(problems), roots, frozenset(existing), devices)


def list_folders(root: Path, source: Source, harvest: Harvest) -> None:
    """Add every model folder at or below `root`, a few levels deep.

    In LM Studio's folder a model is named by its publisher and its folder, elsewhere by its folder alone. A GGUF file
    in `root` itself keeps its own name.
    """
    for folder in _model_folders(root, harvest):
        relative = folder.path.relative_to(root).as_posix()
        name = relative if source is Source.LMSTUDIO and relative != "." else folder.path.name
        add_folder(folder, name, source, harvest, holds_models=folder.path == root)


def _exists(root: Root) -> bool:
    """Return whether a root is a folder.

    Raises:
        BrokenModelError: It is missing although the user named it, is not a folder, or may not be accessed.
    """
    try:
        status = root.path.stat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise read_error(root.path, error) from error
        if root.missing_is_error:
            raise BrokenModelError(
                f"{printable_path(root.path)} is not there; it should be the folder of models that was asked for."
            ) from error
        return False
    if not stat.S_ISDIR(status.st_mode):
        raise BrokenModelError(f"{printable_path(root.path)} is not a folder; it should be a folder of models.")
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
    """Yield the folders that hold models, without descending into those of safetensors."""
    base = os.path.realpath(root)
    seen: set[str] = set()
    pending = [(root, 0)]
    while pending:
        path, depth = pending.pop()
        try:
            real = resolve_inside(path, base)
            if real in seen:
                continue
            seen.add(real)
            folder = look_into(path, base)
        except BrokenModelError as error:
            harvest.add_problem(path, error.message)
            continue
        if len(seen) > _MAX_FOLDERS:
            harvest.add_problem(
                root, f"{printable_path(root)} has more than {_MAX_FOLDERS} folders; the rest is not shown."
            )
            return
        if folder.is_model or folder.ggufs:
            yield folder
        # Folders of models may lie beside GGUF files.
        if not folder.is_model and depth < _MAX_DEPTH:
            pending += [(below, depth + 1) for below in reversed(subfolders(path, folder.names))]


def _distinct(records: Sequence[ModelRecord]) -> list[ModelRecord]:
    """Return the first record of each digest, with the places of the others in `also`."""
    first: dict[str, ModelRecord] = {}
    others: dict[str, list[Place]] = {}
    for record in records:
        if record.digest not in first:
            first[record.digest] = record
        # Roots may be nested, so that the same path is found twice.
        elif record.path != first[record.digest].path:
            others.setdefault(record.digest, []).append(Place(record.name, record.source, record.path))
    return [replace(record, also=tuple(others.get(digest, ()))) for digest, record in first.items()]


def with_distinct_names(records: Sequence[ModelRecord]) -> Iterator[ModelRecord]:
    """Yield the records in order, with `@` and the store or the digest appended to names that are taken."""
    taken = {record.name for record in records}
    used: set[str] = set()
    for record in records:
        name = record.name if record.name not in used else _free_name(record, taken)
        used.add(name)
        taken.add(name)
        yield record if name == record.name else replace(record, name=name)


def _free_name(record: ModelRecord, taken: Set[str]) -> str:
    suffixes = chain((record.source.value, record.digest[:8], record.digest), count(2))
    return next(name for name in (f"{record.name}@{suffix}" for suffix in suffixes) if name not in taken)
