"""Parsing the manifests of Ollama's layout, which list the blobs of a model.

No value of a manifest is used in a path, except digests once they are validated.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import kind_of, parse_object
from sotto.store.printable import printable, printable_path

# A layer takes about 230 bytes, so this allows about 18,000; the largest models have a few thousand.
MANIFEST_LIMIT = 4 << 20

# The kind of a layer that is a whole file of a model's folder; such a model is opened as that folder.
FILE = "application/vnd.sotto.file"

_SCHEMA_VERSION = 2
_DIGEST = re.compile(r"sha256[:-]([0-9a-fA-F]{64})")
MANIFEST_MEDIA = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG_MEDIA = "application/vnd.docker.container.image.v1+json"
# The media types of the layers begin with it.
MEDIA_PREFIX = "application/vnd.ollama.image."
# The name of a template layer that was chosen when a model was made, so that it goes before templates of its files.
CHOSEN_TEMPLATE = "chosen"
_MAX_BYTES = 1 << 63


@dataclass(frozen=True, slots=True)
class Layer:
    """One blob of a model.

    Attributes:
        kind: Its media type without Ollama's prefix: `tensor`, `json`, `model`, ...; `FILE` for whole files.
        digest: 64 lower-case hex digits.
        size: Size in bytes.
        name: Name of the tensor or JSON file, or path of a whole file in its folder; empty for most other kinds.
    """

    kind: str
    digest: str
    size: int
    name: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A validated manifest.

    Attributes:
        path: Its file.
        digest: The sha256 of its bytes, 64 hex digits that identify the model.
        config: The config blob.
        layers: The other blobs, in order.
    """

    path: Path
    digest: str
    config: Layer
    layers: tuple[Layer, ...]

    @property
    def size(self) -> int:
        """Bytes of all blobs, as Ollama counts them: a blob listed twice counts twice."""
        return self.config.size + sum(layer.size for layer in self.layers)

    def of_kind(self, kind: str) -> Iterator[Layer]:
        """Yield the layers of one kind."""
        return (layer for layer in self.layers if layer.kind == kind)

    def json_layer(self, name: str) -> Layer | None:
        """Return the first JSON layer of that name, or None."""
        return self._named(name, "json")

    def small_layer(self, name: str) -> Layer | None:
        """Return the first JSON layer or whole file of that name, or None."""
        return self._named(name, "json", FILE)

    def _named(self, name: str, *kinds: str) -> Layer | None:
        return next((layer for layer in self.layers if layer.kind in kinds and layer.name == name), None)

    @property
    def blobs(self) -> dict[str, Layer]:
        """Each distinct blob once, by digest."""
        return {layer.digest: layer for layer in (self.config, *self.layers)}


def parse_manifest(data: bytes, path: Path) -> Manifest:
    """Return the manifest in `data`, the bytes of the file `path`.

    Raises:
        BrokenModelError: It is not JSON, or a key is missing or invalid.
    """
    entries = parse_object(data, path, strict=True)
    version = entries.get("schemaVersion")
    if version != _SCHEMA_VERSION or isinstance(version, bool):
        found = printable(str(version)) if isinstance(version, int) else kind_of(version)
        raise BrokenModelError(f"{printable_path(path)}: schemaVersion is {found}; it should be {_SCHEMA_VERSION}.")
    layers = entries.get("layers")
    if not isinstance(layers, list):
        raise BrokenModelError(f"{printable_path(path)}: layers is {kind_of(layers)}; it should be a list.")
    return Manifest(
        path,
        hashlib.sha256(data).hexdigest(),
        _layer(entries.get("config"), path, "config"),
        tuple([_layer(entry, path, "layers", number) for number, entry in enumerate(layers)]),
    )


def parse_digest(text: str) -> str | None:
    """Return the hex digits of `sha256:...` or `sha256-...` in lower case, or None if `text` is not a digest."""
    match = _DIGEST.fullmatch(text)
    return match[1].lower() if match else None


def _layer(entry: Any, path: Path, field: str, number: int | None = None) -> Layer:
    where = field if number is None else f"{field}[{number}]"
    if not isinstance(entry, dict):
        raise BrokenModelError(f"{printable_path(path)}: {where} is {kind_of(entry)}; it should be an object.")
    media_type, text, size, name = entry.get("mediaType"), entry.get("digest"), entry.get("size"), entry.get("name", "")
    if not isinstance(media_type, str):
        raise BrokenModelError(
            f"{printable_path(path)}: {where}.mediaType is {kind_of(media_type)}; it should be a text."
        )
    digest = parse_digest(text) if isinstance(text, str) else None
    if digest is None:
        found = f"'{printable(text)}'" if isinstance(text, str) else kind_of(text)
        raise BrokenModelError(
            f"{printable_path(path)}: {where}.digest is {found}; it should be sha256: and 64 hexadecimal digits."
        )
    if type(size) is not int or not 0 <= size < _MAX_BYTES:
        found = printable(str(size), 40) if type(size) in (int, float) else kind_of(size)
        raise BrokenModelError(f"{printable_path(path)}: {where}.size is {found}; it should be a number of bytes.")
    if not isinstance(name, str):
        raise BrokenModelError(f"{printable_path(path)}: {where}.name is {kind_of(name)}; it should be a text.")
    return Layer(media_type.removeprefix(MEDIA_PREFIX), digest, size, name)
