"""The built-in model as a repository of Hugging Face has it, in the layout of mlx-community."""

import json
from collections.abc import Mapping

from sotto.paths import resources_dir
from sotto.store.opening import open_model, record_of
from sotto.store.sources.manifest import Layer
from sotto.store.sources.ollama_layout import OllamaStore
from stores import with_header

_NAMES = {".weight.scale": ".scales", ".weight.bias": ".biases"}
_QUANTIZATION = {"group_size": 64, "bits": 8}


def builtin_files() -> dict[str, bytes]:
    """Return the files of the repository, with its weights in two shards."""
    store = OllamaStore(resources_dir() / "store")
    path = store.root / "manifests" / "registry.ollama.ai" / "library" / "sotto" / "latest"
    manifest, source = store.read_manifest(path), open_model(record_of(path))
    files = {layer.name: _content(store, layer) for layer in manifest.of_kind("json")}
    files["config.json"] = json.dumps(dict(source.config) | {"quantization": _QUANTIZATION}).encode()
    files["LICENSE"] = _content(store, next(manifest.of_kind("license")))
    tensors: dict[str, tuple[str, tuple[int, ...], bytes]] = {}
    for file in source.tensor_files:
        content = file.path.read_bytes()
        for name, tensor in file.tensors.items():
            tensors[_renamed(name)] = tensor.dtype, tensor.shape, content[tensor.start : tensor.end]
    half = len(tensors) // 2
    shards = {
        "model-00001-of-00002.safetensors": dict(list(tensors.items())[:half]),
        "model-00002-of-00002.safetensors": dict(list(tensors.items())[half:]),
    }
    index = {"metadata": {}, "weight_map": {name: shard for shard, part in shards.items() for name in part}}
    files["model.safetensors.index.json"] = json.dumps(index).encode()
    return files | {shard: _safetensors(part) for shard, part in shards.items()}


def _renamed(name: str) -> str:
    return next((name.removesuffix(old) + new for old, new in _NAMES.items() if name.endswith(old)), name)


def _content(store: OllamaStore, layer: Layer) -> bytes:
    return store.blob(layer).read_bytes()


def _safetensors(tensors: Mapping[str, tuple[str, tuple[int, ...], bytes]]) -> bytes:
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": offsets}
        data += content
    return with_header(header, data)
