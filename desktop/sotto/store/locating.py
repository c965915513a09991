"""Finding the store or model folder that a path belongs to."""

import os
from collections.abc import Iterator
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import read_all
from sotto.store.printable import printable_path
from sotto.store.records import Source
from sotto.store.roots import default_roots
from sotto.store.sources.huggingface import repository_of
from sotto.store.sources.manifest import MANIFEST_LIMIT, parse_manifest
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.sources.plain_folders import ModelFolder, look_into


def folder_of(path: Path) -> ModelFolder:
    """Return the model folder at a path; the files of a Hugging Face snapshot may be links into its repository.

    Raises:
        BrokenModelError: It cannot be read.
    """
    repository = repository_of(path) or repository_of(Path(os.path.realpath(path)))
    if repository is None:
        root = root_above(path)
        return look_into(path, os.path.realpath(root[1]) if root else None)
    return look_into(path, os.path.realpath(repository))


def layout_root(manifest: Path) -> Path | None:
    """Return `<root>` of a path `<root>/manifests/<host>/<namespace>/<model>/<tag>`, or None for any other path."""
    parents = manifest.parents
    return parents[4] if len(parents) > 4 and parents[3].name == "manifests" else None


def store_of(manifest: Path) -> OllamaStore:
    """Return the store that holds a manifest's blobs.

    If the manifest is a copy outside a store, its blobs are searched for beside it and in the known stores.

    Raises:
        BrokenModelError: The manifest cannot be read, or no known store has any of its blobs.
    """
    if root := layout_root(manifest):
        return OllamaStore(root)
    parsed = parse_manifest(read_all(manifest, MANIFEST_LIMIT, "a manifest"), manifest)
    stores = [OllamaStore(root, manifest) for root in _blob_roots(manifest)]
    held = [store.count(parsed) for store in stores]
    if not any(held):
        raise BrokenModelError(
            f"{printable_path(manifest)} is a copy of a manifest whose blobs are in no store that is known; choose the "
            "manifest in the store itself."
        )
    return stores[held.index(max(held))]


def root_above(path: Path) -> tuple[Source, Path] | None:
    """Return the source and path of the default root that contains `path`, or None if none does."""
    for root in default_roots():
        if path.is_relative_to(root.path):
            return root.kind, root.path
    return None


def _blob_roots(manifest: Path) -> Iterator[Path]:
    """Yield the roots that may hold the blobs of a manifest that lies outside any store."""
    yield manifest.parent
    for root in default_roots():
        if root.kind in (Source.BUILTIN, Source.SOTTO, Source.OLLAMA):
            yield root.path
