"""Adopting models: one of another program becomes one of Sotto's own store, and stays there when the other goes.

Blobs that the store has are shared. Every other file is cloned or linked where the file system can, or else copied, and
its digest is checked before it becomes a blob. The files of the other program are only read.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.errors import BrokenModelError, CancelledError, InvalidNameError, StoreError
from sotto.store.atomic_writing import write_atomically
from sotto.store.copying import claimed, require_free
from sotto.store.files import is_folder, read_all
from sotto.store.gguf.header import is_gguf, read_gguf
from sotto.store.gguf.split_files import read_gguf_files
from sotto.store.locating import folder_of, store_of
from sotto.store.printable import format_size, printable_path
from sotto.store.pull.disk_room import RESERVE, free_bytes
from sotto.store.records import ModelRecord, Place
from sotto.store.removal import own_store
from sotto.store.sources.manifest import MANIFEST_LIMIT, Manifest, parse_manifest
from sotto.store.sources.model_names import DEFAULT_TAG, ModelName, parse_name
from sotto.store.upkeep.installing import install
from sotto.store.upkeep.linking import Sharing, digest_of, share
from sotto.store.upkeep.workspaces import workspace
from sotto.store.user_templates import read_user_template, save_user_template

# Another process may delete a blob of the store between looking for it and installing the model, again and again.
_TRIES = 10
_INVALID = re.compile(r"[^A-Za-z0-9_.-]+")
_MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG_TYPE = "application/vnd.docker.container.image.v1+json"
_GGUF_TYPE = "application/vnd.ollama.image.model"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Adopted:
    """How a model was adopted.

    Attributes:
        digest: The digest of the new model.
        bytes_by: How many bytes of its files became ours in which way.
        present: How many bytes were in the store before.
    """

    digest: str
    bytes_by: Mapping[Sharing, int]
    present: int


def adopt(
    record: ModelRecord,
    place: Place,
    name: ModelName,
    progress: Progress,
    cancelled: Callable[[], bool],
    *,
    replacing: bool = False,
) -> Adopted:
    """Make a model of another program one of Sotto's own store.

    Args:
        record: The model.
        place: Where it is.
        name: The name that it gets.
        progress: Called with the bytes read so far and their total.
        cancelled: Called after every MiB; returns whether to stop.
        replacing: Whether a model that has that name already is replaced.

    Raises:
        CancelledError: `cancelled` returned true; nothing remains of the new model.
        BrokenModelError: A file is missing or damaged.
        StoreError: The model has a form that cannot be adopted, the disk is full, or another model has the name.
    """
    foreign = _read(place)
    root = own_store()
    with claimed(name) as staging:
        if not replacing:
            require_free(staging.target, name)
        with workspace(root) as folder:
            adoption = _Adoption(root, folder, foreign, progress, cancelled)
            manifest = adoption.install(staging.target)
    if manifest.digest != record.digest and (template := read_user_template(record.digest)):
        save_user_template(manifest.digest, template)
    return Adopted(manifest.digest, dict(adoption.bytes_by), adoption.present)


def suggested_name(place: Place) -> str:
    """Return a valid name for a model that is to be adopted, as near as possible to the one that it has."""
    with suppress(InvalidNameError):
        return parse_name(place.name).short
    return f"{_INVALID.sub('-', place.name).strip('-.')[-80:].lstrip('-.') or 'model'}:{DEFAULT_TAG}"


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A model in another store.

    Attributes:
        files: Its files, each with its digest, or an empty string if that is not known.
        manifest: Returns its manifest, given the digest and the size of each file, and the contents of small files that
            it names besides.
    """

    files: tuple[tuple[Path, str], ...]
    manifest: Callable[[Mapping[Path, tuple[str, int]]], tuple[bytes, tuple[bytes, ...]]]


