"""Resolving the name or path that a user gives to a model, and opening models for the engine."""

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.errors import (
    BrokenModelError,
    InvalidNameError,
    ModelNotFoundError,
    StoreError,
    UnsupportedModelError,
)
from sotto.store.adapters.adapter_files import ADAPTER_CONFIG, open_adapter, open_adapter_blob
from sotto.store.adapters.user_adapters import read_user_adapter
from sotto.store.bounded_json import read_list, read_object
from sotto.store.discovery import Listing, discover
from sotto.store.files import absolute, is_folder, read_all
from sotto.store.gguf.file import GgufFile
from sotto.store.gguf.gguf_source import StoredFile, gguf_texts, open_gguf
from sotto.store.gguf.header import is_gguf, read_gguf
from sotto.store.gguf.projectors import eyes_of
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.locating import folder_of, store_of
from sotto.store.path_listing import list_path
from sotto.store.printable import printable, printable_path, with_path
from sotto.store.records import Adapter, Format, ModelRecord, ModelSource, Place, TensorFile
from sotto.store.safetensors_header import read_header
from sotto.store.sources.harvest import Judge, everything_runs
from sotto.store.sources.hugging_face_names import HUGGING_FACE, possible_names
from sotto.store.sources.manifest import CHOSEN_TEMPLATE, Layer, Manifest
from sotto.store.sources.model_names import parse_name, split_source
from sotto.store.sources.ollama_layout import DRAFT_FILES, OllamaStore, draft_prefix, gguf_layers, renderer_name
from sotto.store.sources.plain_folders import INDEX, JSON_FILES, TEMPLATE, ModelFolder, gguf_projector
from sotto.store.sources.stored_folder import stored_folder
from sotto.store.user_templates import read_user_template

# Twice the largest known; parsing takes many times the file's size in memory.
_TOKENIZER_LIMIT = 64 << 20
_TEXT_LIMIT = 4 << 20
_DIGEST_PREFIX = re.compile(r"(?:sha256[:-])?([0-9a-fA-F]{8,64})")
PATH_PREFIXES = ("/", "./", "../", "~", ".\\", "..\\")
_MAX_NAMES = 4


def resolve(target: str, listing: Listing | None = None, judge: Judge = everything_runs) -> ModelRecord:
    """Return the model that a user's text refers to.

    Args:
        target: A name or its beginning, the first 8 or more digits of a digest, or a path as `record_of` takes it.
        listing: The models to choose from; None to discover those on this machine.
        judge: As `discover` takes it; used for paths, and if `listing` is None.

    Raises:
        InvalidNameError: The text cannot be any of these.
        ModelNotFoundError: No model matches.
        BrokenModelError: The path exists, and there is no complete model at it.
        StoreError: Several models match.
    """
    if not target.strip() or "\0" in target:
        raise InvalidNameError(f"'{printable(target)}' is not a model name; it should be a name, a path or a digest.")
    if target.startswith(PATH_PREFIXES):
        return _record_at(Path(os.path.expanduser(target)), listing, judge)  # noqa: PTH111
    if listing is None:
        listing = discover(judge=judge)
    records = listing.records
    name, source = split_source(target)
    if record := find_by_name(target, records) or (find_by_name(name, records) if source == "local" else None):
        return record
    if source == "cloud":
        raise ModelNotFoundError(
            f"'{printable(target)}' runs on other machines; Sotto runs the models of this machine only."
        )
    if os.path.lexists(target):
        return _record_at(Path(target), listing, judge)
    if record := _find_by_prefix(target, records):
        return record
    parse_name(name)
    close = difflib.get_close_matches(target, [record.name for record in records], 1, 0.5)
    hint = f"did you mean {printable(close[0])}?" if close else "`sotto list` shows those that are there."
    raise ModelNotFoundError(f"No model is called '{printable(target)}' on this machine; {hint}")


def record_of(path: Path, judge: Judge = everything_runs) -> ModelRecord:
    """Return the model at a path.

    Args:
        path: A manifest file, a folder that holds one model, one of its files, a GGUF file, or a blob of a single
            model.
        judge: As `discover` takes it.

    Raises:
        BrokenModelError: The path is missing, or there is no complete model at it.
        StoreError: There are several models at it.
    """
    if "\0" in str(path):
        raise BrokenModelError(f"{printable_path(path)} is not a path.")
    path = absolute(path)
    harvest = list_path(path, judge)
    records = {record.digest: record for record in harvest.records}
    if len(records) == 1:
        (record,) = records.values()
        if record.reason in (problem.message for problem in harvest.problems):
            raise BrokenModelError(record.reason)
        return record
    if records:
        raise StoreError(
            f"{printable_path(path)} holds several models: {_names(list(records.values()))}; choose one of them."
        )
    if harvest.problems:
        raise BrokenModelError(harvest.problems[0].message)
    raise BrokenModelError(
        f"{printable_path(path)} holds no model; it should be a manifest of Ollama, a GGUF file, or a folder with "
        "config.json and safetensors files."
    )


