"""The staging folder of a download, which keeps an incomplete model apart from the store's blobs.

The folder is `staging/<host>/<namespace>/<model>/<tag>`. It holds the manifest, which is written first and moved into
the store last; complete, verified blobs named by their digest; and partial blobs, with the suffix `.part`. So an
incomplete model is never listed, whatever happens meanwhile, and all of it can be deleted at once.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from sotto.errors import BrokenModelError, InvalidNameError, StoreError
from sotto.paths import make_folder
from sotto.store.atomic_writing import write_atomically
from sotto.store.printable import printable, printable_path
from sotto.store.pull.model_source import Present
from sotto.store.pull.progress import PullProgress, PullState
from sotto.store.removal import MANIFEST, STAGING, delete_unused_blobs, remove_empty_folders, staged_manifests
from sotto.store.sources.hugging_face_names import wanted_name
from sotto.store.sources.manifest import Layer, Manifest
from sotto.store.sources.model_names import ModelName, name_of_parts
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.upkeep.installing import install, read_if_intact
from sotto.store.upkeep.lock import adding

# The name of the lock in the folder.
LOCK = "lock"
# The name of the file that says what is imported; see `sotto.store.importing.import_staging`.
IMPORT_SOURCE = "source"
# Another process may delete the folder with the lock in it while this one tries to lock it.
_LOCK_TRIES = 100


class Staging:
    """The staging folder of one model.

    Attributes:
        manifest_file: The manifest in the staging folder.
        target: The path of the manifest in the store.
    """

    def __init__(self, root: Path, name: ModelName) -> None:
        """Use the store in `root`; `lock` creates the folder."""
        self._root = root
        self._store = OllamaStore(root)
        self._name = name
        self._folder = root.joinpath(STAGING, *name.parts)
        self.manifest_file = self._folder / MANIFEST
        self.target = root.joinpath("manifests", *name.parts)
        self._distrusted: set[str] = set()

    def partial_file(self, digest: str) -> Path:
        """Return the path of an incomplete blob."""
        return self._folder / f"sha256-{digest}.part"

    def blob_file(self, digest: str) -> Path:
        """Return the path of a complete blob in the staging folder."""
        return self._folder / f"sha256-{digest}"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder against other processes, and delete it afterwards unless there is something to resume.

        Raises:
            StoreError: Another process holds the lock.
        """
        handle = next((handle for _ in range(_LOCK_TRIES) if (handle := self._try_lock()) is not None), None)
        if handle is None:
            raise StoreError(f"{printable_path(self._folder)} keeps disappearing; it should stay.")
        try:
            yield
        finally:
            if not any((self._folder / name).exists() for name in (MANIFEST, IMPORT_SOURCE)):
                self._remove()
            os.close(handle)

    def present(self) -> Present:
        """Return what there is of this model, staged and in the store."""
        manifests = (self.staged_manifest(), self.stored_manifest())
        return Present(tuple(filter(None, manifests)), self.find_blob)

    def begin(self, data: bytes, manifest: Manifest, texts: Mapping[str, bytes] = MappingProxyType({})) -> None:
        """Stage a manifest and those of its blobs that came with it, and delete staged blobs that it does not name."""
        previous = self.staged_manifest()
        names = {
            LOCK,
            *(path.name for digest in manifest.blobs for path in (self.partial_file(digest), self.blob_file(digest))),
        }
        # From now on nobody deletes the blobs that are there.
        with adding(self._root):
            write_atomically(self.manifest_file, data)
        for path in list(self._folder.iterdir()):
            if path.name not in names and path != self.manifest_file:
                path.unlink()
        for digest, text in texts.items():
            if not self.find_blob(manifest.blobs[digest]):
                write_atomically(self.blob_file(digest), text)
        if previous is not None and previous.digest != manifest.digest:
            delete_unused_blobs(self._root, previous.blobs)

    def is_staged(self) -> bool:
        """Return whether a manifest is staged."""
        return _size(self.manifest_file) is not None

    def staged_manifest(self) -> Manifest | None:
        """Return the staged manifest, or None if it is missing or invalid."""
        return read_if_intact(self.manifest_file)

    def stored_manifest(self) -> Manifest | None:
        """Return the manifest of this name in the store, or None if it is missing or invalid."""
        return read_if_intact(self.target)

    def present_bytes(self, manifest: Manifest) -> int:
        """Return how many bytes of a model are in the store or staged, judged by file sizes."""
        return sum(self.present_bytes_of(layer) for layer in manifest.blobs.values())

    def present_bytes_of(self, layer: Layer) -> int:
        """Return how many bytes of a blob are in the store or staged."""
        if self.find_blob(layer):
            return layer.size
        return min(_size(self.partial_file(layer.digest)) or 0, layer.size)

    def find_blob(self, layer: Layer) -> Path | None:
        """Return the path of a complete blob, staged or in the store; None if there is none of the right size."""
        staged = self.blob_file(layer.digest)
        if _size(staged) == layer.size:
            return staged
        if layer.digest in self._distrusted:
            return None
        with contextlib.suppress(BrokenModelError):
            return self._store.blob(layer)
        return None

    def distrust(self, layer: Layer) -> None:
        """Mark a blob of the store as damaged, so that it is downloaded again and replaced."""
        self._distrusted.add(layer.digest)

    def install(self, manifest: Manifest) -> None:
        """Move the staged files into the store, the manifest last.

        Blobs of a model that had this name before are deleted unless another manifest names them.

        Raises:
            BrokenModelError: A blob is missing.
            OSError: A file cannot be moved; the next try finds those already moved.
        """
        staged = {digest: path for digest in manifest.blobs if (path := self.blob_file(digest)).exists()}
        for path in staged.values():
            # A file that is another program's, too, keeps the mode that it has there.
            if path.stat().st_nlink == 1:
                path.chmod(0o644)
        install(self._root, manifest, staged, self.manifest_file, self.target)

    def discard(self) -> None:
        """Delete everything staged, and blobs already moved to the store that no other model uses."""
        manifest = self.staged_manifest()
        self._remove()
        if manifest is not None:
            delete_unused_blobs(self._root, manifest.blobs)

    def _remove(self) -> None:
        # The manifest first, so that an interrupted deletion leaves no download behind.
        self.manifest_file.unlink(missing_ok=True)
        if self._folder.exists():
            shutil.rmtree(self._folder)
        remove_empty_folders(self._folder.parent, self._root)

    def _try_lock(self) -> int | None:
        """Return the handle of the locked file, or None if another process deleted the folder at the same moment."""
        path = self._folder / LOCK
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
                f"Another Sotto is downloading or importing {printable(self._name.short)}; wait until it has finished, "
                "or quit it."
            ) from error
        except OSError:
            os.close(handle)
            raise
        os.close(handle)
        return None


def unfinished_download(root: Path, name: ModelName) -> PullProgress | None:
    """Return the progress of an earlier run's unfinished download, as a paused one; None if there is none."""
    staging = Staging(root, name)
    manifest = staging.staged_manifest()
    if manifest is None:
        return None
    total = sum(layer.size for layer in manifest.blobs.values())
    return PullProgress(wanted_name(name), PullState.PAUSED, staging.present_bytes(manifest), total)


def unfinished_downloads(root: Path) -> tuple[PullProgress, ...]:
    """Return the progress of all unfinished downloads of earlier runs, as paused ones."""
    downloads = []
    for path in sorted(path for path in staged_manifests(root) if path.name == MANIFEST):
        with contextlib.suppress(InvalidNameError):
            downloads.append(unfinished_download(root, name_of_parts(path.parts[-5:-1])))
    return tuple(progress for progress in downloads if progress)


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        # Opening the file raises an error that says why.
        return None
