"""Stores in Ollama's layout: `manifests/<host>/<namespace>/<model>/<tag>` and `blobs/sha256-<64 hex>`.

Listing reads manifests, config blobs and the small JSON layers, looks at the size of every blob, and reads the headers
of a few: a model has thousands of tensors of a few shapes, and tensors of one kind and size have one shape.
"""

import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, read_object
from sotto.store.facts import commonest_dtype, config_facts, parameter_count
from sotto.store.files import is_folder, list_names, read_all, real_inside, require_regular, unreadable
from sotto.store.gguf_header import parameters_of_label, read_gguf
from sotto.store.harvest import GGUF_REASON, Facts, Harvest, digest_of_place
from sotto.store.manifest import MANIFEST_LIMIT, Layer, Manifest, parse_manifest
from sotto.store.names import ModelName, is_valid_part, name_of_parts
from sotto.store.records import Format, ModelRecord, Source, TensorFile
from sotto.store.safetensors_header import read_header
from sotto.store.wording import shown, shown_path

_LEVELS = ("host", "namespace", "model", "tag")
# Links between folders could make few files look like millions.
_MOST_ENTRIES = 20_000
_REQUIRED = ("config.json", "tokenizer.json")
_NUMBER = re.compile(r"\d+")
_DRAFT_PREFIX = "draft."


class OllamaStore:
    """One store. Only reads, and only below its root."""

    def __init__(self, root: Path, loose_manifest: Path | None = None) -> None:
        """Look at the store in `root`, whose sub-folders may be missing; one manifest may lie outside of it."""
        self.root = root
        self._loose_manifest = loose_manifest
        self._base = os.path.realpath(root)
        self._blobs = ""
        self._objects: dict[str, dict[str, Any]] = {}

    def manifests(self, harvest: Harvest) -> Iterator[tuple[ModelName, Path]]:
        """Yield the manifests with valid names, exactly four levels deep; report whatever else lies there."""
        folder = self.root / "manifests"
        if not is_folder(folder):
            return
        budget = _MOST_ENTRIES
        pending: list[tuple[Path, tuple[str, ...], tuple[str, ...]]] = [(folder, (), ())]
        while pending:
            folder, parts, above = pending.pop()
            level = _LEVELS[len(parts)]
            below = []
            try:
                real = real_inside(folder, self._base)
                entries = list_names(folder)
            except BrokenModelError as error:
                harvest.problem(folder, error.message)
                continue
            if real in above:
                harvest.problem(folder, f"{shown_path(folder)} leads back to a folder above it; it is left out.")
                continue
            for name in entries:
                budget -= 1
                if budget < 0:
                    harvest.problem(
                        self.root,
                        f"{shown_path(self.root)} holds more than {_MOST_ENTRIES} entries; the rest is not shown.",
                    )
                    return
                path = folder / name
                if is_folder(path) == (level == "tag"):
                    continue
                if not is_valid_part(level, name):
                    harvest.problem(path, f"{shown_path(path)} is no manifest: '{shown(name)}' is no valid {level}.")
                elif level == "tag":
                    yield name_of_parts((*parts, name)), path
                else:
                    below.append((path, (*parts, name), (*above, real)))
            pending += reversed(below)

    def read_manifest(self, path: Path) -> Manifest:
        """Return the manifest in a file of this store.

        Raises:
            BrokenModelError: It cannot be read, lies outside the store, or is not well-formed.
        """
        if path != self._loose_manifest:
            real_inside(path, self._base)
        return parse_manifest(read_all(path, MANIFEST_LIMIT, "a manifest"), path)

    def blob(self, layer: Layer) -> Path:
        """Return the file of a blob, which is there and has the size that its manifest says.

        Raises:
            BrokenModelError: It is missing, no regular file, outside the store or of another size.
        """
        path, size = self._find(layer.digest)
        if size != layer.size:
            raise BrokenModelError(
                f"{shown_path(path)} has {size} bytes where its manifest says {layer.size}; download the model again."
            )
        return Path(path)

    def require_blobs(self, manifest: Manifest) -> None:
        """Raise BrokenModelError, naming the first and counting the others, if blobs of a model are not there."""
        blobs = manifest.blobs.values()
        bad = [layer for layer in blobs if not self._has(layer)]
        if len(bad) == 1:
            self.blob(bad[0])
        if bad:
            first = self.root / "blobs" / f"sha256-{bad[0].digest}"
            raise BrokenModelError(
                f"{len(bad)} of the {len(blobs)} files of {shown_path(manifest.path)} are missing or have another size "
                f"than it says, the first of them {shown_path(first)}; download the model again."
            )

    def count(self, manifest: Manifest) -> int:
        """Return how many blobs of a model are here, whole as far as their sizes tell."""
        return sum(self._has(layer) for layer in manifest.blobs.values())

    def json_object(self, layer: Layer) -> dict[str, Any]:
        """Return the JSON object in a blob; models that share it share the object.

        Raises:
            BrokenModelError: The blob is not there or holds something else.
        """
        path = self.blob(layer)
        if layer.digest not in self._objects:
            self._objects[layer.digest] = read_object(path)
        return self._objects[layer.digest]

    def tensor_file(self, layer: Layer) -> TensorFile:
        """Return the tensors in a blob.

        Raises:
            BrokenModelError: The blob is not there, or its header is damaged or lies.
        """
        return read_header(self.blob(layer), layer.digest)

    def _has(self, layer: Layer) -> bool:
        try:
            return self._find(layer.digest)[1] == layer.size
        except BrokenModelError:
            return False

    def _find(self, digest: str) -> tuple[str, int]:
        """Return path and size of a blob. Thousands are looked for, so this is plain text and one system call."""
        if not self._blobs:
            folder = self.root / "blobs"
            real_inside(folder, self._base)
            self._blobs = str(folder)
        # Ollama renames files with a colon when it starts; older versions wrote them.
        for name in (f"sha256-{digest}", f"sha256:{digest}", f"sha256-{digest.upper()}"):
            path = f"{self._blobs}{os.sep}{name}"
            try:
                status = os.lstat(path)
                if stat.S_ISLNK(status.st_mode):
                    status = os.stat(real_inside(path, self._base))  # noqa: PTH116
            except FileNotFoundError:
                continue
            except OSError as error:
                raise unreadable(path, error) from error
            require_regular(path, status)
            return path, status.st_size
        raise BrokenModelError(
            f"{shown_path(self._blobs)}{os.sep}sha256-{digest} is missing; download the model again."
        )


