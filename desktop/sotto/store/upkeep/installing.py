"""The last step of everything that adds a model: its blobs and its manifest get their places in the store."""

from collections.abc import Mapping
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.paths import make_folder
from sotto.store.atomic_writing import sync_to_disk
from sotto.store.removal import delete_unused_blobs, read_manifest
from sotto.store.sources.manifest import Manifest
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.upkeep.lock import adding


def install(root: Path, manifest: Manifest, staged: Mapping[str, Path], manifest_file: Path, target: Path) -> None:
    """Move blobs into a store and then their manifest, so that the model is there as a whole or not at all.

    Blobs of a model that had this name before are deleted unless another manifest names them.

    Args:
        root: The store.
        manifest: The manifest of the model.
        staged: The files that become blobs, by digest, on the disk of the store. The other blobs are there already.
        manifest_file: The file of the manifest, on the same disk.
        target: The path that it gets below `manifests`.

    Raises:
        BrokenModelError: A blob is neither staged nor in the store; nothing has been moved then.
        OSError: A file cannot be moved.
    """
    blobs = root / "blobs"
    with adding(root):
        replaced = read_if_intact(target)
        make_folder(blobs)
        store = OllamaStore(root)
        for layer in manifest.blobs.values():
            if layer.digest not in staged:
                store.blob(layer)
        for digest, path in staged.items():
            path.replace(blobs / f"sha256-{digest}")
        sync_to_disk(blobs)
        store.require_blobs(manifest)
        manifest_file.chmod(0o644)
        sync_to_disk(manifest_file)
        make_folder(target.parent)
        manifest_file.replace(target)
        sync_to_disk(target.parent)
    if replaced is not None:
        delete_unused_blobs(root, replaced.blobs)


def read_if_intact(path: Path) -> Manifest | None:
    """Return the manifest in a file, or None if it is missing or invalid."""
    try:
        return read_manifest(path)
    except BrokenModelError:
        # Whoever needs it gets it again, from where it came from.
        return None