def open_model(record: ModelRecord, adapters: Sequence[Path] | None = None) -> ModelSource:
    """Return what the engine needs to load a model, with every header validated.

    Args:
        record: The model.
        adapters: Paths of adapters to add to those that belong to the model; None for the one that the user chose.

    Raises:
        BrokenModelError: A file is missing, damaged, or contradicts another.
        StoreError: The model cannot run, for example because it runs on a remote host.
    """
    source = _open(record)
    added = _chosen_adapter(record) if adapters is None else tuple(map(open_adapter, adapters))
    return replace(source, adapters=(*source.adapters, *added)) if added else source


def _chosen_adapter(record: ModelRecord) -> tuple[Adapter, ...]:
    """Return the adapter that the user chose for a model, if any.

    Raises:
        BrokenModelError: It cannot be opened any more.
    """
    path = read_user_adapter(record.digest)
    try:
        return () if path is None else (open_adapter(path),)
    except (BrokenModelError, UnsupportedModelError) as error:
        raise BrokenModelError(
            f"The adapter that was chosen for {printable(record.name)} cannot be added: {error.message}"
        ) from error


def _open(record: ModelRecord) -> ModelSource:
    if record.reason and record.format is not Format.SAFETENSORS:
        raise StoreError(with_path(record.path, record.reason))
    if record.format is Format.GGUF and is_gguf(record.path):
        paths, projector = _gguf_files(record)
        return replace(open_gguf(record, paths, projector=projector), user_template=read_user_template(record.digest))
    if is_folder(record.path):
        return _open_folder(record, folder_of(record.path))
    store = store_of(record.path)
    return _open_manifest(record, store, _manifest_of(record, store))


def open_texts(record: ModelRecord) -> ModelSource:
    """Return the small files of a model without its tensors: enough to decide what the model supports.

    The vocabulary of a GGUF file contains only its added tokens.

    Raises:
        StoreError: As for `open_model`, as far as these files are concerned.
    """
    if record.reason and record.format is not Format.SAFETENSORS:
        raise StoreError(with_path(record.path, record.reason))
    if record.format is Format.GGUF and is_gguf(record.path):
        paths, projector = _gguf_files(record)
        return replace(gguf_texts(record, paths, projector), user_template=read_user_template(record.digest))
    if is_folder(record.path):
        return _folder_texts(record, folder_of(record.path))
    store = store_of(record.path)
    manifest = _manifest_of(record, store)
    if (folder := stored_folder(store, manifest)) is not None:
        return replace(_folder_texts(record, folder), **_texts(record, store, manifest))
    if record.format is Format.GGUF:
        texts = gguf_texts(record, store.gguf_files(manifest), _projector(store, manifest))
        return replace(texts, **_texts(record, store, manifest))
    return _manifest_texts(record, store, manifest)


def gguf_file(record: ModelRecord, *, lists: bool) -> GgufFile:
    """Return the header of a GGUF model's file, whether or not the model can run.

    Args:
        record: The model.
        lists: Whether to read lists as well, such as the vocabulary.

    Raises:
        StoreError: The header cannot be read, is damaged or inconsistent.
    """
    if is_gguf(record.path):
        return read_gguf_files(_gguf_files(record)[0], lambda _: lists)
    store = store_of(record.path)
    return read_gguf_files(store.gguf_files(_manifest_of(record, store)), lambda _: lists)


def _gguf_files(record: ModelRecord) -> tuple[list[Path], StoredFile | None]:
    """Return the files of a GGUF model in a folder, in order, and its projector."""
    folder = folder_of(record.path.parent)
    paths = [folder.file(path.name) for path in folder.gguf_files(record.path)]
    projector = gguf_projector(folder, paths[0])
    return paths, StoredFile(projector) if projector else None


def _projector(store: OllamaStore, manifest: Manifest) -> StoredFile | None:
    """Return the projector that a GGUF model sees with, if there is one that is understood."""
    found = store.projector_file(manifest)
    eyes = eyes_of(read_gguf(store.gguf_files(manifest)[0]), [found[0]]) if found else None
    return StoredFile(*found) if found and eyes and eyes.projector else None


def _manifest_of(record: ModelRecord, store: OllamaStore) -> Manifest:
    manifest = store.read_manifest(record.path)
    if record.digest != manifest.digest:
        raise BrokenModelError(f"{printable_path(manifest.path)} is another model now; look for models again.")
    return manifest