def list_store(root: Path, source: Source, harvest: Harvest) -> None:
    """Add every model of a store."""
    store = OllamaStore(root)
    known: dict[str, ModelRecord] = {}
    for name, path in store.manifests(harvest):
        real = os.path.realpath(path)
        if real in known:
            harvest.records.append(replace(known[real], name=name.short, path=path))
        else:
            add_manifest(store, path, name.short, source, harvest)
            known[real] = harvest.records[-1]


def add_manifest(store: OllamaStore, path: Path, name: str, source: Source, harvest: Harvest) -> None:
    """Add the model of one manifest."""

    def read(facts: Facts) -> str:
        manifest = store.read_manifest(path)
        facts.digest, facts.size = manifest.digest, manifest.size
        return _describe(store, manifest, facts, harvest)

    harvest.add(Facts(name, source, path, digest_of_place(path)), read)


def draft_prefix(blob: dict[str, Any], path: Path) -> str:
    """Return what the names of a draft model's tensors begin with; empty when the config blob has no draft.

    Raises:
        BrokenModelError: It is no prefix.
    """
    draft = blob.get("draft")
    if draft is None:
        return ""
    if not isinstance(draft, dict):
        raise BrokenModelError(f"{shown_path(path)}: draft is {kind_of(draft)}; it should be an object.")
    prefix = draft.get("tensor_prefix", _DRAFT_PREFIX)
    if not isinstance(prefix, str) or not prefix.endswith("."):
        raise BrokenModelError(f"{shown_path(path)}: draft.tensor_prefix should be a text that ends with a dot.")
    return prefix


