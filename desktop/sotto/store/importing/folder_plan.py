"""Planning the import of a folder with `config.json` and safetensors files."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sotto.errors import InvalidRequestError, UnsupportedModelError
from sotto.store.bounded_json import read_object
from sotto.store.facts import as_tensors_allow, config_facts, parameter_count
from sotto.store.importing.companions import chat_template, config_blob, json_blobs
from sotto.store.importing.float_tensors import float_blobs, fp8_blobs
from sotto.store.importing.fusing_plan import Fit, fit_nothing
from sotto.store.importing.import_plan import Computed, ImportPlan, PlannedBlob, Segment
from sotto.store.importing.inventory import Kind, take_inventory
from sotto.store.importing.prequantized import prequantized_blobs
from sotto.store.importing.quant_types import QUANT_TYPES
from sotto.store.importing.recipes import parse_recipe
from sotto.store.locating import folder_of
from sotto.store.printable import printable, printable_path
from sotto.store.sources.harvest import Judge
from sotto.store.sources.plain_folders import ModelFolder


def plan_folder(path: Path, quantize: str, judge: Judge, fit: Fit = fit_nothing) -> ImportPlan:
    """Return what importing a folder results in.

    Args:
        path: The folder; its files may only be links within the store that it belongs to.
        quantize: A recipe as `parse_recipe` takes it; empty to keep what is there.
        judge: Given a model's configuration, returns an empty string, or one sentence saying why the engine cannot run
            it.
        fit: Returns what an adapter changes.

    Raises:
        BrokenModelError: A file is missing, damaged or leads out of the folder.
        UnsupportedModelError: The model cannot run here, or cannot be imported.
        InvalidRequestError: There is no such recipe, or the weights are quantized already.
        SottoError: The adapter does not fit.
    """
    parsed = parse_recipe(quantize)
    folder = folder_of(path)
    inventory = take_inventory(folder)
    config = read_object(folder.file("config.json"))
    facts = config_facts(config, folder.path / "config.json", folder.modules())
    if reason := judge(config):
        raise UnsupportedModelError(reason)
    _require_importable(folder)
    if parsed and inventory.kind is not Kind.FLOAT:
        raise InvalidRequestError(
            f"{printable_path(path)} is quantized already, so it cannot be quantized to {printable(quantize)}; only "
            "weights in BF16, F16 or F32 can."
        )
    if inventory.kind is Kind.QUANTIZED and fit is not fit_nothing:
        raise InvalidRequestError(
            f"{printable_path(path)} is quantized already, so no adapter can be fused into it; take its version in "
            "BF16, F16 or F32, or add the adapter when the model is loaded."
        )
    fusing = fit(config, {name: part.shape for name, part in inventory.parts.items()})
    name, recipe = parsed or ("", None)
    if inventory.kind is Kind.QUANTIZED:
        blobs, kinds = prequantized_blobs(inventory.parts, config)
        file_type = next(iter(kinds)) if len(kinds) == 1 else ""
    elif inventory.kind is Kind.BLOCK_FP8:
        blobs, file_type = fp8_blobs(inventory.parts, config, fusing), "mxfp8"
        kinds = computed_types(blobs)
    else:
        blobs, file_type = float_blobs(inventory.parts, recipe, config, fusing), name
        kinds = computed_types(blobs)
    companions = json_blobs(folder)
    sees = "vision" in as_tensors_allow(facts.capabilities, inventory.parts)
    return ImportPlan(
        source=path,
        quantization=name,
        architecture=facts.architecture,
        parameters=parameter_count(inventory.files, config, folder.path / "config.json"),
        files=source_files([*(file.path for file in inventory.files), *_read_files(companions), *fusing.files]),
        blobs=(*blobs, *companions),
        config=config_blob(config, chat_template(folder), file_type, embeds="embedding" in facts.capabilities),
        adapter=fusing.adapter,
        notes=(*_notes(config, sees=sees), *ollama_notes(kinds)),
    )


def source_files(paths: Sequence[Path]) -> Mapping[Path, tuple[int, int]]:
    """Return the sizes and times of change of files."""
    return {path: ((status := os.stat(path)).st_size, status.st_mtime_ns) for path in paths}  # noqa: PTH116


def computed_types(blobs: Sequence[PlannedBlob]) -> set[str]:
    """Return the types that tensors of some blobs are quantized to."""
    pieces = [piece for blob in blobs for piece in blob.pieces if isinstance(piece, Computed)]
    return {piece.quantization for piece in pieces if piece.quantization}


def ollama_notes(kinds: Iterable[str]) -> list[str]:
    """Return a note if Ollama does not know some of the types."""
    unknown = sorted(kind for kind in kinds if kind and not QUANT_TYPES[kind].common)
    return [f"Ollama cannot run it, as it does not know {' and '.join(unknown)}."] if unknown else []


def _require_importable(folder: ModelFolder) -> None:
    if "tokenizer.json" not in folder.names:
        raise UnsupportedModelError(
            f"{printable_path(folder.path)} has no tokenizer.json, which every model needs; tokenizers in other files "
            "are not read."
        )


def _read_files(blobs: Sequence[PlannedBlob]) -> list[Path]:
    return [piece.path for blob in blobs for piece in blob.pieces if isinstance(piece, Segment)]


def _notes(config: Mapping[str, Any], *, sees: bool) -> list[str]:
    """Return a note if there are parts that are not used; a text-only conversion has the config of some, too."""
    unused = [
        *(["images"] if "vision_config" in config and not sees else []),
        *(["sound"] if "audio_config" in config else []),
    ]
    if not unused:
        return []
    return [f"What it may have for {' and '.join(unused)} is imported, too, but Sotto does not use it."]