def _open_manifest(record: ModelRecord, store: OllamaStore, manifest: Manifest) -> ModelSource:
    store.require_blobs(manifest)
    if (folder := stored_folder(store, manifest)) is not None:
        return replace(_open_folder(record, folder), **_texts(record, store, manifest))
    if record.format is Format.GGUF:
        files = gguf_layers(manifest)
        # One digest does not name several files.
        digest = files[0].digest if len(files) == 1 else ""
        opened = open_gguf(record, store.gguf_files(manifest), digest, _projector(store, manifest))
        return replace(opened, **_texts(record, store, manifest), adapters=_own_adapters(record, store, manifest))
    texts = _manifest_texts(record, store, manifest)
    blob = store.json_object(manifest.config)
    layers = {layer.digest: layer for layer in manifest.of_kind("tensor")}
    if not layers:
        raise BrokenModelError(f"{printable_path(manifest.path)} has no tensors; it should have some.")
    return replace(
        texts,
        tensor_files=_distinct_tensors([store.tensor_file(layer) for layer in layers.values()]),
        draft_prefix=draft_prefix(manifest, blob, store.blob(manifest.config)),
        adapters=_own_adapters(record, store, manifest),
    )


def _own_adapters(record: ModelRecord, store: OllamaStore, manifest: Manifest) -> tuple[Adapter, ...]:
    """Return the adapters that a manifest lists."""
    layer = manifest.json_layer(ADAPTER_CONFIG)
    config = store.json_object(layer) if layer else None
    return tuple(
        open_adapter_blob(store.blob(each), each.digest, config, f"{record.name} (own adapter)")
        for each in manifest.of_kind("adapter")
    )


def _manifest_texts(record: ModelRecord, store: OllamaStore, manifest: Manifest) -> ModelSource:
    objects = {
        layer.name: MappingProxyType(store.json_object(layer))
        for layer in reversed(manifest.layers)
        if layer.kind == "json" and layer.name.removeprefix(DRAFT_FILES) in JSON_FILES
    }
    for name in ("config.json", "tokenizer.json"):
        if manifest.json_layer(name) is None:
            raise BrokenModelError(f"{printable_path(manifest.path)} has no {name}, which every model needs.")
    tokenizer = manifest.json_layer("tokenizer.json")
    assert tokenizer is not None
    return ModelSource(
        record=record,
        tensor_files=(),
        json_files=MappingProxyType(objects),
        tokenizer_json=_tokenizer(store.blob(tokenizer)),
        modules=store.modules(manifest),
        **_texts(record, store, manifest),
    )


def _open_folder(record: ModelRecord, folder: ModelFolder) -> ModelSource:
    texts = _folder_texts(record, folder)
    names = [path.name for path in folder.weight_files()]
    files = _distinct_tensors([read_header(folder.file(name), folder.digest(name)) for name in names])
    if INDEX in folder.names:
        _check_index(folder, dict(zip(names, files, strict=True)))
    return replace(texts, tensor_files=files)


def _folder_texts(record: ModelRecord, folder: ModelFolder) -> ModelSource:
    if "config.json" not in folder.names:
        raise BrokenModelError(f"{printable_path(folder.path)} has no config.json, which every model needs.")
    if "tokenizer.json" not in folder.names:
        raise BrokenModelError(f"{printable_path(folder.path)} has no tokenizer.json, which every model needs.")
    objects: dict[str, MappingProxyType[str, Any]] = {}
    for name in JSON_FILES:
        if name in folder.names:
            objects[name] = MappingProxyType(read_object(folder.file(name)))
    return ModelSource(
        record=record,
        tensor_files=(),
        json_files=MappingProxyType(objects),
        tokenizer_json=_tokenizer(folder.file("tokenizer.json")),
        chat_template=_text(folder.file(TEMPLATE)) if TEMPLATE in folder.names else "",
        more_templates=MappingProxyType(
            {Path(name).stem: _text(folder.file(name)) for name in folder.more_templates()}
        ),
        user_template=read_user_template(record.digest),
        modules=folder.modules(),
    )


def _distinct_tensors(files: Sequence[TensorFile]) -> tuple[TensorFile, ...]:
    """Return the files as a tuple; raise BrokenModelError if two of them have a tensor of the same name."""
    owners: dict[str, TensorFile] = {}
    for file in files:
        for name in file.tensors:
            if name in owners:
                raise BrokenModelError(
                    f"Tensor {printable(name)} is in both {printable_path(owners[name].path)} and "
                    f"{printable_path(file.path)}; it should be in one."
                )
            owners[name] = file
    return tuple(files)


def _check_index(folder: ModelFolder, files: Mapping[str, TensorFile]) -> None:
    """Raise BrokenModelError unless each tensor of the index is in the file that the index names."""
    for name, shard in folder.index().items():
        if name not in files[shard].tensors:
            raise BrokenModelError(
                f"{printable_path(folder.path)} is incomplete: tensor {printable(name)} is not in {printable(shard)}, "
                "where its index says that it is; download the model again."
            )