def _describe(store: OllamaStore, manifest: Manifest, facts: Facts, harvest: Harvest) -> str:
    """Fill in what a list shows of a model and return why it cannot run, or an empty text."""
    blob_path = store.blob(manifest.config)
    blob = store.json_object(manifest.config)
    model_format = _text(blob, "model_format", blob_path)
    facts.quantization = shown(_text(blob, "file_type", blob_path), 40)
    capabilities = blob.get("capabilities") or []
    if not isinstance(capabilities, list) or not all(isinstance(name, str) for name in capabilities):
        raise BrokenModelError(f"{shown_path(blob_path)}: capabilities should be a list of texts.")
    facts.capabilities = tuple([shown(name, 40) for name in capabilities[:32]])
    if host := _text(blob, "remote_host", blob_path):
        return f"This model runs on {shown(host)}, not on this machine; download one that runs here."
    tensors = tuple(manifest.of_kind("tensor"))
    if model_format in ("", "gguf") and not tensors:
        return _describe_gguf(store, manifest, blob, facts)
    if model_format != "safetensors":
        raise BrokenModelError(
            f"{shown_path(blob_path)}: model_format is '{shown(model_format)}'; "
            f"it should be safetensors{'' if tensors else ' or gguf'}."
        )
    facts.format = Format.SAFETENSORS
    if not tensors:
        raise BrokenModelError(f"{shown_path(manifest.path)} has no tensors; download the model again.")
    for name in _REQUIRED:
        if manifest.json_layer(name) is None:
            raise BrokenModelError(f"{shown_path(manifest.path)} has no {name}, which every model needs.")
    return _describe_tensors(store, manifest, tensors, draft_prefix(blob, blob_path), facts, harvest)


def _describe_tensors(
    store: OllamaStore, manifest: Manifest, tensors: tuple[Layer, ...], draft: str, facts: Facts, harvest: Harvest
) -> str:
    layer = manifest.json_layer("config.json")
    assert layer is not None
    config, path = store.json_object(layer), store.blob(layer)
    said = config_facts(config, path)
    facts.architecture, facts.context_length = said.architecture, said.context_length
    facts.capabilities = facts.capabilities or said.capabilities
    store.require_blobs(manifest)
    alike: dict[tuple[str, int], set[str]] = defaultdict(set)
    examples = {}
    for layer in tensors:
        if not draft or not layer.name.startswith(draft):
            kind = (_NUMBER.sub("*", layer.name), layer.size)
            alike[kind].add(layer.digest)
            examples[kind] = layer
    files = {kind: store.tensor_file(layer) for kind, layer in examples.items()}
    counts = [(parameter_count([file], config, path), len(alike[kind])) for kind, file in files.items()]
    facts.parameters = (
        None if any(one is None for one, _ in counts) else sum((one or 0) * times for one, times in counts)
    )
    facts.quantization = (
        facts.quantization
        or _stated(files.values())
        or said.quantization
        or said.dtype
        or commonest_dtype(files.values())
    )
    return harvest.judge(config)


def _describe_gguf(store: OllamaStore, manifest: Manifest, blob: dict[str, Any], facts: Facts) -> str:
    """Fill in what is known of a GGUF model: what Ollama wrote down when it was made goes before what the file says."""
    path = store.blob(manifest.config)
    facts.format = Format.GGUF
    facts.architecture = shown(_text(blob, "model_family", path), 40)
    facts.parameters = parameters_of_label(_text(blob, "model_type", path))
    layer = next(manifest.of_kind("model"), None)
    if layer is None:
        raise BrokenModelError(
            f"{shown_path(manifest.path)} has neither tensors nor a GGUF file; it should have either."
        )
    store.require_blobs(manifest)
    header = read_gguf(store.blob(layer))
    facts.architecture = facts.architecture or header.architecture
    facts.parameters = facts.parameters or header.parameters
    facts.context_length = header.context_length
    if facts.quantization in ("", "unknown"):
        facts.quantization = header.quantization
    return GGUF_REASON


def _stated(files: Iterable[TensorFile]) -> str:
    """Return the type with the fewest bits that the files' metadata state."""
    stated = {
        value
        for file in files
        for key, value in file.metadata.items()
        if value and (key == "quant_type" or key.endswith(".quant_type"))
    }
    return shown(min(stated, key=lambda kind: ("8" in kind, kind)), 40) if stated else ""


def _text(blob: dict[str, Any], key: str, path: Path) -> str:
    value = blob.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BrokenModelError(f"{shown_path(path)}: {key} is {kind_of(value)}; it should be a text.")
    return value
