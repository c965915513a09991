"""Where a model is gathered until it is whole: a folder of its own inside Sotto's store, but not among its blobs.

The folder is `staging/<host>/<namespace>/<model>/<tag>`. It holds the manifest, which is written first and goes to its
place last, files that are whole and checked under their digest, and files that are not with `.part` behind it. So a
model that is not whole is in no list, whatever happens meanwhile, and what is staged can be removed as one.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sotto.errors import BrokenModelError, InvalidNameError, StoreError
from sotto.paths import make_folder
from sotto.store.atomic_writing import sync_to_disk, write_atomically
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.removal import MANIFEST, STAGING, delete_unused_blobs, remove_empty_folders, staged_manifests
from sotto.store.sources.manifest import MANIFEST_LIMIT, Layer, Manifest, parse_manifest
from sotto.store.sources.model_names import ModelName, name_of_parts
from sotto.store.sources.ollama_layout import OllamaStore

_LOCK = "lock"
# Another process that is done with the folder removes it, and the lock in it.
_TRIES = 100


class Staging:
    """The folder of one model that is being downloaded.

    Attributes:
        manifest_file: Its manifest while it is not whole.
        target: Where the manifest goes.
    """

    def __init__(self, root: Path, name: ModelName) -> None:
        """Use the store in `root`; nothing is there before `lock`."""
        self._root = root
        self._store = OllamaStore(root)
        self._name = name
        self._folder = root.joinpath(STAGING, *name.parts)
        self.manifest_file = self._folder / MANIFEST
        self.target = root.joinpath("manifests", *name.parts)
        self._distrusted: set[str] = set()

    def part(self, digest: str) -> Path:
        """Return the file of a blob that is not whole."""
        return self._folder / f"sha256-{digest}.part"

    def whole(self, digest: str) -> Path:
        """Return the file of a blob that is whole."""
        return self._folder / f"sha256-{digest}"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes out; remove the folder afterwards if nothing was begun in it.

        Raises:
            StoreError: Another process has it.
        """
        handle = next((handle for _ in range(_TRIES) if (handle := self._locked()) is not None), None)
        if handle is None:
            raise StoreError(f"{printable_path(self._folder)} goes away again and again; it should stay.")
        try:
            yield
        finally:
            if not self.is_begun():
                self._remove()
            os.close(handle)

    def begin(self, data: bytes, manifest: Manifest) -> None:
        """Keep a manifest, and of what is staged only what it names."""
        before = self.staged_manifest()
        wanted = {_LOCK, *(path.name for digest in manifest.blobs for path in (self.part(digest), self.whole(digest)))}
        write_atomically(self.manifest_file, data)
        for path in list(self._folder.iterdir()):
            if path.name not in wanted and path != self.manifest_file:
                path.unlink()
        if before is not None and before.digest != manifest.digest:
            delete_unused_blobs(self._root, before.blobs)

    def is_begun(self) -> bool:
        """Return whether something is staged."""
        return _size(self.manifest_file) is not None

    def staged_manifest(self) -> Manifest | None:
        """Return the manifest that is staged, or None if there is none that can be read."""
        return _read(self.manifest_file)

    def stored_manifest(self) -> Manifest | None:
        """Return the manifest that the store has under this name, or None if there is none that can be read."""
        return _read(self.target)

    def here(self, manifest: Manifest) -> int:
        """Return how many bytes of a model are in the store or staged, as far as sizes tell."""
        return sum(self.bytes_of(layer) for layer in manifest.blobs.values())

    def bytes_of(self, layer: Layer) -> int:
        """Return how many bytes of a blob are here."""
        if self.find(layer):
            return layer.size
        return min(_size(self.part(layer.digest)) or 0, layer.size)

    def find(self, layer: Layer) -> Path | None:
        """Return the file of a blob that is whole, staged or in the store; None if there is none of its size."""
        staged = self.whole(layer.digest)
        if _size(staged) == layer.size:
            return staged
        if layer.digest in self._distrusted:
            return None
        with contextlib.suppress(BrokenModelError):
            return self._store.blob(layer)
        return None

    def distrust(self, layer: Layer) -> None:
        """Have a damaged blob of the store replaced; until then it stays where it is."""
        self._distrusted.add(layer.digest)

    def settle(self, manifest: Manifest) -> None:
        """Move everything to its place, the manifest last; from then on the store has the model.

        Blobs of the model that had this name before go, but for those that are still in use.

        Raises:
            BrokenModelError: A blob is missing.
            OSError: Something cannot be moved; what was moved is found there by the next try.
        """
        before = self.stored_manifest()
        blobs = self._root / "blobs"
        make_folder(blobs)
        for digest in manifest.blobs:
            if (path := self.whole(digest)).exists():
                path.chmod(0o644)
                path.replace(blobs / f"sha256-{digest}")
        sync_to_disk(blobs)
        self._store.require_blobs(manifest)
        self.manifest_file.chmod(0o644)
        sync_to_disk(self.manifest_file)
        make_folder(self.target.parent)
        self.manifest_file.replace(self.target)
        sync_to_disk(self.target.parent)
        if before is not None:
            delete_unused_blobs(self._root, before.blobs)

    def discard(self) -> None:
        """Remove everything that is staged, and what of it was already moved and is of no use to another model."""
        manifest = self.staged_manifest()
        self._remove()
        if manifest is not None:
            delete_unused_blobs(self._root, manifest.blobs)

    def _remove(self) -> None:
        # The manifest first: what is left then is nobody's.
        self.manifest_file.unlink(missing_ok=True)
        if self._folder.exists():
            shutil.rmtree(self._folder)
        remove_empty_folders(self._folder.parent, self._root)

    def _locked(self) -> int | None:
        """Return a lock, or None if the folder was removed by another process at the same moment."""
        path = self._folder / _LOCK
        try:
            make_folder(self._folder)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError as error:
            os.close(handle)
            raise StoreError(
                f"Another Sotto is downloading {printable(self._name.short)}; wait until it has done so, or end it."
            ) from error
        except OSError:
            os.close(handle)
            raise
        os.close(handle)
        return None


def unfinished(root: Path, name: ModelName) -> PullProgress | None:
    """Return how far a download is that an earlier run left, as a paused one; None if there is none."""
    staging = Staging(root, name)
    manifest = staging.staged_manifest()
    if manifest is None:
        return None
    total = sum(layer.size for layer in manifest.blobs.values())
    return PullProgress(name.short, PullState.PAUSED, staging.here(manifest), total)


def all_unfinished(root: Path) -> tuple[PullProgress, ...]:
    """Return how far all downloads are that earlier runs left, as paused ones."""
    found = []
    for path in sorted(staged_manifests(root)):
        with contextlib.suppress(InvalidNameError):
            found.append(unfinished(root, name_of_parts(path.parts[-5:-1])))
    return tuple(progress for progress in found if progress)


def _read(path: Path) -> Manifest | None:
    try:
        return parse_manifest(read_all(path, MANIFEST_LIMIT, "a manifest"), path)
    except BrokenModelError:
        # There is none, or one that is listed as broken: it is downloaded anew.
        return None


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        # Whoever opens it hears why.
        return None