def _last(manifest: Manifest, *kinds: str) -> Layer | None:
    """Return the last layer of these kinds, the one that Ollama uses, or None."""
    return next((layer for layer in reversed(manifest.layers) if layer.kind in kinds), None)


def _texts(record: ModelRecord, store: OllamaStore, manifest: Manifest) -> dict[str, Any]:
    """Return the fields of `ModelSource` that manifests have for any weight format."""
    params, messages = _last(manifest, "params"), _last(manifest, "messages")
    template = _last(manifest, "template", "prompt")
    chosen = template is not None and template.name == CHOSEN_TEMPLATE
    return {
        "params": MappingProxyType(store.json_object(params) if params else {}),
        "system": _layer_text(store, _last(manifest, "system")),
        "go_template": "" if chosen else _layer_text(store, template),
        "chosen_template": _layer_text(store, template) if chosen else "",
        "messages": _messages(store.blob(messages)) if messages else (),
        "renderer": renderer_name(store.json_object(manifest.config), store.blob(manifest.config)),
        "user_template": read_user_template(record.digest),
    }


def _messages(path: Path) -> tuple[Mapping[str, str], ...]:
    """Return the messages in a file; what they hold besides text is left out."""
    rows = read_list(path)
    for number, row in enumerate(rows):
        texts = [row.get("role"), row.get("content", ""), row.get("thinking", "")] if isinstance(row, dict) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise BrokenModelError(f"{printable_path(path)}: message {number} should be an object with texts.")
    return tuple(MappingProxyType({key: row.get(key, "") for key in ("role", "content", "thinking")}) for row in rows)


def _layer_text(store: OllamaStore, layer: Layer | None) -> str:
    return _text(store.blob(layer)) if layer else ""


def _tokenizer(path: Path) -> str:
    text = _text(path, _TOKENIZER_LIMIT, "a tokenizer")
    if not text.strip():
        raise BrokenModelError(f"{printable_path(path)} is empty; it should be a tokenizer.")
    return text


def _text(path: Path, limit: int = _TEXT_LIMIT, what: str = "a template or prompt") -> str:
    try:
        return read_all(path, limit, what).decode()
    except UnicodeDecodeError as error:
        raise BrokenModelError(
            f"{printable_path(path)} is not UTF-8 at byte {error.start}; it should be text."
        ) from error


def _record_at(path: Path, listing: Listing | None, judge: Judge) -> ModelRecord:
    path = absolute(path)
    for record in listing.records if listing else ():
        if path in (place.path for place in record.places):
            return record
    return record_of(path, judge)


def find_by_name(target: str, records: Sequence[ModelRecord]) -> ModelRecord | None:
    """Return the model of exactly this name, else one whose name differs only in letter case or default parts.

    Paths, digests and beginnings of names do not match.
    """
    found = find_place(target, records)
    return found[0] if found else None


def find_place(target: str, records: Sequence[ModelRecord]) -> tuple[ModelRecord, Place] | None:
    """Return the model as `find_by_name` does, and which of its places has that name."""
    wanted = {target.casefold()}
    # Names of folders need not be valid names in Ollama's sense.
    wanted |= {name.short.casefold() for name in possible_names(target)}
    folded = None
    for record in records:
        for place in record.places:
            if place.name == target:
                return record, place
            if folded is None and place.name.casefold() in wanted:
                folded = record, place
    return folded


def _find_by_prefix(target: str, records: Sequence[ModelRecord]) -> ModelRecord | None:
    """Return the only model whose digest or name begins with `target`, or None; StoreError if there are several."""
    match = _DIGEST_PREFIX.fullmatch(target)
    if match and (found := [record for record in records if record.digest.startswith(match[1].lower())]):
        return _require_single(target, found)
    start = target.casefold()
    if ":" in target.rpartition("/")[2]:
        return None
    # A name of two parts may be one of Hugging Face's, without its host.
    starts = {start, f"{HUGGING_FACE}/{start}"}
    whole = [record for record in records if record.name.rpartition(":")[0].casefold() in starts]
    found = whole or [record for record in records if record.name.casefold().startswith(start)]
    return _require_single(target, found) if found else None


def _require_single(target: str, found: Sequence[ModelRecord]) -> ModelRecord:
    if len(found) > 1:
        raise StoreError(f"'{printable(target)}' may mean {_names(found)}; write more of the name.")
    return found[0]


def _names(records: Sequence[ModelRecord]) -> str:
    rest = len(records) - _MAX_NAMES
    names = ", ".join(printable(record.name) for record in records[:_MAX_NAMES])
    return f"{names} and {rest} more" if rest > 0 else names
