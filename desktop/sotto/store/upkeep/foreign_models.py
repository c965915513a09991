"""Models of other programs as what is to become a model of Sotto's own: their files, and the manifest of these.

A manifest stays as it is. A GGUF file becomes the only layer of one, as Ollama has it, and each file of a folder that
matters becomes a layer as in what comes from Hugging Face (`sotto.store.sources.stored_folder`).
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import read_object
from sotto.store.files import is_folder, read_all, require_regular
from sotto.store.gguf.header import is_gguf, read_gguf
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.locating import folder_of, store_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import Place
from sotto.store.safetensors_header import read_header
from sotto.store.sentence import MODULES
from sotto.store.sources.huggingface import blob_of_link
from sotto.store.sources.manifest import (
    CONFIG_MEDIA,
    FILE,
    MANIFEST_LIMIT,
    MANIFEST_MEDIA,
    MEDIA_PREFIX,
    parse_digest,
    parse_manifest,
)
from sotto.store.sources.plain_folders import INDEX, ModelFolder, gguf_projector, is_licence
from sotto.store.sources.stored_folder import folder_config, is_file_name

Named = Mapping[Path, tuple[str, int]]
"""The digest and the size of each file."""


@dataclass(frozen=True, slots=True)
class ForeignModel:
    """A model in another store.

    Attributes:
        files: Its files, each with its digest, or an empty string if that is not known.
        manifest: Returns its manifest, given the digest and the size of each file, and the contents of small files that
            it names besides.
    """

    files: tuple[tuple[Path, str], ...]
    manifest: Callable[[Named], tuple[bytes, tuple[bytes, ...]]]


def read_foreign(place: Place) -> ForeignModel:
    """Return the model at a place.

    Raises:
        BrokenModelError: One of its files is missing, damaged or outside its folder.
        StoreError: It is a file in parts.
    """
    path = place.path
    if is_folder(path):
        return _read_folder(folder_of(path))
    return _read_gguf(path) if is_gguf(path) else _read_manifest(path)


def _read_manifest(path: Path) -> ForeignModel:
    store = store_of(path)
    manifest = store.read_manifest(path)
    store.require_blobs(manifest)
    data = read_all(path, MANIFEST_LIMIT, "a manifest")
    if parse_manifest(data, path).digest != manifest.digest:
        raise BrokenModelError(f"{printable_path(path)} was changed while it was read; try again.")
    files = tuple((store.blob(layer), layer.digest) for layer in manifest.blobs.values())
    return ForeignModel(files, lambda _: (data, ()))


def _read_gguf(path: Path) -> ForeignModel:
    folder = folder_of(path.parent)
    files = [folder.file(part.name) for part in folder.gguf_files(path)]
    # A part that is missing is said before any is copied.
    read_gguf_files(files, lambda _: False)
    header = read_gguf(files[0])
    projector = gguf_projector(folder, files[0])
    families = [header.architecture] if header.architecture else None
    config = {
        "model_format": "gguf",
        "model_family": header.architecture,
        "model_families": families,
        "model_type": "",
        "file_type": header.quantization or "unknown",
        "capabilities": list(header.capabilities),
        "architecture": "amd64",
        "os": "linux",
    }
    layers = [(file, f"{MEDIA_PREFIX}model", "") for file in files]
    if projector:
        layers.append((projector, f"{MEDIA_PREFIX}projector", ""))
    return _with_manifest(config, layers)


def _read_folder(folder: ModelFolder) -> ForeignModel:
    names = _files_of(folder)
    layers = [(folder.file(name), FILE, name) for name in names]
    licences = [name for name in sorted(folder.names) if is_licence(name) and (folder.path / name).is_file()]
    layers += [(folder.file(name), f"{MEDIA_PREFIX}license", name) for name in licences]
    for path, _, name in layers:
        if not is_file_name(name):
            raise BrokenModelError(
                f"{printable_path(folder.path)}: '{printable(name)}' cannot be kept; the names of its files should "
                "have no colons and backslashes."
            )
        # Before anything is copied.
        require_regular(path, path.stat())
    return _with_manifest(folder_config(), layers)


def _files_of(folder: ModelFolder) -> list[str]:
    """Return what the engine reads of a folder, as paths relative to it, the weights last.

    Raises:
        BrokenModelError: A file is missing or damaged, as far as headers and small files tell.
    """
    read_object(folder.file("config.json"))
    names = list(folder.small_files())
    if INDEX in folder.names:
        names.append(INDEX)
    if MODULES in folder.names:
        names += [MODULES, *folder.module_files()]
    weights = [path.name for path in folder.weight_files()]
    for name in weights:
        read_header(folder.file(name))
    # Two steps of an embedding model may have the same settings.
    return list(dict.fromkeys([*names, *weights]))


def _with_manifest(config: Mapping[str, Any], layers: Sequence[tuple[Path, str, str]]) -> ForeignModel:
    """Return a model with this config blob, and layers that each are a file with its media type and its name."""
    text = _compact(config)

    def manifest(named: Named) -> tuple[bytes, tuple[bytes, ...]]:
        entries = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_MEDIA,
            "config": _entry(CONFIG_MEDIA, hashlib.sha256(text).hexdigest(), len(text)),
            "layers": [_entry(kind, *named[path], name) for path, kind, name in layers],
        }
        return _compact(entries) + b"\n", (text,)

    # The cache of Hugging Face names large files by their digest.
    return ForeignModel(
        tuple([(path, parse_digest(f"sha256-{blob_of_link(path)}") or "") for path, _, _ in layers]), manifest
    )


def _entry(media_type: str, digest: str, size: int, name: str = "") -> dict[str, Any]:
    entry = {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}
    return entry | ({"name": name} if name else {})


def _compact(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
