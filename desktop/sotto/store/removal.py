"""Deleting models from Sotto's own store, with a while to think better of it. No other store is ever written to.

A model that is deleted is a manifest in the trash, a folder inside the store. Once it is erased, its blobs go with it,
but for those that another manifest names.
"""

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError, StoreError
from sotto.paths import data_dir, make_folder
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path
from sotto.store.records import ModelRecord, Source
from sotto.store.roots import default_roots
from sotto.store.sources.manifest import MANIFEST_LIMIT, Manifest, parse_manifest

# Where models are gathered, each in a folder with its manifest; see `sotto.store.pull.staging`.
STAGING, MANIFEST = "staging", "manifest"


@dataclass(frozen=True, slots=True)
class Removed:
    """A model in the trash.

    Attributes:
        name: What it was called.
        folder: Its folder in the trash.
        moved: Where each of its manifests was, and where it is now.
    """

    name: str
    folder: Path
    moved: tuple[tuple[Path, Path], ...]


def own_store() -> Path:
    """Return Sotto's own store; it may not exist."""
    return data_dir() / "models"


def remove(record: ModelRecord, only: Path | None = None) -> Removed:
    """Move a model of Sotto's own store to the trash, under every name that it has there or under one of them.

    Args:
        record: The model.
        only: The manifest of the one name; None for all.

    Raises:
        StoreError: It is not in that store, or cannot be moved.
    """
    store = own_store()
    require_own(store)
    manifests = [
        place.path
        for place in record.places
        if place.source is Source.SOTTO and only in (None, place.path) and inside(place.path, store / "manifests")
    ]
    if (record.builtin and only is None) or not manifests:
        raise StoreError(f"{printable(record.name)} is not in Sotto's own store, so it cannot be deleted here.")
    folder = store / "trash" / uuid.uuid4().hex
    moved: list[tuple[Path, Path]] = []
    try:
        make_folder(folder)
        for number, path in enumerate(manifests):
            target = folder / str(number)
            path.rename(target)
            moved.append((path, target))
            drop_empty(path.parent, store / "manifests")
    except OSError as error:
        for path, target in moved:
            with contextlib.suppress(OSError):
                make_folder(path.parent)
                target.rename(path)
        raise StoreError(f"{printable(record.name)} cannot be deleted: {error.strerror}.") from error
    return Removed(record.name, folder, tuple(moved))


def restore(removed: Removed) -> None:
    """Bring a model back from the trash.

    Raises:
        StoreError: It cannot be moved, or another one has its name now.
    """
    try:
        for path, target in removed.moved:
            if path.exists():
                raise StoreError(f"There is a new {printable(removed.name)}, so the deleted one stays in the trash.")
            make_folder(path.parent)
            target.rename(path)
        removed.folder.rmdir()
    except OSError as error:
        raise StoreError(f"{printable(removed.name)} cannot be brought back: {error.strerror}.") from error


def erase(removed: Removed) -> int:
    """Delete a model in the trash for good; return how many bytes were freed.

    Raises:
        StoreError: Something of it cannot be deleted.
    """
    return _erase(removed.folder)


def empty_trash() -> int:
    """Delete what was left in the trash when Sotto ended; return how many bytes were freed.

    Raises:
        StoreError: Something of it cannot be deleted.
    """
    trash = own_store() / "trash"
    if not trash.is_dir():
        return 0
    return sum(_erase(folder) for folder in list(trash.iterdir()) if folder.is_dir() and not folder.is_symlink())


def _erase(folder: Path) -> int:
    store = own_store()
    require_own(store)
    try:
        wanted = {digest for manifest in _manifests(folder.iterdir()) for digest in manifest.blobs}
        shutil.rmtree(folder)
        return drop_unused(store, wanted)
    except BrokenModelError as error:
        raise StoreError(f"{printable_path(folder)} cannot be erased: {error.message}") from error
    except OSError as error:
        raise StoreError(f"{printable_path(folder)} cannot be erased: {error.strerror}.") from error


def drop_unused(store: Path, digests: Iterable[str]) -> int:
    """Delete those of some blobs of a store that no manifest names; return how many bytes were freed.

    Raises:
        OSError: A blob cannot be deleted.
    """
    try:
        used = {digest for manifest in _manifests(_files(store)) for digest in manifest.blobs}
    except BrokenModelError:
        # What a manifest names that cannot be read is not known, so nothing is taken from it.
        return 0
    freed = 0
    for digest in sorted(set(digests) - used):
        blob = store / "blobs" / f"sha256-{digest}"
        if blob.is_file() or blob.is_symlink():
            freed += blob.lstat().st_size
            blob.unlink()
    return freed


def drop_empty(folder: Path, top: Path) -> None:
    """Remove folders that are empty now, up to `top`."""
    while folder != top and folder.is_relative_to(top):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def require_own(store: Path) -> None:
    """Make sure that Sotto's store is nobody else's.

    Raises:
        StoreError: It is a link to a store of another program.
    """
    real = Path(os.path.realpath(store))
    for root in default_roots():
        other = Path(os.path.realpath(root.path))
        if root.kind is not Source.SOTTO and (real.is_relative_to(other) or other.is_relative_to(real)):
            raise StoreError(
                f"{printable_path(store)} leads to {printable_path(other)}, where nothing is deleted or written."
            )


def staged_manifests(store: Path) -> Iterator[Path]:
    """Yield the manifests of what is being downloaded into a store, or will be when somebody goes on with it."""
    for folder, _, names in os.walk(store / STAGING):
        if MANIFEST in names:
            yield Path(folder, MANIFEST)


def _manifests(paths: Iterable[Path]) -> list[Manifest]:
    return [parse_manifest(read_all(path, MANIFEST_LIMIT, "a manifest"), path) for path in paths]


def _files(store: Path) -> list[Path]:
    """Return every manifest of the store: those in the trash and those of downloads need their blobs, too."""
    # These first: a download that ends meanwhile moves its manifest to the others.
    staged = list(staged_manifests(store))
    return staged + [
        Path(folder, name)
        for top in (store / "manifests", store / "trash")
        for folder, _, names in os.walk(top)
        for name in names
    ]


def inside(path: Path, folder: Path) -> bool:
    """Return whether a file lies in a folder, or would lie there, whatever links lead there."""
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder))
