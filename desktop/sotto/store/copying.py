"""Copying and renaming models within Sotto's own store: manifests that name the blobs that are there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.errors import StoreError
from sotto.paths import make_folder
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path
from sotto.store.pull.staging import Staging
from sotto.store.records import Place, Source
from sotto.store.removal import lies_inside, own_store, remove_empty_folders, require_own_store
from sotto.store.sources.manifest import MANIFEST_LIMIT, parse_manifest
from sotto.store.sources.model_names import ModelName
from sotto.store.upkeep.installing import install
from sotto.store.upkeep.lock import deleting
from sotto.store.upkeep.workspaces import workspace


def copy(place: Place, name: ModelName, *, replacing: bool = False) -> None:
    """Give the model at a place a second name.

    Args:
        place: A manifest in Sotto's own store.
        name: The second name.
        replacing: Whether a model that has that name already is replaced; its blobs are deleted unless another manifest
            names them.

    Raises:
        StoreError: The place is not in Sotto's own store, another model has the name, or the manifest cannot be
            written.
        BrokenModelError: The model is damaged.
    """
    root = own_store()
    require_own_place(place)
    with claimed(name) as staging:
        if staging.target == place.path:
            return
        if not replacing:
            require_free(staging.target, name)
        data = read_all(place.path, MANIFEST_LIMIT, "a manifest")
        manifest = parse_manifest(data, place.path)
        with workspace(root) as folder:
            file = folder / "manifest"
            file.write_bytes(data)
            install(root, manifest, {}, file, staging.target)


def rename(place: Place, name: ModelName) -> None:
    """Give the model at a place another name, in one step.

    Raises:
        StoreError: The place is not in Sotto's own store, a model has the name already, or the manifest cannot be
            moved.
    """
    root = own_store()
    require_own_place(place)
    with claimed(name) as staging, deleting(root):
        if staging.target == place.path:
            return
        if not (staging.target.exists() and staging.target.samefile(place.path)):
            require_free(staging.target, name)
        make_folder(staging.target.parent)
        place.path.rename(staging.target)
        remove_empty_folders(place.path.parent, root / "manifests")


@contextmanager
def claimed(name: ModelName) -> Iterator[Staging]:
    """Keep downloads from writing the model of this name in Sotto's own store meanwhile.

    Raises:
        StoreError: It is being downloaded, its path leads out of the store, or the block raised an OSError.
    """
    root = own_store()
    require_own_store(root)
    staging = Staging(root, name)
    if not lies_inside(staging.target, root / "manifests"):
        raise StoreError(f"{printable_path(staging.target)} leads out of Sotto's own store; nothing is written there.")
    try:
        with staging.lock():
            yield staging
    except OSError as error:
        raise StoreError(f"{printable(name.short)} cannot be written: {error.strerror}.") from error


def require_free(target: Path, name: ModelName) -> None:
    """Raise StoreError if a model has the manifest `target`, which is the one of `name`."""
    if target.exists():
        raise StoreError(f"There is a {printable(name.short)} already; delete it first, or choose another name.")


def require_own_place(place: Place) -> None:
    """Raise StoreError unless a place is a manifest in Sotto's own store."""
    if place.source is not Source.SOTTO or not lies_inside(place.path, own_store() / "manifests"):
        raise StoreError(
            f"{printable(place.name)} is not in Sotto's own store, so it gets no other name: others' stores are read "
            "only."
        )
