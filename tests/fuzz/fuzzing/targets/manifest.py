"""Manifests of a store in Ollama's layout and their small blobs, with matching digests."""

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import mlx.core as mx

from checkpoints import write_tensors
from fuzzing import values
from fuzzing.models import STAGES, Models, names_model
from fuzzing.target import Mark, Target
from fuzzing.targets.gguf import byte_level
from fuzzing.templates import GO
from gguf_writing import write_folder
from places import REFERENCES
from sotto.store.sources.manifest import parse_manifest
from stores import PREFIX, Store
from tiny_random import write_model

_REFERENCES = REFERENCES
_KINDS = (
    "model",
    "tensor",
    "json",
    "params",
    "system",
    "template",
    "prompt",
    "license",
    "adapter",
    "projector",
    "messages",
)
_PARAMS = {"temperature": 0.5, "stop": ["</s>"], "num_ctx": 64, "top_k": 5, "seed": 1}
_TEXTS = ("params", "system", "template", "config.json", "tokenizer_config.json")


class Manifest(Target):
    """Manifests, up to the first token of an answer."""

    stages = ("manifest read", *STAGES)
    first_share, last_share = 60, 12

    def prepare(self, folder: Path) -> None:
        """Write a store with the blobs of two models: one blob for each tensor, and a GGUF file."""
        self._models = Models()
        self._store = Store(folder / "store")
        self._whole = folder / "store" / "blobs"
        plain = write_model(folder / "plain", "plain")
        layers = []
        for name, array in mx.load(str(plain / "model.safetensors")).items():
            write_tensors(folder / "tensor", {name: array})
            layers.append(self._store.layer("tensor", (folder / "tensor").read_bytes(), name))
        tokenizer = self._store.layer("json", (plain / "tokenizer.json").read_bytes(), "tokenizer.json")
        path = write_folder(folder / "model.gguf", _REFERENCES / "llama", vocabulary=byte_level)
        model = self._store.layer("model", path.read_bytes())
        texts: dict[str, Any] = {"params": _PARAMS, "system": "Be brief.", "template": GO[0]}
        files = {name: json.loads((plain / name).read_text(encoding="utf-8")) for name in _TEXTS[3:]}
        self._seeds = [
            {
                "config": {"model_format": "safetensors", "model_family": "llama", "capabilities": ["completion"]},
                "layers": [*layers, tokenizer],
                "texts": texts | files,
            },
            {
                "config": {"model_format": "gguf", "model_family": "llama", "model_type": "1M", "file_type": "F32"},
                "layers": [model],
                "texts": texts,
            },
        ]

    def make(self, random: Random) -> bytes:
        """Change small blobs, or the layers of the manifest."""
        seed = dict(random.choice(self._seeds))
        document = json.loads(values.text_of(seed))
        if random.random() < 0.4:
            part = random.choice(("config", "texts", "texts"))
            document[part] = values.mutated(document[part], random)
        document["change"] = random.random() < 0.6
        document["seed"] = random.getrandbits(32)
        return values.text_of(document)

    def run(self, data: bytes, mark: Mark) -> None:
        """Write the manifest and its blobs, find the model and load it."""
        document = json.loads(data)
        manifest = self._manifest(document)
        self._path = self._store.raw_manifest("fuzzed", values.text_of(manifest))
        try:
            parse_manifest(self._path.read_bytes(), self._path)
            mark("manifest read")
            self._models.process(self._path, mark)
        finally:
            shutil.rmtree(self._store.root / "manifests")
            for blob in self._new:
                blob.unlink()

    def names(self, message: str) -> bool:
        """Return whether the message names the manifest or one of its blobs."""
        return names_model(message, self._store.root)

    def _manifest(self, document: Any) -> Any:
        before = set(self._whole.iterdir())
        config = self._store.layer("", values.text_of(document["config"]))
        layers = [*document["layers"]]
        for name, content in document["texts"].items() if isinstance(document["texts"], dict) else ():
            text = content.encode(errors="surrogatepass") if isinstance(content, str) else values.text_of(content)
            json_file = name.endswith(".json")
            layers.append(self._store.layer("json" if json_file else name, text, name if json_file else ""))
        self._new = set(self._whole.iterdir()) - before
        manifest: Any = {"schemaVersion": 2, "mediaType": "x", "config": config, "layers": layers}
        random = Random(document["seed"])
        for _ in range(values.times(random) if document["change"] else 0):
            manifest = _changed(manifest, random)
        return manifest


def _changed(manifest: Any, random: Random) -> Any:
    """Change a field of a layer, or any part of the manifest."""
    layers = manifest.get("layers") if isinstance(manifest, dict) else None
    if not isinstance(layers, list) or not layers or random.random() < 0.35:
        return values.mutated(manifest, random, most=1)
    place, other = random.randrange(len(layers)), random.choice(layers)
    layer, kind = layers[place], random.randrange(7)
    if not isinstance(layer, dict) or not isinstance(other, dict) or kind == 0:
        layers[place] = values.anything(random)
    elif kind == 1:
        layer["mediaType"] = PREFIX + random.choice(_KINDS)
    elif kind == 2:
        layer["digest"] = random.choice(
            (other.get("digest"), "sha256:" + "0" * 64, "sha256:../../x", "sha256-" + "A" * 64)
        )
    elif kind == 3:
        layer["size"] = values.near(layer.get("size"), random)
    elif kind == 4:
        layer["name"] = random.choice((other.get("name"), "draft.x", "../x", "config.json", "tokenizer.json", 1, None))
    elif kind == 5:
        layers.append(dict(other))
    else:
        layers.remove(layer)
    return manifest


TARGET = Manifest()
