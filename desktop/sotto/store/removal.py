"""Deleting models from Sotto's own store by way of a trash folder. No other store is ever written to.

Deleting a model moves its manifests to the trash, a folder inside the store, from which they can be restored. Erasing
removes them, and the blobs that no other manifest names. Each deletion is a folder of the trash that holds manifests
under their paths below `manifests`; the time at which the folder last changed is that of the deletion.
"""

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError, InvalidNameError, StoreError
from sotto.paths import data_dir, make_folder
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path
from sotto.store.records import ModelRecord, Source
from sotto.store.roots import default_roots
from sotto.store.sources.manifest import MANIFEST_LIMIT, Manifest, parse_manifest
from sotto.store.sources.model_names import name_of_parts
from sotto.store.upkeep.lock import adding, deleting

# The folder of unfinished downloads, and the name of the manifest of each; see `sotto.store.pull.staging`.
STAGING, MANIFEST = "staging", "manifest"
# The name of the manifest of an import whose blobs are being moved into the store.
IMPORTED = "imported"
TRASH = "trash"
# Of a manifest below its folder: host, namespace, model and tag.
_LEVELS = 4


@dataclass(frozen=True, slots=True)
class RemovedModel:
    """A model in the trash.

    Attributes:
        name: The name that it had.
        folder: Its folder in the trash.
        moved: For each of its manifests, the path in the store and the path in the trash.
        removed_at: When it was deleted, in seconds since 1970.
    """

    name: str
    folder: Path
    moved: tuple[tuple[Path, Path], ...]
    removed_at: float


def own_store() -> Path:
    """Return the folder of Sotto's own store; it may not exist."""
    return data_dir() / "models"


def remove(record: ModelRecord, only: Path | None = None) -> RemovedModel:
    """Move the manifests of a model in Sotto's own store to the trash.

    Args:
        record: The model.
        only: The one manifest to move; None for the manifests of all its names.

    Raises:
        StoreError: The model is not in that store, or cannot be moved.
    """
    store = own_store()
    require_own_store(store)
    manifests = [
        place.path
        for place in record.places
        if place.source is Source.SOTTO and only in (None, place.path) and lies_inside(place.path, store / "manifests")
    ]
    if (record.builtin and only is None) or not manifests:
        raise StoreError(f"{printable(record.name)} is not in Sotto's own store, so it cannot be deleted here.")
    folder = store / TRASH / uuid.uuid4().hex
    moved: list[tuple[Path, Path]] = []
    try:
        with deleting(store):
            for path in manifests:
                target = folder / path.relative_to(store / "manifests")
                make_folder(target.parent)
                path.rename(target)
                moved.append((path, target))
                remove_empty_folders(path.parent, store / "manifests")
            # Making the folders of a later name does not change the time of this one.
            os.utime(folder)
    except OSError as error:
        for path, target in moved:
            with contextlib.suppress(OSError):
                make_folder(path.parent)
                target.rename(path)
        raise StoreError(f"{printable(record.name)} cannot be deleted: {error.strerror}.") from error
    return RemovedModel(record.name, folder, tuple(moved), time.time())


def trash() -> tuple[RemovedModel, ...]:
    """Return the models in the trash that can be restored, those deleted last first."""
    store = own_store()
    return tuple(sorted(_removed_models(store), key=lambda removed: removed.removed_at, reverse=True))


def _removed_models(store: Path) -> Iterator[RemovedModel]:
    for folder in trash_folders(store):
        moved = []
        for path in sorted(_files_below(folder)):
            parts = path.relative_to(folder).parts
            if len(parts) == _LEVELS:
                with contextlib.suppress(InvalidNameError):
                    moved.append((name_of_parts(parts).short, store.joinpath("manifests", *parts), path))
        if moved:
            # Restored by another process meanwhile, it is listed no longer.
            with contextlib.suppress(FileNotFoundError):
                pairs = tuple((place, path) for _, place, path in moved)
                yield RemovedModel(moved[0][0], folder, pairs, folder.stat().st_mtime)


def trash_folders(store: Path) -> list[Path]:
    """Return the folders in the trash, one for each deletion."""
    folder = store / TRASH
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink()]


def restore(removed: RemovedModel) -> None:
    """Move a model back from the trash.

    Raises:
        StoreError: It cannot be moved, is no longer in the trash, or another model has its name now.
    """
    name = printable(removed.name)
    store = own_store()
    try:
        with adding(store):
            if not removed.folder.is_dir():
                raise StoreError(f"{name} is no longer in the trash; download it again.")
            for path, target in removed.moved:
                if path.exists():
                    raise StoreError(f"There is a new {name}, so the deleted one stays in the trash.")
                make_folder(path.parent)
                target.rename(path)
            shutil.rmtree(removed.folder)
    except OSError as error:
        raise StoreError(f"{name} cannot be brought back: {error.strerror}.") from error


