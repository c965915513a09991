"""Reading a store in Ollama's layout: `manifests/<host>/<namespace>/<model>/<tag>` and `blobs/sha256-<64 hex>`."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, read_object
from sotto.store.files import is_folder, list_names, read_all, read_error, require_regular, resolve_inside
from sotto.store.printable import printable, printable_path
from sotto.store.records import SentenceModule, TensorFile
from sotto.store.safetensors_header import read_header
from sotto.store.sentence import MODULES, sentence_modules
from sotto.store.sources.harvest import Harvest
from sotto.store.sources.manifest import MANIFEST_LIMIT, Layer, Manifest, parse_manifest
from sotto.store.sources.model_names import ModelName, is_valid_part, name_of_parts

_LEVELS = ("host", "namespace", "model", "tag")
# Links between folders could make a few files look like millions.
_MAX_ENTRIES = 20_000
_DRAFT_PREFIX = "draft."
# Prefix of the names of a draft model's JSON files.
DRAFT_FILES = "draft/"


class OllamaStore:
    """One store, opened for reading; nothing outside its root is read."""

    def __init__(self, root: Path, loose_manifest: Path | None = None) -> None:
        """Open the store at `root`, whose sub-folders may be missing; `loose_manifest` may be outside it."""
        self.root = root
        self._loose_manifest = loose_manifest
        self._base = os.path.realpath(root)
        self._blobs = ""
        self._objects: dict[str, dict[str, Any]] = {}

    def manifests(self, harvest: Harvest) -> Iterator[tuple[ModelName, Path]]:
        """Yield the manifests with valid names, exactly four levels deep; report others as problems."""
        folder = self.root / "manifests"
        if not is_folder(folder):
            return
        budget = _MAX_ENTRIES
        pending: list[tuple[Path, tuple[str, ...], tuple[str, ...]]] = [(folder, (), ())]
        while pending:
            folder, parts, ancestors = pending.pop()
            level = _LEVELS[len(parts)]
            subfolders = []
            try:
                real = resolve_inside(folder, self._base)
                entries = list_names(folder)
            except BrokenModelError as error:
                harvest.add_problem(folder, error.message)
                continue
            if real in ancestors:
                harvest.add_problem(
                    folder, f"{printable_path(folder)} leads back to a folder above it; it is left out."
                )
                continue
            for name in entries:
                budget -= 1
                if budget < 0:
                    harvest.add_problem(
                        self.root,
                        f"{printable_path(self.root)} holds more than {_MAX_ENTRIES} entries; the rest is not shown.",
                    )
                    return
                path = folder / name
                if is_folder(path) == (level == "tag"):
                    continue
                if not is_valid_part(level, name):
                    harvest.add_problem(
                        path, f"{printable_path(path)} is not a manifest: '{printable(name)}' is not a valid {level}."
                    )
                elif level == "tag":
                    yield name_of_parts((*parts, name)), path
                else:
                    subfolders.append((path, (*parts, name), (*ancestors, real)))
            pending += reversed(subfolders)

    def read_manifest(self, path: Path) -> Manifest:
        """Return the manifest in a file of this store.

        Raises:
            BrokenModelError: It cannot be read, lies outside the store, or is not well-formed.
        """
        if path != self._loose_manifest:
            resolve_inside(path, self._base)
        return parse_manifest(read_all(path, MANIFEST_LIMIT, "a manifest"), path)

    def blob(self, layer: Layer) -> Path:
        """Return the path of a blob, which exists and has the size that its manifest states.

        Raises:
            BrokenModelError: It is missing, is not a regular file, is outside the store or has another size.
        """
        path, size = self._find(layer.digest)
        if size != layer.size:
            raise BrokenModelError(
                f"{printable_path(path)} has {size} bytes where its manifest says {layer.size}; download the model "
                "again."
            )
        return Path(path)

    def require_blobs(self, manifest: Manifest) -> None:
        """Raise BrokenModelError with the path of the first and the number of all if blobs of a model are missing."""
        blobs = manifest.blobs.values()
        missing = [layer for layer in blobs if not self._has(layer)]
        if len(missing) == 1:
            # A single one gets a more precise error.
            self.blob(missing[0])
        if missing:
            first = self.root / "blobs" / f"sha256-{missing[0].digest}"
            raise BrokenModelError(
                f"{len(missing)} of the {len(blobs)} files of {printable_path(manifest.path)} are missing or have "
                f"another size than it says, the first of them {printable_path(first)}; download the model again."
            )

    def count(self, manifest: Manifest) -> int:
        """Return how many blobs of a model the store has, complete as far as their sizes show."""
        return sum(self._has(layer) for layer in manifest.blobs.values())

    def json_object(self, layer: Layer) -> dict[str, Any]:
        """Return the JSON object in a blob; models that share the blob share the object.

        Raises:
            BrokenModelError: The blob is missing or contains something else.
        """
        path = self.blob(layer)
        if layer.digest not in self._objects:
            self._objects[layer.digest] = read_object(path)
        return self._objects[layer.digest]

    def modules(self, manifest: Manifest) -> tuple[SentenceModule, ...]:
        """Return the steps from a text to its embedding, from JSON layers; none if the model does not list them.

        Raises:
            BrokenModelError: A layer is damaged.
        """

        def find(name: str) -> Path | None:
            layer = manifest.json_layer(name)
            return self.blob(layer) if layer else None

        path = find(MODULES)
        return sentence_modules(path, find) if path else ()

    def gguf_files(self, manifest: Manifest) -> list[Path]:
        """Return the GGUF file of a model, or the files that it is split into, in order.

        Raises:
            BrokenModelError: There is none, or a blob is missing.
        """
        return [self.blob(layer) for layer in gguf_layers(manifest)]

    def projector_file(self, manifest: Manifest) -> tuple[Path, str] | None:
        """Return the file of a GGUF model's projector, the first one as in Ollama, and its digest; None without one.

        Raises:
            BrokenModelError: The blob is missing.
        """
        layer = next(manifest.of_kind("projector"), None)
        return (self.blob(layer), layer.digest) if layer else None

    def tensor_file(self, layer: Layer) -> TensorFile:
        """Return the tensors in a blob.

        Raises:
            BrokenModelError: The blob is missing, or its header is damaged or inconsistent.
        """
        return read_header(self.blob(layer), layer.digest)

    def _has(self, layer: Layer) -> bool:
        try:
            return self._find(layer.digest)[1] == layer.size
        except BrokenModelError:
            return False

    def _find(self, digest: str) -> tuple[str, int]:
        """Return the path and size of a blob.

        A model may have thousands, so this uses plain strings and a single system call.
        """
        if not self._blobs:
            folder = self.root / "blobs"
            resolve_inside(folder, self._base)
            self._blobs = str(folder)
        # Older versions of Ollama wrote names with a colon; newer ones rename them at their start.
        for name in (f"sha256-{digest}", f"sha256:{digest}", f"sha256-{digest.upper()}"):
            path = f"{self._blobs}{os.sep}{name}"
            try:
                status = os.lstat(path)
                if stat.S_ISLNK(status.st_mode):
                    status = os.stat(resolve_inside(path, self._base))  # noqa: PTH116
            except FileNotFoundError:
                continue
            except OSError as error:
                raise read_error(path, error) from error
            require_regular(path, status)
            return path, status.st_size
        raise BrokenModelError(
            f"{printable_path(self._blobs)}{os.sep}sha256-{digest} is missing; download the model again."
        )


def renderer_name(blob: dict[str, Any], path: Path) -> str:
    """Return the renderer that a config blob names; empty if it names none.

    Args:
        blob: The parsed config blob.
        path: Its path, for error messages.

    Raises:
        BrokenModelError: The name is not a string.
    """
    name = blob.get("renderer") or ""
    if not isinstance(name, str):
        raise BrokenModelError(f"{printable_path(path)}: renderer is {kind_of(name)}; it should be a name.")
    return name


def gguf_layers(manifest: Manifest) -> list[Layer]:
    """Return the layers that are the GGUF file, or the files that it is split into, in a manifest without tensors.

    Raises:
        BrokenModelError: There is no such layer.
    """
    layers = list({layer.digest: layer for layer in manifest.of_kind("model")}.values())
    if not layers:
        raise BrokenModelError(
            f"{printable_path(manifest.path)} has neither tensors nor a GGUF file; it should have either."
        )
    return layers


def draft_prefix(manifest: Manifest, blob: dict[str, Any], path: Path) -> str:
    """Return the prefix of the names of a draft model's tensors; empty if the model contains no draft model.

    Args:
        manifest: The model's manifest; without `draft` in the config blob, a draft model's `config.json` decides.
        blob: The parsed config blob.
        path: Its path, for error messages.

    Raises:
        BrokenModelError: The prefix is invalid.
    """
    draft = blob.get("draft")
    if draft is None:
        return _DRAFT_PREFIX if manifest.json_layer(f"{DRAFT_FILES}config.json") else ""
    if not isinstance(draft, dict):
        raise BrokenModelError(f"{printable_path(path)}: draft is {kind_of(draft)}; it should be an object.")
    prefix = draft.get("tensor_prefix", _DRAFT_PREFIX)
    if not isinstance(prefix, str) or not prefix.endswith("."):
        raise BrokenModelError(f"{printable_path(path)}: draft.tensor_prefix should be a text that ends with a dot.")
    return prefix
