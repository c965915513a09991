"""Checking that a model can run before its weights are downloaded, from its manifest and two small files.

Of a GGUF model in several files, the first is downloaded before the others and shows more.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.bounded_json import FILE_LIMIT, read_object
from sotto.store.gguf.gguf_config import refusal
from sotto.store.gguf.header import read_gguf
from sotto.store.printable import format_size, printable, printable_path
from sotto.store.sources.harvest import Judge
from sotto.store.sources.manifest import FILE, Layer, Manifest


def small_files(manifest: Manifest) -> tuple[Layer, ...]:
    """Return the layers that `require_fitness` reads: the config blob and, if there is one, `config.json`.

    Raises:
        BrokenModelError: One of them is too large for such a file.
    """
    config = manifest.small_layer("config.json")
    layers = (manifest.config, config) if config else (manifest.config,)
    for layer in layers:
        if layer.size > FILE_LIMIT:
            raise BrokenModelError(
                f"{printable_path(manifest.path)}: {layer.name or 'config'} is {format_size(layer.size)}, which is "
                f"too much for a JSON file; {format_size(FILE_LIMIT)} is the most."
            )
    return layers


def require_fitness(manifest: Manifest, files: Sequence[Path], judge: Judge) -> None:
    """Check that a model can run, as far as its small files show.

    Args:
        manifest: The manifest of the model.
        files: The paths of its `small_files`.
        judge: Given a model's configuration, returns an empty string, or one sentence saying why the engine cannot run
            it.

    Raises:
        UnsupportedModelError: It cannot run.
        BrokenModelError: A file is missing or invalid.
    """
    blob = read_object(files[0])
    if host := _text(blob, "remote_host", manifest):
        raise UnsupportedModelError(
            f"This model runs on {printable(host)}, not on this machine; choose one that runs here."
        )
    model_format = _text(blob, "model_format", manifest)
    tensors = next(manifest.of_kind("tensor"), None) or next(manifest.of_kind(FILE), None)
    if model_format in ("", "gguf") and tensors is None:
        family = _text(blob, "model_family", manifest)
        if reason := refusal(family) if family else "":
            raise UnsupportedModelError(reason)
        return
    if model_format != "safetensors" or tensors is None:
        raise BrokenModelError(
            f"{printable_path(manifest.path)} has {'no ' if tensors is None else ''}tensors and is of format "
            f"'{printable(model_format)}'; it should have tensors and be of format safetensors."
        )
    if len(files) < 2 or manifest.small_layer("tokenizer.json") is None:
        raise BrokenModelError(
            f"{printable_path(manifest.path)} lacks config.json or tokenizer.json, which every model needs."
        )
    if reason := judge(read_object(files[1])):
        raise UnsupportedModelError(reason)


def first_part(manifest: Manifest) -> Layer | None:
    """Return the first file of a GGUF model in several files, by which it can be judged; None for any other model."""
    layers = list(manifest.of_kind("model"))
    return layers[0] if len({layer.digest for layer in layers}) > 1 else None


def require_fit_part(path: Path) -> None:
    """Check that a GGUF model can run, as far as the header of its first file shows.

    Raises:
        UnsupportedModelError: It cannot run.
        BrokenModelError: The header is damaged.
    """
    header = read_gguf(path)
    if reason := refusal(header.architecture, header.kind):
        raise UnsupportedModelError(reason)


def _text(blob: dict[str, Any], key: str, manifest: Manifest) -> str:
    value = blob.get(key) or ""
    if not isinstance(value, str):
        raise BrokenModelError(f"{printable_path(manifest.path)}: {key} in its config should be a text.")
    return value