def erase(removed: RemovedModel) -> int:
    """Delete a model in the trash permanently, and return the number of bytes freed.

    Raises:
        StoreError: A file cannot be deleted.
    """
    return _erase(removed.folder)


def empty_trash() -> int:
    """Erase every model in the trash, and return the number of bytes freed.

    Raises:
        StoreError: A file cannot be deleted.
    """
    return sum(_erase(folder) for folder in trash_folders(own_store()))


def _erase(folder: Path) -> int:
    store = own_store()
    require_own_store(store)
    try:
        with deleting(store):
            digests: set[str] = set()
            for path in _files_below(folder):
                # What an unreadable manifest names is left to pruning.
                with contextlib.suppress(BrokenModelError):
                    digests |= read_manifest(path).blobs.keys()
            if folder.is_dir():
                shutil.rmtree(folder)
            return _delete_unused(store, digests)
    except OSError as error:
        raise StoreError(f"{printable_path(folder)} cannot be erased: {error.strerror}.") from error


def delete_unused_blobs(store: Path, digests: Iterable[str]) -> int:
    """Delete those of the given blobs that no manifest names, and return the number of bytes freed.

    The caller must not have the lock of the store.

    Raises:
        OSError: A blob cannot be deleted.
    """
    with deleting(store):
        return _delete_unused(store, digests)


def _delete_unused(store: Path, digests: Iterable[str]) -> int:
    try:
        unused = set(digests) - used_digests(store)
    except BrokenModelError:
        # An unreadable manifest may name any of them.
        return 0
    return sum(delete_blob(store / "blobs" / f"sha256-{digest}") for digest in sorted(unused))


def delete_blob(blob: Path) -> int:
    """Delete a blob, if it is there, and return the number of bytes freed: none if the file has other names elsewhere.

    Raises:
        OSError: It cannot be deleted.
    """
    if not (blob.is_file() or blob.is_symlink()):
        return 0
    status = blob.lstat()
    blob.unlink()
    return status.st_size if status.st_nlink == 1 else 0


def used_digests(store: Path, without: Collection[Path] = ()) -> set[str]:
    """Return the digests of all blobs that a manifest names, including those in the trash and of downloads.

    Args:
        store: The store.
        without: Folders in the trash that are left out.

    Raises:
        BrokenModelError: A manifest cannot be read, so that it may name any blob.
    """
    files = [*manifest_files(store), *_manifests_below(store / TRASH)]
    kept = (path for path in files if not any(path.is_relative_to(folder) for folder in without))
    return {digest for path in kept for digest in read_manifest(path).blobs}


def read_manifest(path: Path) -> Manifest:
    """Return the manifest in a file.

    Raises:
        BrokenModelError: It cannot be read, or is not a manifest.
    """
    return parse_manifest(read_all(path, MANIFEST_LIMIT, "a manifest"), path)


def remove_empty_folders(folder: Path, top: Path) -> None:
    """Remove a folder and its ancestors below `top`, as long as they are empty."""
    while folder != top and folder.is_relative_to(top):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def require_own_store(store: Path) -> None:
    """Check that Sotto's store does not overlap the store of another program, for example through a link.

    Raises:
        StoreError: It does.
    """
    real = Path(os.path.realpath(store))
    for root in default_roots():
        other = Path(os.path.realpath(root.path))
        if root.kind is not Source.SOTTO and (real.is_relative_to(other) or other.is_relative_to(real)):
            raise StoreError(
                f"{printable_path(store)} leads to {printable_path(other)}, where nothing is deleted or written."
            )


def staged_manifests(store: Path) -> Iterator[Path]:
    """Yield the manifest files of running and interrupted downloads and imports into a store."""
    for folder, _, names in os.walk(store / STAGING):
        for name in (MANIFEST, IMPORTED):
            if name in names:
                yield Path(folder, name)


def manifest_files(store: Path) -> list[Path]:
    """Return the manifest files of the store and of downloads, without those in the trash."""
    return [*staged_manifests(store), *_manifests_below(store / "manifests")]


def _manifests_below(folder: Path) -> list[Path]:
    # What programs such as Finder leave between the manifests begins with a dot, as the name of no model does.
    return [path for path in _files_below(folder) if not path.name.startswith(".")]


def _files_below(top: Path) -> list[Path]:
    return [Path(folder, name) for folder, _, names in os.walk(top) for name in names]


def lies_inside(path: Path, folder: Path) -> bool:
    """Return whether a path is, or would be, inside a folder once symbolic links are resolved."""
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder))
