"""Opening adapters: the folders that mlx-lm and PEFT write, and GGUF files of that kind."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sotto.errors import BrokenModelError, UnsupportedModelError
from sotto.store.bounded_json import read_object
from sotto.store.files import absolute, is_folder, list_names, open_regular
from sotto.store.gguf.file import read_gguf_file
from sotto.store.gguf.header import is_gguf
from sotto.store.gguf.metadata_values import Values
from sotto.store.printable import printable, printable_path
from sotto.store.records import Adapter, Format, TensorFile
from sotto.store.safetensors_header import read_header

ADAPTER_CONFIG = "adapter_config.json"
# As mlx-lm and PEFT name them.
_WEIGHTS = ("adapters.safetensors", "adapter_model.safetensors")
# These can run code when they are read.
_PICKLES = ("adapter_model.bin", "adapter_model.pt", "adapters.npz")
_CHUNK = 1 << 20


def open_adapter(path: Path) -> Adapter:
    """Return the adapter at a path: a folder, or a safetensors or GGUF file.

    Raises:
        BrokenModelError: Files are missing, damaged, or inconsistent.
        UnsupportedModelError: It is of a kind that is not read.
    """
    path = absolute(path)
    if not is_folder(path):
        return _open_gguf(path) if is_gguf(path) else _open_file(path, path.parent / ADAPTER_CONFIG)
    names = list_names(path)
    weights = [name for name in _WEIGHTS if name in names]
    ggufs = [name for name in names if name.lower().endswith(".gguf")]
    if len(weights) + len(ggufs) > 1:
        raise BrokenModelError(
            f"{printable_path(path)} has both {printable((weights + ggufs)[0])} and {printable((weights + ggufs)[1])}; "
            "name the file that is meant."
        )
    if weights:
        return _open_file(path / weights[0], path / ADAPTER_CONFIG)
    if ggufs:
        return _open_gguf(path / ggufs[0])
    if pickle := next((name for name in _PICKLES if name in names), None):
        raise UnsupportedModelError(
            f"{printable_path(path / pickle)} is not read, as files of this kind can run code; save the adapter as "
            "safetensors."
        )
    raise BrokenModelError(
        f"{printable_path(path)} holds no adapter; it should have {ADAPTER_CONFIG} with {_WEIGHTS[0]} or {_WEIGHTS[1]}."
    )


def open_adapter_blob(path: Path, digest: str, config: Mapping[str, Any] | None, name: str) -> Adapter:
    """Return the adapter in a blob of a store.

    Args:
        path: The blob.
        digest: The digest that the store names it by.
        config: Its configuration; None if the store has none, which only a GGUF file does without.
        name: What people call it.

    Raises:
        BrokenModelError: The file is damaged, or the configuration is missing.
        UnsupportedModelError: It is of a kind that is not read.
    """
    if is_gguf(path):
        return _gguf(path, digest, name)
    if config is None:
        raise BrokenModelError(
            f"{printable_path(path)} is an adapter without its configuration; its manifest should have a JSON layer "
            f"{ADAPTER_CONFIG}."
        )
    return Adapter(name, path, digest, read_header(path, digest), MappingProxyType(dict(config)))


def _open_file(path: Path, config_path: Path) -> Adapter:
    if path.suffix != ".safetensors":
        raise UnsupportedModelError(
            f"{printable_path(path)} is not an adapter that is read; it should be a folder with {ADAPTER_CONFIG}, a "
            "safetensors file in it, or a GGUF file."
        )
    file = read_header(path)
    if not config_path.is_file():
        raise BrokenModelError(f"{printable_path(config_path)} is missing; it tells how the adapter is applied.")
    config = read_object(config_path)
    name = path.parent.name if path.name in _WEIGHTS else path.stem
    return Adapter(printable(name), path.parent, _digest(path, config_path), file, MappingProxyType(config))


def _open_gguf(path: Path) -> Adapter:
    return _gguf(path, _digest(path), printable(path.stem))


def _gguf(path: Path, digest: str, name: str) -> Adapter:
    file = read_gguf_file(path)
    values = Values(file)
    kind = values.string("general.type", "model"), values.string("adapter.type")
    if kind[0] != "adapter":
        raise BrokenModelError(f"{printable_path(path)} is a model of its own, and not an adapter.")
    if kind[1] != "lora":
        raise UnsupportedModelError(
            f"{printable_path(path)}: adapter.type is '{printable(kind[1])}'; only lora can be applied."
        )
    config = {"architecture": values.architecture, "lora_alpha": values.number("adapter.lora.alpha", 0.0)}
    tensors = TensorFile(path, digest, file.tensors, MappingProxyType({}), format=Format.GGUF)
    return Adapter(name, path, digest, tensors, MappingProxyType(config))


def _digest(*paths: Path) -> str:
    """Return a digest of everything in some files: adapters are often trained again in place."""
    digest = hashlib.sha256()
    for path in paths:
        with open_regular(path) as (file, size):
            digest.update(f"{size}\0".encode())
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()
