"""Listing the models of a store in Ollama's layout.

It reads manifests, config blobs, small JSON layers, the size of every blob and the headers of a few: a model has
thousands of tensors but few shapes, and tensors whose names differ only in numbers have the same shape if their blobs
have the same size.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of
from sotto.store.facts import as_tensors_allow, commonest_dtype, config_facts, parameter_count, vision_reason
from sotto.store.gguf.gguf_config import refusal
from sotto.store.gguf.header import parameters_of_label, read_gguf
from sotto.store.gguf.projectors import eyes_of
from sotto.store.printable import printable, printable_path
from sotto.store.records import Format, ModelRecord, Source, TensorFile
from sotto.store.sources.harvest import Facts, Harvest, path_digest
from sotto.store.sources.manifest import Layer, Manifest
from sotto.store.sources.ollama_layout import OllamaStore, draft_prefix
from sotto.store.sources.plain_folders import describe_folder
from sotto.store.sources.stored_folder import StoredFolder, stored_folder

_REQUIRED = ("config.json", "tokenizer.json")
_TOWERS = ("vision", "audio")
_NUMBER = re.compile(r"\d+")


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
    """Add the model of one manifest.

    Args:
        store: The store that holds its blobs.
        path: The manifest.
        name: The name of the model.
        source: The kind of the store.
        harvest: Where the model or problem is added.
    """

    def read(facts: Facts) -> str:
        manifest = store.read_manifest(path)
        facts.digest, facts.size = manifest.digest, manifest.size
        return _describe(store, manifest, facts, harvest)

    harvest.add(Facts(name, source, path, path_digest(path)), read)


def _describe(store: OllamaStore, manifest: Manifest, facts: Facts, harvest: Harvest) -> str:
    """Fill in the facts, and return why the model cannot run or an empty string."""
    blob_path = store.blob(manifest.config)
    blob = store.json_object(manifest.config)
    model_format = _text(blob, "model_format", blob_path)
    facts.quantization = printable(_text(blob, "file_type", blob_path), 40)
    capabilities = blob.get("capabilities") or []
    if not isinstance(capabilities, list) or not all(isinstance(name, str) for name in capabilities):
        raise BrokenModelError(f"{printable_path(blob_path)}: capabilities should be a list of texts.")
    facts.capabilities = tuple([printable(name, 40) for name in capabilities[:32]])
    if host := _text(blob, "remote_host", blob_path):
        return f"This model runs on {printable(host)}, not on this machine; download one that runs here."
    if (folder := stored_folder(store, manifest)) is not None:
        return _describe_files(store, manifest, folder, facts, harvest)
    tensors = tuple(manifest.of_kind("tensor"))
    if model_format in ("", "gguf") and not tensors:
        return _describe_gguf(store, manifest, blob, facts)
    if model_format != "safetensors":
        raise BrokenModelError(
            f"{printable_path(blob_path)}: model_format is '{printable(model_format)}'; "
            f"it should be safetensors{'' if tensors else ' or gguf'}."
        )
    facts.format = Format.SAFETENSORS
    if not tensors:
        raise BrokenModelError(f"{printable_path(manifest.path)} has no tensors; download the model again.")
    for name in _REQUIRED:
        if manifest.json_layer(name) is None:
            raise BrokenModelError(f"{printable_path(manifest.path)} has no {name}, which every model needs.")
    return _describe_tensors(store, manifest, tensors, draft_prefix(manifest, blob, blob_path), facts, harvest)


def _describe_files(
    store: OllamaStore, manifest: Manifest, folder: StoredFolder, facts: Facts, harvest: Harvest
) -> str:
    facts.format = Format.SAFETENSORS
    store.require_blobs(manifest)
    try:
        return describe_folder(folder, facts, harvest)
    finally:
        # A folder is told by samples of its files, a manifest by its own digest.
        facts.digest, facts.size = manifest.digest, manifest.size


def _describe_tensors(
    store: OllamaStore, manifest: Manifest, tensors: tuple[Layer, ...], draft: str, facts: Facts, harvest: Harvest
) -> str:
    layer = manifest.json_layer("config.json")
    assert layer is not None
    config, path = store.json_object(layer), store.blob(layer)
    stated = config_facts(config, path, store.modules(manifest))
    facts.architecture, facts.context_length = stated.architecture, stated.context_length
    blind = () if "vision" in stated.capabilities else ("vision",)
    said = tuple(name for name in facts.capabilities if name not in blind) or stated.capabilities
    names = [layer.name for layer in tensors]
    facts.capabilities = as_tensors_allow(said, names)
    facts.vision_reason = vision_reason(config, names)
    store.require_blobs(manifest)
    digests: dict[tuple[str, int], set[str]] = defaultdict(set)
    examples = {}
    for layer in tensors:
        if not draft or not layer.name.startswith(draft):
            kind = (_NUMBER.sub("*", layer.name), layer.size)
            digests[kind].add(layer.digest)
            examples[kind] = layer
    files = {kind: store.tensor_file(layer) for kind, layer in examples.items()}
    counts = [(parameter_count([file], config, path), len(digests[kind])) for kind, file in files.items()]
    facts.parameters = (
        None if any(count is None for count, _ in counts) else sum((count or 0) * times for count, times in counts)
    )
    facts.quantization = (
        facts.quantization
        or _quantization_in_metadata(files.values())
        or stated.quantization
        or stated.dtype
        or commonest_dtype(files.values())
    )
    return harvest.judge(config)


def _describe_gguf(store: OllamaStore, manifest: Manifest, blob: dict[str, Any], facts: Facts) -> str:
    """Fill in the facts of a GGUF model, preferring the config blob to the file; return why it cannot run, or empty."""
    path = store.blob(manifest.config)
    facts.format = Format.GGUF
    facts.architecture = printable(_text(blob, "model_family", path), 40)
    facts.parameters = parameters_of_label(_text(blob, "model_type", path))
    store.require_blobs(manifest)
    files = store.gguf_files(manifest)
    header = read_gguf(files[0])
    facts.architecture = facts.architecture or header.architecture
    if len(files) == 1:
        # The header of a split file lists the tensors of its first part only.
        facts.parameters = facts.parameters or header.parameters
    facts.context_length = header.context_length
    if facts.quantization in ("", "unknown"):
        facts.quantization = header.quantization
    projector = store.projector_file(manifest)
    eyes = eyes_of(header, [projector[0]] if projector else [])
    facts.vision_reason = eyes.refusal
    # What its config states may need a tower that is not understood.
    stated = tuple(name for name in facts.capabilities if name not in _TOWERS) or header.capabilities
    facts.capabilities = tuple(dict.fromkeys((*stated, *eyes.capabilities)))
    return refusal(header.architecture, header.kind)


def _quantization_in_metadata(files: Iterable[TensorFile]) -> str:
    """Return the quantization with the fewest bits that the files' metadata state; empty if they state none."""
    stated = {
        value
        for file in files
        for key, value in file.metadata.items()
        if value and (key == "quant_type" or key.endswith(".quant_type"))
    }
    return printable(min(stated, key=lambda kind: ("8" in kind, kind)), 40) if stated else ""


def _text(blob: dict[str, Any], key: str, path: Path) -> str:
    value = blob.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BrokenModelError(f"{printable_path(path)}: {key} is {kind_of(value)}; it should be a text.")
    return value
