"""Deleting models from Sotto's own store by way of a trash folder. No other store is ever written to.

Deleting a model moves its manifests to the trash, a folder inside the store, from which they can be restored. Erasing
removes them, and the blobs that no other manifest names.
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

# The folder of unfinished downloads, and the name of the manifest of each; see `sotto.store.pull.staging`.
STAGING, MANIFEST = "staging", "manifest"
# The name of the manifest of an import whose blobs are being moved into the store.
IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class RemovedModel:
    """A model in the trash.

    Attributes:
        name: The name that it had.
        folder: Its folder in the trash.
        moved: For each of its manifests, the path in the store and the path in the trash.
    """

    name: str
    folder: Path
    moved: tuple[tuple[Path, Path], ...]


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
    folder = store / "trash" / uuid.uuid4().hex
    moved: list[tuple[Path, Path]] = []
    try:
        make_folder(folder)
        for number, path in enumerate(manifests):
            target = folder / str(number)
            path.rename(target)
            moved.append((path, target))
            remove_empty_folders(path.parent, store / "manifests")
    except OSError as error:
        for path, target in moved:
            with contextlib.suppress(OSError):
                make_folder(path.parent)
                target.rename(path)
        raise StoreError(f"{printable(record.name)} cannot be deleted: {error.strerror}.") from error
    return RemovedModel(record.name, folder, tuple(moved))


def restore(removed: RemovedModel) -> None:
    """Move a model back from the trash.

    Raises:
        StoreError: It cannot be moved, or another model has its name now.
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


def erase(removed: RemovedModel) -> int:
    """Delete a model in the trash permanently, and return the number of bytes freed.

    Raises:
        StoreError: A file cannot be deleted.
    """
    return _erase(removed.folder)


def empty_trash() -> int:
    """Erase every model that an earlier run left in the trash, and return the number of bytes freed.

    Raises:
        StoreError: A file cannot be deleted.
    """
    trash = own_store() / "trash"
    if not trash.is_dir():
        return 0
    return sum(_erase(folder) for folder in list(trash.iterdir()) if folder.is_dir() and not folder.is_symlink())


def _erase(folder: Path) -> int:
    store = own_store()
    require_own_store(store)
    try:
        digests = {digest for manifest in _parse_manifests(folder.iterdir()) for digest in manifest.blobs}
        shutil.rmtree(folder)
        return delete_unused_blobs(store, digests)
    except BrokenModelError as error:
        raise StoreError(f"{printable_path(folder)} cannot be erased: {error.message}") from error
    except OSError as error:
        raise StoreError(f"{printable_path(folder)} cannot be erased: {error.strerror}.") from error


def delete_unused_blobs(store: Path, digests: Iterable[str]) -> int:
    """Delete those of the given blobs that no manifest names, and return the number of bytes freed.

    Raises:
        OSError: A blob cannot be deleted.
    """
    try:
        used = {digest for manifest in _parse_manifests(_manifest_files(store)) for digest in manifest.blobs}
    except BrokenModelError:
        # An unreadable manifest may name any of them.
        return 0
    freed = 0
    for digest in sorted(set(digests) - used):
        blob = store / "blobs" / f"sha256-{digest}"
        if blob.is_file() or blob.is_symlink():
            freed += blob.lstat().st_size
            blob.unlink()
    return freed


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


def _parse_manifests(paths: Iterable[Path]) -> list[Manifest]:
    return [parse_manifest(read_all(path, MANIFEST_LIMIT, "a manifest"), path) for path in paths]


def _manifest_files(store: Path) -> list[Path]:
    """Return every manifest file of the store, including those in the trash and of downloads."""
    # The staged ones first, because a download that finishes meanwhile moves its manifest into the store.
    staged = list(staged_manifests(store))
    return staged + [
        Path(folder, name)
        for top in (store / "manifests", store / "trash")
        for folder, _, names in os.walk(top)
        for name in names
    ]


def lies_inside(path: Path, folder: Path) -> bool:
    """Return whether a path is, or would be, inside a folder once symbolic links are resolved."""
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder))
