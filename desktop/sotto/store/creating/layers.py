"""The manifest of a model that is made from another: which layers it keeps, and which small ones it gets."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError, StoreError
from sotto.store.bounded_json import read_object
from sotto.store.creating.model_base import Base, Tally, digest_of
from sotto.store.creating.modelfile import Modelfile
from sotto.store.files import absolute, is_folder, read_all
from sotto.store.gguf.header import is_gguf, read_gguf
from sotto.store.printable import printable, printable_path
from sotto.store.safetensors_header import read_header
from sotto.store.sources.manifest import (
    CHOSEN_TEMPLATE,
    CONFIG_MEDIA,
    MANIFEST_MEDIA,
    MEDIA_PREFIX,
    parse_digest,
)

ADAPTER_CONFIG = "adapter_config.json"
# As PEFT and mlx-lm name them.
ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapters.safetensors")
_ADAPTER_CONFIG_LIMIT = 1 << 20
# The kinds of the small layers, in the order in which they follow the others.
_TEXTS = ("template", "system", "license", "params", "messages")
_OLD_TEMPLATE = "prompt"

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Assembly:
    """A model that is to be written.

    Attributes:
        manifest: The bytes of its manifest.
        contents: The bytes of its small blobs, by digest.
        files: Where its other blobs are now, by digest.
    """

    manifest: bytes
    contents: Mapping[str, bytes]
    files: Mapping[str, Path]


class _Parts:
    """Collects the blobs of a model and returns their entries in the manifest."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.files: dict[str, Path] = {}

    def text(self, kind: str, content: bytes, name: str = "") -> Entry:
        digest = hashlib.sha256(content).hexdigest()
        self.contents[digest] = content
        return _entry(MEDIA_PREFIX + kind, digest, len(content), name)

    def config(self, config: Mapping[str, Any]) -> Entry:
        content = compact(config)
        digest = hashlib.sha256(content).hexdigest()
        self.contents[digest] = content
        return _entry(CONFIG_MEDIA, digest, len(content))

    def file(self, kind: str, path: Path, tally: Tally, name: str = "") -> Entry:
        digest = digest_of(path, tally)
        self.files[digest] = path
        return _entry(MEDIA_PREFIX + kind, digest, path.stat().st_size, name)


def assemble(base: Base, model: Modelfile, tally: Tally) -> Assembly:
    """Return the model that a description makes of its base.

    Args:
        base: What it is made from.
        model: What is different; its paths of adapters are absolute.
        tally: Called while adapters are read.

    Raises:
        StoreError: A text of the base cannot be read, or there is no adapter at a path.
    """
    parts = _Parts()
    parts.files |= base.files
    by_kind: dict[str, list[Entry]] = {}
    kept: list[Entry] = []
    for layer in base.layers:
        kind = _kind(layer)
        if kind in _TEXTS:
            by_kind.setdefault(kind, []).append(layer)
        else:
            kept.append(layer)
    if model.adapters:
        kept = [layer for layer in kept if _kind(layer) != "adapter" and layer.get("name") != ADAPTER_CONFIG]
        if len(model.adapters) > 1:
            raise StoreError(f"There are {len(model.adapters)} adapters; a model can have one.")
        kept += _adapter(parts, Path(model.adapters[0]), tally)
    if model.template is not None and not _is_text_of(by_kind.get("template", ()), model.template):
        kept = [layer for layer in kept if _kind(layer) != _OLD_TEMPLATE]
        template = [parts.text("template", model.template.encode(), CHOSEN_TEMPLATE)] if model.template else []
        by_kind["template"] = template
    if model.system is not None:
        by_kind["system"] = [parts.text("system", model.system.encode())] if model.system else []
    licenses = (*by_kind.get("license", ()), *(parts.text("license", text.encode()) for text in model.licenses))
    by_kind["license"] = list({entry["digest"]: entry for entry in licenses}.values())
    if model.params:
        by_kind["params"] = _params(parts, base, by_kind.get("params", ()), model.params)
    if model.messages:
        rows = [{"role": role, "content": text} for role, text in model.messages]
        by_kind["messages"] = [parts.text("messages", compact(rows) + b"\n")]
    layers = [*kept, *(layer for kind in _TEXTS for layer in by_kind.get(kind, ()))]
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_MEDIA,
        "config": _config(parts, base, model),
        "layers": layers,
    }
    return Assembly(compact(manifest) + b"\n", parts.contents, parts.files)


def compact(value: Any) -> bytes:
    """Return a value as JSON without blanks, as Ollama writes its small files."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _is_text_of(layers: Iterable[Entry], text: str) -> bool:
    """Return whether one of some layers holds a text."""
    digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return any(layer["digest"] == digest for layer in layers)


def _entry(media_type: str, digest: str, size: int, name: str = "") -> Entry:
    entry = {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}
    return entry | ({"name": name} if name else {})


def _kind(layer: Entry) -> str:
    return str(layer["mediaType"]).removeprefix(MEDIA_PREFIX)


def _config(parts: _Parts, base: Base, model: Modelfile) -> Entry:
    """Return the entry of the config blob, the base's own if nothing in it changes."""
    texts = {"renderer": model.renderer, "parser": model.parser, "requires": model.requires}
    config = dict(base.config)
    for key, text in texts.items():
        if text:
            config[key] = text
        elif text is not None:
            config.pop(key, None)
    if base.config_entry is not None and config == dict(base.config):
        return base.config_entry
    return parts.config(config)


def _params(parts: _Parts, base: Base, entries: Iterable[Entry], given: Mapping[str, Any]) -> list[Entry]:
    """Return the layer of the options: the base's, with those that are given in their place."""
    params: dict[str, Any] = {}
    for entry in entries:
        params |= read_object(base.files[parse_digest(entry["digest"]) or ""])
    params |= given
    params = {name: value for name, value in sorted(params.items()) if value is not None}
    return [parts.text("params", compact(params) + b"\n")] if params else []


def _adapter(parts: _Parts, path: Path, tally: Tally) -> list[Entry]:
    """Return the layers of an adapter: a GGUF file, or safetensors with their configuration."""
    path = absolute(path)
    weights = path
    if is_folder(path):
        found = [path / name for name in ADAPTER_WEIGHTS if (path / name).is_file()]
        if len(found) != 1:
            raise BrokenModelError(
                f"{printable_path(path)} has {'two files of weights' if found else 'no adapter'}; it should have "
                f"{ADAPTER_CONFIG} and {' or '.join(ADAPTER_WEIGHTS)}."
            )
        weights = found[0]
    if is_gguf(weights):
        if (kind := read_gguf(weights).kind) != "adapter":
            raise BrokenModelError(
                f"{printable_path(weights)} is of type '{printable(kind or 'model')}'; it should be an adapter."
            )
        return [parts.file("adapter", weights, tally)]
    read_header(weights)
    config = weights.parent / ADAPTER_CONFIG
    read_object(config)
    content = read_all(config, _ADAPTER_CONFIG_LIMIT, "the configuration of an adapter")
    return [parts.file("adapter", weights, tally), parts.text("json", content, ADAPTER_CONFIG)]
