"""Manifests for models of Hugging Face, which has none itself.

GGUF files are stored as Ollama stores them. Of a repository of safetensors files the manifest lists the files as they
are (`sotto.store.sources.stored_folder`). Where the model comes from and which commit it is of is written into the
annotations that container registries have for that:
https://github.com/opencontainers/image-spec/blob/main/annotations.md
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sotto.store.pull.hugging_face.gguf_choice import GgufModel
from sotto.store.pull.hugging_face.repository import Repository, RepositoryFile
from sotto.store.sources.manifest import MEDIA_PREFIX

_MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"
# The media type of a GGUF file.
MODEL = f"{MEDIA_PREFIX}model"
# The media type of the GGUF file with its tower.
PROJECTOR = f"{MEDIA_PREFIX}projector"
_LICENCE_TYPE = f"{MEDIA_PREFIX}license"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a model comes from.

    Attributes:
        page: The address of the repository.
        commit: The revision.
        licence: The licence in a few words; empty if unknown.
        licence_link: Its address; empty if unknown.
    """

    page: str
    commit: str
    licence: str
    licence_link: str

    @classmethod
    def of(cls, repository: Repository, page: str) -> "Origin":
        """Return the origin of what a repository at an address holds."""
        return cls(page, repository.commit, repository.licence, repository.licence_link)

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of a manifest."""
        stated = {"source": self.page, "revision": self.commit, "licenses": self.licence}
        return {f"org.opencontainers.image.{key}": value for key, value in stated.items() if value}


class ManifestDraft:
    """The manifest of a model, and those of its blobs whose contents are known.

    Attributes:
        texts: The contents by digest.
    """

    def __init__(self, origin: Origin, contents: Mapping[str, bytes]) -> None:
        """Begin without layers; `contents` has the bytes of the small files by path."""
        self.texts: dict[str, bytes] = {}
        self._origin = origin
        self._contents = contents
        self._layers: list[dict[str, Any]] = []

    def add(self, kind: str, files: Iterable[RepositoryFile]) -> None:
        """Add files as layers of a media type."""
        self._layers += [self._layer(kind, file) for file in files]

    def add_licences(self, files: Iterable[RepositoryFile]) -> None:
        """Add the files with the licence; without files, what the card of the model says of it."""
        layers = [self._layer(_LICENCE_TYPE, file) for file in files]
        if not layers and self._origin.licence:
            lines = (self._origin.licence, self._origin.licence_link)
            layers = [self._text(_LICENCE_TYPE, "".join(f"{line}\n" for line in lines if line).encode())]
        self._layers += layers

    def finish(self, config: Mapping[str, Any]) -> bytes:
        """Return the bytes of the manifest, with this config blob; the same for the same files."""
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST_TYPE,
            "config": self._text(_CONFIG_TYPE, _compact(config)),
            "layers": self._layers,
            "annotations": self._origin.annotations,
        }
        return _compact(manifest)

    def _layer(self, kind: str, file: RepositoryFile) -> dict[str, Any]:
        if file.small:
            return self._text(kind, self._contents[file.path]) | {"name": file.path}
        return {"mediaType": kind, "digest": f"sha256:{file.sha256}", "size": file.size, "name": file.path}

    def _text(self, kind: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        self.texts[digest] = content
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}


def gguf_config(model: GgufModel, architecture: str) -> dict[str, Any]:
    """Return the config blob of a GGUF model, as Ollama writes it; what is unknown is read from the file."""
    return {
        "model_format": "gguf",
        "model_family": architecture,
        "model_families": [architecture] if architecture else None,
        "model_type": "",
        "file_type": model.quantization,
    }


def _compact(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
