"""How much disk space models take up, counting shared files once in the total, and what deleting them frees."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.store.files import is_folder
from sotto.store.gguf.header import is_gguf
from sotto.store.locating import folder_of, store_of
from sotto.store.records import ModelRecord, Source
from sotto.store.removal import manifest_files, own_store, read_manifest
from sotto.store.sources.plain_folders import ModelFolder, gguf_model_files


@dataclass(frozen=True, slots=True)
class DiskUse:
    """The disk space of models, in bytes.

    Attributes:
        models: That of each model with all its copies, by its digest; models on absent disks are left out.
        total: That of all models together.
        freed: What deleting a model of Sotto's own store frees, by its digest: its blobs that no other model names and
            that no other program shares.
    """

    models: Mapping[str, int]
    total: int
    freed: Mapping[str, int]


def disk_use(records: Iterable[ModelRecord]) -> DiskUse:
    """Return how much disk space models take up; files that cannot be read are not counted."""
    sizes: dict[tuple[int, int], int] = {}
    models = {}
    records = tuple(records)
    for record in records:
        if record.present:
            own = dict(_sizes(path for place in record.places for path in _files(place.path)))
            models[record.digest] = sum(own.values())
            sizes |= own
    return DiskUse(models, sum(sizes.values()), _freed(records))


def freed_by_deleting(manifests: Iterable[Path]) -> int:
    """Return what deleting manifests of Sotto's own store together frees once the trash is emptied."""
    return _OwnBlobs().freed_by(set(manifests))


def _freed(records: Iterable[ModelRecord]) -> dict[str, int]:
    own = {record.digest: {place.path for place in record.places if place.source is Source.SOTTO} for record in records}
    own = {digest: paths for digest, paths in own.items() if paths}
    blobs = _OwnBlobs() if own else None
    return {digest: blobs.freed_by(paths) for digest, paths in own.items()} if blobs else {}


class _OwnBlobs:
    """Which blobs of Sotto's own store each manifest names."""

    def __init__(self) -> None:
        """Read all manifests."""
        self._blobs: dict[Path, set[str]] = {}
        self._users: dict[str, set[Path]] = defaultdict(set)
        self._store = own_store()
        # An unreadable manifest may name any blob, so that none is deleted before it is mended.
        self._keeps_all = False
        for path in manifest_files(self._store):
            try:
                self._blobs[path] = set(read_manifest(path).blobs)
            except BrokenModelError:
                self._keeps_all = True
                continue
            for digest in self._blobs[path]:
                self._users[digest].add(path)

    def freed_by(self, manifests: set[Path]) -> int:
        """Return the bytes of the blobs that no other manifest names."""
        if self._keeps_all:
            return 0
        named = {digest for path in manifests for digest in self._blobs.get(path, ())}
        return sum(
            _exclusive_size(self._store / "blobs" / f"sha256-{digest}")
            for digest in named
            if self._users[digest] <= manifests
        )


def _exclusive_size(path: Path) -> int:
    """Return the size of a file that has no other names, else 0."""
    try:
        status = path.stat()
    except OSError:
        return 0
    return status.st_size if status.st_nlink == 1 else 0


def _sizes(paths: Iterable[Path]) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the identity and the size of files; links to one file have the same identity."""
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        yield (status.st_dev, status.st_ino), status.st_size


def _files(path: Path) -> Iterator[Path]:
    """Yield the files of the model at a path: a folder, a GGUF file or a manifest."""
    with suppress(BrokenModelError):
        if is_folder(path):
            yield from _folder_files(folder_of(path))
        elif is_gguf(path):
            yield from gguf_model_files(folder_of(path.parent), path)
        else:
            store = store_of(path)
            for layer in store.read_manifest(path).blobs.values():
                with suppress(BrokenModelError):
                    yield store.blob(layer)


def _folder_files(folder: ModelFolder) -> Iterator[Path]:
    names = list(folder.small_files())
    try:
        names += [weights.name for weights in folder.weight_files()]
    except BrokenModelError:
        # What there is of an incomplete model takes up space, too.
        names += [name for name in folder.names if name.endswith(".safetensors")]
    for name in names:
        with suppress(BrokenModelError):
            yield folder.file(name)
