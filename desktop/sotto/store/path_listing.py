"""Listing the models at a path that the user chose, which may be any file or folder of a model."""

import os
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.discovery import list_folders
from sotto.store.files import is_folder, open_regular, read_error
from sotto.store.gguf.header import is_gguf
from sotto.store.locating import folder_of, layout_root, root_above, store_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import Source
from sotto.store.sources.harvest import Harvest, Judge
from sotto.store.sources.huggingface import add_snapshot, is_cache, list_cache, repository_name, repository_of, snapshot
from sotto.store.sources.manifest import parse_digest
from sotto.store.sources.model_names import name_of_parts
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.sources.ollama_listing import add_manifest, list_store
from sotto.store.sources.plain_folders import add_folder, add_gguf, look_into, subfolders

_FOLDER_SUFFIXES = (".safetensors", ".json", ".jinja")


def list_path(path: Path, judge: Judge) -> Harvest:
    """Return the models at an absolute path, and the problems with them.

    Raises:
        BrokenModelError: The path is missing, or cannot belong to a model.
    """
    harvest = Harvest(judge)
    root = root_above(path)
    source = root[0] if root else Source.FOLDER
    try:
        os.stat(path)  # noqa: PTH116
    except (OSError, ValueError) as error:
        raise read_error(path, error) from error
    if is_folder(path):
        _list_folder(path, source, harvest)
    else:
        _list_file(path, source, harvest)
    return harvest


def _list_folder(path: Path, source: Source, harvest: Harvest) -> None:
    if path.name.startswith("models--"):
        folder = snapshot(path)
        if folder is not None:
            add_snapshot(folder, repository_name(path), source, harvest)
        return
    folder = folder_of(path)
    if repository := repository_of(path):
        add_snapshot(folder, repository_name(repository), source, harvest)
        return
    # Folders of models may lie beside GGUF files.
    holds_more = bool(subfolders(path, folder.names))
    if folder.is_model or (folder.ggufs and not holds_more):
        add_folder(folder, path.name, source, harvest)
    elif {"manifests", "blobs"} <= folder.names:
        list_store(path, source, harvest)
    elif is_cache(path, folder.names):
        list_cache(path, source, harvest)
    else:
        list_folders(path, source, harvest)


def _list_file(path: Path, source: Source, harvest: Harvest) -> None:
    digest = parse_digest(path.name)
    if digest is not None and path.parent.name == "blobs":
        _list_blob(path, digest, source, harvest)
    elif is_gguf(path):
        folder = folder_of(path.parent)
        name = next((stem for stem, parts in folder.ggufs.items() if path in parts), path.stem)
        add_gguf(folder, folder.gguf_files(path), name, source, harvest)
    elif path.suffix.lower() in _FOLDER_SUFFIXES:
        if not look_into(path.parent).is_model:
            raise BrokenModelError(
                f"{printable_path(path)} is not in a model's folder; beside it should be config.json and safetensors "
                "files."
            )
        _list_folder(path.parent, source, harvest)
    elif not _begins_like_json(path):
        raise BrokenModelError(
            f"{printable_path(path)} is not a model; choose a manifest of Ollama, a GGUF file, or a folder with "
            "config.json and safetensors files."
        )
    else:
        root = layout_root(path)
        name = name_of_parts(path.parts[-4:]).short if root else printable(path.name)
        add_manifest(store_of(path), path, name, source, harvest)


def _begins_like_json(path: Path) -> bool:
    with open_regular(path) as (file, _):
        return file.read(1) == b"{"


def _list_blob(path: Path, digest: str, source: Source, harvest: Harvest) -> None:
    """Add the models whose manifests name a blob."""
    store = OllamaStore(path.parent.parent)
    for name, manifest in store.manifests(Harvest()):
        try:
            is_used = digest in store.read_manifest(manifest).blobs
        except BrokenModelError as error:
            harvest.add_problem(manifest, error.message)
            continue
        if is_used:
            add_manifest(store, manifest, name.short, source, harvest)
    if not harvest.records:
        raise BrokenModelError(f"{printable_path(path)} is a blob that belongs to no model; choose a manifest instead.")
