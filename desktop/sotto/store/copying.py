"""A second name for a model of Sotto's own store: another manifest of the same blobs."""

from sotto.errors import StoreError
from sotto.store.atomic_writing import write_whole
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path
from sotto.store.pull.staging import Staging
from sotto.store.records import Place, Source
from sotto.store.removal import drop_unused, inside, own_store, require_own
from sotto.store.sources.manifest import MANIFEST_LIMIT, parse_manifest
from sotto.store.sources.model_names import ModelName
from sotto.store.sources.ollama_layout import OllamaStore


def copy(place: Place, name: ModelName) -> None:
    """Give the model at a place another name, which means nothing else any more.

    Blobs of the model that had this name before go, but for those that are still in use.

    Raises:
        StoreError: The place is not in Sotto's own store, or the manifest cannot be written.
        BrokenModelError: The model is damaged.
    """
    root = own_store()
    require_own(root)
    staging = Staging(root, name)
    target = staging.target
    if place.source is not Source.SOTTO or not inside(place.path, root / "manifests"):
        raise StoreError(
            f"{printable(place.name)} is not in Sotto's own store, so it gets no other name: others' stores are read "
            "only."
        )
    if not inside(target, root / "manifests"):
        raise StoreError(f"{printable_path(target)} leads out of Sotto's own store, so nothing is written there.")
    if target == place.path:
        return
    data = read_all(place.path, MANIFEST_LIMIT, "a manifest")
    OllamaStore(root).require_blobs(parse_manifest(data, place.path))
    try:
        # A download of that name would replace it, or be replaced.
        with staging.lock():
            before = staging.kept_manifest()
            write_whole(target, data)
            target.chmod(0o644)
            if before is not None:
                drop_unused(root, before.blobs)
    except OSError as error:
        raise StoreError(f"{printable(name.short)} cannot be written: {error.strerror}.") from error
