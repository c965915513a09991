"""Copying a model within Sotto's own store: a second manifest that names the same blobs."""

from sotto.errors import StoreError
from sotto.store.atomic_writing import write_atomically
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path
from sotto.store.pull.staging import Staging
from sotto.store.records import Place, Source
from sotto.store.removal import delete_unused_blobs, lies_inside, own_store, require_own_store
from sotto.store.sources.manifest import MANIFEST_LIMIT, parse_manifest
from sotto.store.sources.model_names import ModelName
from sotto.store.sources.ollama_layout import OllamaStore


def copy(place: Place, name: ModelName) -> None:
    """Give the model at a place a second name, replacing any model that had that name.

    Blobs of a replaced model are deleted unless another manifest names them.

    Raises:
        StoreError: The place is not in Sotto's own store, or the manifest cannot be written.
        BrokenModelError: The model is damaged.
    """
    root = own_store()
    require_own_store(root)
    staging = Staging(root, name)
    target = staging.target
    if place.source is not Source.SOTTO or not lies_inside(place.path, root / "manifests"):
        raise StoreError(
            f"{printable(place.name)} is not in Sotto's own store, so it gets no other name: others' stores are read "
            "only."
        )
    if not lies_inside(target, root / "manifests"):
        raise StoreError(f"{printable_path(target)} leads out of Sotto's own store, so nothing is written there.")
    if target == place.path:
        return
    data = read_all(place.path, MANIFEST_LIMIT, "a manifest")
    OllamaStore(root).require_blobs(parse_manifest(data, place.path))
    try:
        # A download under that name would write the same manifest.
        with staging.lock():
            replaced = staging.stored_manifest()
            write_atomically(target, data)
            target.chmod(0o644)
            if replaced is not None:
                delete_unused_blobs(root, replaced.blobs)
    except OSError as error:
        raise StoreError(f"{printable(name.short)} cannot be written: {error.strerror}.") from error
