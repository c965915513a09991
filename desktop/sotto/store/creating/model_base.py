"""What a model is made from: the layers, the config blob and the files of another model, wherever that is."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import parse_object
from sotto.store.files import is_folder, open_regular, read_all
from sotto.store.gguf.header import is_gguf, read_gguf
from sotto.store.locating import folder_of, store_of
from sotto.store.opening import open_model
from sotto.store.printable import printable_path
from sotto.store.records import ModelRecord
from sotto.store.sources.manifest import MANIFEST_LIMIT, MEDIA_PREFIX, parse_manifest
from sotto.store.sources.plain_folders import gguf_projector

_PIECE = 1 << 20
_LICENSE_LIMIT = 1 << 20

Tally = Callable[[int, int], None]
"""Called with the number of bytes read so far and of all; may raise CancelledError."""


@dataclass(frozen=True, slots=True)
class Base:
    """A model that another is made from.

    Attributes:
        layers: The entries of its manifest, with all their keys.
        config: The contents of its config blob.
        config_entry: The entry of its config blob; None if that is not a file yet.
        files: Where each of its blobs is, by digest.
    """

    layers: tuple[Mapping[str, Any], ...]
    config: Mapping[str, Any]
    config_entry: Mapping[str, Any] | None
    files: Mapping[str, Path]


def has_to_be_imported(record: ModelRecord) -> bool:
    """Return whether a model's files cannot be blobs as they are: those of a folder, and the parts of a split file.

    Raises:
        BrokenModelError: They cannot be read.
    """
    return is_folder(record.path) or (
        is_gguf(record.path) and len(folder_of(record.path.parent).gguf_files(record.path)) > 1
    )


def base_of(record: ModelRecord, tally: Tally) -> Base:
    """Return what a model of this machine consists of; a GGUF file without a digest is read as a whole.

    Args:
        record: A model that need not be imported first.
        tally: Called while the file is read.

    Raises:
        StoreError: It cannot run, or a file is missing or damaged.
    """
    # Headers and small files are read as for loading, so that nothing is made that cannot be loaded.
    open_model(record)
    return base_of_gguf(record.path, tally) if is_gguf(record.path) else _base_of_manifest(record)


def base_of_gguf(path: Path, tally: Tally, digest: str = "") -> Base:
    """Return what a model in a GGUF file consists of.

    Args:
        path: The file.
        tally: Called while the file is read to find its digest.
        digest: Its digest, where that is known.

    Raises:
        BrokenModelError: It is damaged.
    """
    header = read_gguf(path)
    projector = None
    if not path.name.startswith("sha256-"):
        folder = folder_of(path.parent)
        path = folder.file(path.name)
        projector = gguf_projector(folder, path)
    files = {digest or digest_of(path, tally): path}
    layers = [_layer("model", *entry) for entry in files.items()]
    if projector:
        digest = digest_of(projector, tally)
        layers.append(_layer("projector", digest, projector))
        files[digest] = projector
    config = {
        "model_format": "gguf",
        "model_family": header.architecture,
        "model_families": [header.architecture],
        "model_type": _size_label(header.parameters),
        "file_type": header.quantization or "unknown",
        "capabilities": list(header.capabilities),
        "architecture": "",
        "os": "",
    }
    return Base(tuple(layers), config, None, files)


def license_texts(record: ModelRecord) -> tuple[str, ...]:
    """Return the licences in a model's manifest; none for a model without a manifest.

    Raises:
        BrokenModelError: One cannot be read.
    """
    if is_folder(record.path) or is_gguf(record.path):
        return ()
    store = store_of(record.path)
    layers = store.read_manifest(record.path).of_kind("license")
    return tuple(read_all(store.blob(layer), _LICENSE_LIMIT, "a licence").decode(errors="replace") for layer in layers)


def digest_of(path: Path, tally: Tally) -> str:
    """Return the digest of a file.

    Raises:
        BrokenModelError: It cannot be read.
    """
    with open_regular(path) as (file, size):
        hashed, done = hashlib.sha256(), 0
        while piece := file.read(_PIECE):
            hashed.update(piece)
            done += len(piece)
            tally(done, size)
        return hashed.hexdigest()


def _base_of_manifest(record: ModelRecord) -> Base:
    store = store_of(record.path)
    data = read_all(record.path, MANIFEST_LIMIT, "a manifest")
    manifest = parse_manifest(data, record.path)
    if manifest.digest != record.digest:
        raise BrokenModelError(f"{printable_path(record.path)} is another model now; try again.")
    entries = parse_object(data, record.path, strict=True)
    return Base(
        tuple(entries["layers"]),
        store.json_object(manifest.config),
        entries["config"],
        {layer.digest: store.blob(layer) for layer in manifest.blobs.values()},
    )


def _layer(kind: str, digest: str, path: Path) -> dict[str, Any]:
    return {"mediaType": f"{MEDIA_PREFIX}{kind}", "digest": f"sha256:{digest}", "size": path.stat().st_size}


def _size_label(parameters: int | None) -> str:
    """Return the number of weights as Ollama's config blobs have it."""
    if parameters is None:
        return ""
    units = ((10**9, "B", 1), (10**6, "M", 2), (10**3, "K", 0))
    unit, letter, digits = next((each for each in units if parameters >= each[0]), units[-1])
    return f"{parameters / unit:.{digits}f}{letter}"