class _Adoption:
    """One model on its way into the store in `root`, by way of a workspace."""

    def __init__(
        self, root: Path, folder: Path, foreign: _Foreign, progress: Progress, cancelled: Callable[[], bool]
    ) -> None:
        self._root, self._folder, self._foreign = root, folder, foreign
        self._progress, self._cancelled = progress, cancelled
        self._sizes = {path: path.stat().st_size for path, _ in foreign.files}
        self._staged: dict[str, Path] = {}
        self._done = self._furthest = 0
        self._total = sum(self._sizes.values())
        self.bytes_by: Counter[Sharing] = Counter()
        self.present = 0

    def install(self, target: Path) -> Manifest:
        """Stage the files and install the model; return its manifest."""
        for attempt in range(1, _TRIES + 1):
            data, texts = self._foreign.manifest(self._stage_files())
            manifest = parse_manifest(data, target)
            for text in texts:
                digest = hashlib.sha256(text).hexdigest()
                self._staged[digest] = self._folder / f"sha256-{digest}"
                write_atomically(self._staged[digest], text)
                self._staged[digest].chmod(0o644)
            file = self._folder / "manifest"
            file.write_bytes(data)
            try:
                install(self._root, manifest, self._staged, file, target)
            except BrokenModelError:
                if attempt == _TRIES:
                    raise
                # A blob that was in the store has been deleted with another model meanwhile.
            else:
                break
        return manifest

    def _stage_files(self) -> dict[Path, tuple[str, int]]:
        """Stage the files that are not in the store, and return the digest and the size of each."""
        self._done = self.present = 0
        named = {}
        for path, digest in self._foreign.files:
            size = self._sizes[path]
            if digest in self._staged:
                self._read(size)
            elif digest and self._is_present(digest, size):
                self.present += size
                self._read(size)
            else:
                digest = self._stage(path, digest)
            named[path] = digest, size
        return named

    def _is_present(self, digest: str, size: int) -> bool:
        blob = self._root / "blobs" / f"sha256-{digest}"
        return blob.is_file() and blob.stat().st_size == size

    def _stage(self, path: Path, expected: str) -> str:
        """Make a file ours, in the workspace, and return its digest."""
        target = self._folder / "incoming"
        how = share(path, target)
        if how is None:
            self._require_room(self._total - self._done)
            digest, how = digest_of(path, self._read, target), Sharing.COPIED
        else:
            digest = digest_of(target, self._read)
        if expected and digest != expected:
            raise BrokenModelError(
                f"{printable_path(path)} is damaged: its sha256 is {digest}; download the model again."
            )
        if how is not Sharing.LINKED:
            # The mode of a linked file is the other program's, too.
            target.chmod(0o644)
        self.bytes_by[how] += self._sizes[path]
        self._staged[digest] = target.rename(self._folder / f"sha256-{digest}")
        return digest

    def _require_room(self, count: int) -> None:
        if count + RESERVE > (free := free_bytes(self._root)):
            raise StoreError(
                f"The disk of {printable_path(self._root)} has {format_size(free)} free; the copy needs "
                f"{format_size(count)}, and {format_size(RESERVE)} should be left: free some space first."
            )

    def _read(self, count: int) -> None:
        if self._cancelled():
            raise CancelledError("Keeping a copy was cancelled.")
        self._done += count
        # It does not fall when some of the files are looked at again.
        self._furthest = min(max(self._furthest, self._done), self._total)
        self._progress(self._furthest, self._total)


def _read(place: Place) -> _Foreign:
    """Return the files of a model.

    Raises:
        StoreError: It is a folder, or one of its files is missing or damaged.
    """
    path = place.path
    if is_folder(path):
        raise StoreError(
            f"{printable_path(path)} is a folder of files that have no digests; `sotto import` makes a model of it."
        )
    return _read_gguf(path) if is_gguf(path) else _read_manifest(path)


def _read_manifest(path: Path) -> _Foreign:
    store = store_of(path)
    manifest = store.read_manifest(path)
    store.require_blobs(manifest)
    data = read_all(path, MANIFEST_LIMIT, "a manifest")
    if parse_manifest(data, path).digest != manifest.digest:
        raise BrokenModelError(f"{printable_path(path)} was changed while it was read; try again.")
    files = tuple((store.blob(layer), layer.digest) for layer in manifest.blobs.values())
    return _Foreign(files, lambda _: (data, ()))


def _read_gguf(path: Path) -> _Foreign:
    folder = folder_of(path.parent)
    files = [folder.file(part.name) for part in folder.gguf_files(path)]
    # A part that is missing is said before any is copied.
    read_gguf_files(files, lambda _: False)
    header = read_gguf(files[0])
    families = [header.architecture] if header.architecture else None
    config = {
        "model_format": "gguf",
        "model_family": header.architecture,
        "model_families": families,
        "model_type": "",
        "file_type": header.quantization or "unknown",
        "capabilities": list(header.capabilities),
        "architecture": "amd64",
        "os": "linux",
    }
    text = json.dumps(config, separators=(",", ":")).encode()

    def manifest(named: Mapping[Path, tuple[str, int]]) -> tuple[bytes, tuple[bytes, ...]]:
        entries = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST_TYPE,
            "config": _entry(_CONFIG_TYPE, hashlib.sha256(text).hexdigest(), len(text)),
            "layers": [_entry(_GGUF_TYPE, *named[file]) for file in files],
        }
        return json.dumps(entries, separators=(",", ":")).encode() + b"\n", (text,)

    return _Foreign(tuple((file, "") for file in files), manifest)


def _entry(media_type: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}
