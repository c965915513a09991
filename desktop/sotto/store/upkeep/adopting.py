"""Adopting models: one of another program becomes one of Sotto's own store, and stays there when the other goes.

Blobs that the store has are shared. Every other file is cloned or linked where the file system can, or else copied, and
its digest is checked before it becomes a blob. The files of the other program are only read.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError, CancelledError, InvalidNameError, StoreError
from sotto.store.adapters.user_adapters import read_user_adapter, save_user_adapter
from sotto.store.atomic_writing import write_atomically
from sotto.store.copying import claimed, require_free
from sotto.store.printable import format_size, printable_path
from sotto.store.pull.disk_room import RESERVE, free_bytes
from sotto.store.records import ModelRecord, Place
from sotto.store.removal import own_store
from sotto.store.sources.manifest import Manifest, parse_manifest
from sotto.store.sources.model_names import DEFAULT_TAG, ModelName, parse_name
from sotto.store.upkeep.foreign_models import ForeignModel, read_foreign
from sotto.store.upkeep.installing import install
from sotto.store.upkeep.linking import Sharing, take
from sotto.store.upkeep.workspaces import workspace
from sotto.store.user_templates import read_user_template, save_user_template

# Another process may delete a blob of the store between looking for it and installing the model, again and again.
_TRIES = 10
_INVALID = re.compile(r"[^A-Za-z0-9_.-]+")

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
    foreign = read_foreign(place)
    root = own_store()
    with claimed(name) as staging:
        if not replacing:
            require_free(staging.target, name)
        with workspace(root) as folder:
            adoption = _Adoption(root, folder, foreign, progress, cancelled)
            manifest = adoption.install(staging.target)
    if manifest.digest != record.digest:
        _take_choices(record.digest, manifest.digest)
    return Adopted(manifest.digest, dict(adoption.bytes_by), adoption.present)


def suggested_name(place: Place) -> str:
    """Return a valid name for a model that is to be adopted, as near as possible to the one that it has."""
    with suppress(InvalidNameError):
        return parse_name(place.name).short
    return f"{_INVALID.sub('-', place.name).strip('-.')[-80:].lstrip('-.') or 'model'}:{DEFAULT_TAG}"


def _take_choices(before: str, digest: str) -> None:
    """Choose for a model what the user chose for the one that it is a copy of."""
    if template := read_user_template(before):
        save_user_template(digest, template)
    if adapter := read_user_adapter(before):
        save_user_adapter(digest, adapter)


class _Adoption:
    """One model on its way into the store in `root`, by way of a workspace."""

    def __init__(
        self, root: Path, folder: Path, foreign: ForeignModel, progress: Progress, cancelled: Callable[[], bool]
    ) -> None:
        self._root, self._folder, self._foreign = root, folder, foreign
        self._progress, self._cancelled = progress, cancelled
        self._sizes = {path: path.stat().st_size for path, _ in foreign.files}
        self._digests = dict(foreign.files)
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
        for path, digest in self._digests.items():
            size = self._sizes[path]
            if digest in self._staged:
                self._read(size)
            elif digest and self._is_present(digest, size):
                self.present += size
                self._read(size)
            else:
                digest = self._stage(path, digest)
            named[path] = digest, size
        self._digests = {path: digest for path, (digest, _) in named.items()}
        return named

    def _is_present(self, digest: str, size: int) -> bool:
        blob = self._root / "blobs" / f"sha256-{digest}"
        return blob.is_file() and blob.stat().st_size == size

    def _stage(self, path: Path, expected: str) -> str:
        """Make a file ours, in the workspace, and return its digest."""
        target = self._folder / "incoming"
        digest, how = take(path, target, self._read, lambda: self._require_room(self._total - self._done))
        if expected and digest != expected:
            raise BrokenModelError(
                f"{printable_path(path)} is damaged: its sha256 is {digest}; download the model again."
            )
        size = self._sizes[path]
        if digest in self._staged:
            target.unlink()
            return digest
        if self._is_present(digest, size):
            target.unlink()
            self.present += size
            return digest
        self.bytes_by[how] += size
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
