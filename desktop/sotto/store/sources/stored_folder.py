"""Models whose manifest lists the files of a folder as they are, such as those that come from Hugging Face.

Each file is a blob of the kind `FILE`, and its path in the folder is the name of the layer. So nothing is written
twice, the sha256 that Hugging Face states for a file is the digest of its blob, and the reader of folders reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.printable import printable, printable_path
from sotto.store.sources.manifest import FILE, Layer, Manifest
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.sources.plain_folders import ModelFolder


@dataclass(frozen=True, slots=True)
class StoredFolder(ModelFolder):
    """A folder whose files are blobs of a store; `path` is that of the manifest.

    Attributes:
        layers: The files by their path in the folder.
        store: The store.
    """

    layers: Mapping[str, Layer]
    store: OllamaStore

    def file(self, name: str) -> Path:
        """Return the path of a file's blob.

        Raises:
            BrokenModelError: It is missing or has another size than the manifest states.
        """
        if name not in self.layers:
            raise BrokenModelError(f"{printable_path(self.path)} has no {printable(name)}; download the model again.")
        return self.store.blob(self.layers[name])

    def digest(self, name: str) -> str:
        """Return the digest of a file's blob."""
        return self.layers[name].digest

    def find(self, name: str) -> Path | None:
        """Return the path of a file's blob as `file` does, or None if the manifest has no such file."""
        return self.file(name) if name in self.layers else None

    def names_in(self, name: str) -> list[str]:
        """Return the names of the files of a folder within the folder, sorted."""
        return sorted(path.removeprefix(f"{name}/") for path in self.layers if path.startswith(f"{name}/"))


def stored_folder(store: OllamaStore, manifest: Manifest) -> StoredFolder | None:
    """Return the folder whose files a manifest lists; None if it lists none.

    Raises:
        BrokenModelError: A file has no valid name, or two have the same.
    """
    layers: dict[str, Layer] = {}
    for layer in manifest.of_kind(FILE):
        if not is_file_name(layer.name) or layer.name in layers:
            raise BrokenModelError(
                f"{printable_path(manifest.path)}: '{printable(layer.name)}' is the name of a file; it should be a "
                "path within a folder, and there once."
            )
        layers[layer.name] = layer
    if not layers:
        return None
    names = frozenset(PurePosixPath(name).parts[0] for name in layers)
    return StoredFolder(manifest.path, str(store.root), names, layers, store)


def folder_config() -> dict[str, Any]:
    """Return the config blob of such a model, whose `config.json` tells the rest."""
    return {
        "model_format": "safetensors",
        "model_family": "",
        "model_families": None,
        "model_type": "",
        "file_type": "",
    }


def is_file_name(name: str) -> bool:
    """Return whether a text is the path of a file within a folder: relative, without `..` and hidden parts."""
    parts = name.split("/")
    return not set(name) & set("\\:\0") and all(part and not part.startswith(".") for part in parts)
