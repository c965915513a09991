"""Carrying out an import: from a plan to a model in the store. A stopped or killed one can be resumed."""

import os
from collections.abc import Callable
from pathlib import Path

from sotto.errors import CancelledError, StoreError
from sotto.store.importing.import_plan import ImportPlan, ImportProgress, ImportState, PlannedBlob, compact
from sotto.store.importing.import_staging import ImportStaging
from sotto.store.importing.writing import Task, Write, copy_blobs
from sotto.store.printable import format_size, printable, printable_path
from sotto.store.pull.disk_room import RESERVE, free_bytes
from sotto.store.removal import require_own_store
from sotto.store.sources.manifest import CONFIG_MEDIA, MANIFEST_MEDIA, MEDIA_PREFIX, Layer
from sotto.store.sources.model_names import ModelName
from sotto.store.upkeep.linking import take
from sotto.store.verify import sha256_of

_CONFIG = "config"


def run_import(
    plan: ImportPlan,
    name: ModelName,
    root: Path,
    *,
    progress: Callable[[ImportProgress], None],
    stop: Callable[[], bool],
    write: Write = copy_blobs,
    replace: bool = False,
) -> None:
    """Import a model into the store in `root`; what an interrupted run of the same import has finished is kept.

    Args:
        plan: What to write.
        name: The name of the new model.
        root: The folder of Sotto's own store.
        progress: Receives the progress, on any thread.
        stop: Polled on any thread; returns whether to stop. What is finished stays staged.
        write: Writes the blobs.
        replace: Whether to replace a model of that name.

    Raises:
        CancelledError: `stop` returned True.
        StoreError: A model has that name, another Sotto is importing or downloading it, or the disk is full.
        BrokenModelError: The source cannot be read any more, or was changed since the plan was made.
    """
    require_own_store(root)
    staging = ImportStaging(root, name)
    try:
        with staging.lock():
            if not replace and staging.target.exists() and staging.installed() is None:
                raise StoreError(
                    f"There is a model {printable(name.short)} already; choose another name, or replace it."
                )
            _Import(plan, staging, root, progress, stop).run(write)
    except OSError as error:
        raise StoreError(f"{printable_path(root)} cannot be written: {error.strerror or error}.") from error


def unfinished_import(root: Path, name: ModelName) -> int | None:
    """Return how many bytes of a model an interrupted import has finished; None if there was none."""
    staging = ImportStaging(root, name)
    return staging.done_bytes() if staging.is_staged() else None


def discard_import(root: Path, name: ModelName) -> None:
    """Delete what an interrupted import has left.

    Raises:
        StoreError: It is running, or a file cannot be deleted.
    """
    require_own_store(root)
    staging = ImportStaging(root, name)
    try:
        with staging.lock():
            if staging.is_staged():
                staging.discard()
    except OSError as error:
        raise StoreError(f"{printable_path(staging.folder)} cannot be deleted: {error.strerror}.") from error


class _Import:
    """One run of an import; it is the watcher of the blobs that are written."""

    def __init__(
        self,
        plan: ImportPlan,
        staging: ImportStaging,
        root: Path,
        progress: Callable[[ImportProgress], None],
        stop: Callable[[], bool],
    ) -> None:
        self._plan = plan
        self._staging = staging
        self._root = root
        self._progress = progress
        self._stop = stop
        config = PlannedBlob("", _CONFIG, (plan.config_bytes,))
        self._blobs = (config, *plan.blobs)
        self._layers: dict[int, Layer] = {}
        self._tasks: dict[int, Task] = {}
        self._done = 0
        self._name = ""
        self._state = ImportState.CHECKING

    def run(self, write: Write) -> None:
        """Do the work."""
        self._require_unchanged()
        kept = self._staging.resume(self._plan)
        self._report()
        for number, blob in enumerate(self._blobs):
            layer = kept.get(_label(number, blob))
            if layer is not None and blob.read_bytes and self._is_intact(layer):
                self._layers[number] = _layer_of(blob, layer.digest)
                self._done += blob.read_bytes
                self._report()
        missing = [number for number in range(len(self._blobs)) if number not in self._layers]
        self._require_room(sum(self._blobs[number].size for number in missing))
        self._state = ImportState.WRITING
        prefix = f"{os.getpid()}"
        self._tasks = {
            number: Task(number, self._blobs[number], self._staging.folder / f"{prefix}-{number}.part")
            for number in missing
        }
        self._report()
        self._share_files()
        write([task for number, task in self._tasks.items() if number not in self._layers], self)
        self._require_unchanged()
        self._staging.finish(self._manifest())
        self._state, self._done = ImportState.DONE, self._plan.read_bytes
        self._report()

    def begun(self, number: int) -> None:
        """Note that a blob was begun."""
        self._name = self._blobs[number].name
        self._report()

    def read(self, count: int) -> None:
        """Count more bytes of the source that were read."""
        if self._stop():
            raise CancelledError("The import was stopped.")
        self._done += count
        self._report()

    def written(self, number: int, digest: str) -> None:
        """Note that a blob is complete."""
        task = self._tasks[number]
        self._layers[number] = layer = _layer_of(task.blob, digest)
        self._staging.keep(_label(number, task.blob), task.path, layer)

    def _share_files(self) -> None:
        """Take over whole files, without copying them if possible."""
        for number, task in self._tasks.items():
            if (file := task.blob.whole_file) is not None:
                self.begun(number)
                self.written(number, take(file, task.path, self.read)[0])

    def _is_intact(self, layer: Layer) -> bool:
        path = self._staging.find_blob(layer)
        return path is not None and sha256_of(path, self._check_stop) == layer.digest

    def _check_stop(self) -> None:
        if self._stop():
            raise CancelledError("The import was stopped.")

    def _require_unchanged(self) -> None:
        for path, facts in self._plan.files.items():
            try:
                status = path.stat()
                same = (status.st_size, status.st_mtime_ns) == facts
            except OSError:
                same = False
            if not same:
                raise StoreError(f"{printable_path(path)} was changed or removed meanwhile; import it again.")

    def _require_room(self, count: int) -> None:
        free = free_bytes(self._root)
        if count + RESERVE > free:
            raise StoreError(
                f"The disk of {printable_path(self._root)} has {format_size(free)} free; the import needs "
                f"{format_size(count)}, and {format_size(RESERVE)} should be left: free some space, then import again."
            )

    def _manifest(self) -> bytes:
        """Return the manifest, with the keys in Ollama's order."""
        entries = [
            {
                "mediaType": CONFIG_MEDIA if number == 0 else MEDIA_PREFIX + layer.kind,
                "digest": f"sha256:{layer.digest}",
                "size": layer.size,
                **({"name": layer.name} if layer.name and number else {}),
            }
            for number, layer in sorted(self._layers.items())
        ]
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST_MEDIA, "config": entries[0], "layers": entries[1:]}
        return compact(manifest) + b"\n"

    def _report(self) -> None:
        self._progress(ImportProgress(self._state, self._done, self._plan.read_bytes, self._name))


def _label(number: int, blob: PlannedBlob) -> str:
    """Return what the journal calls a blob."""
    return f"{number} {blob.kind} {blob.name}"


def _layer_of(blob: PlannedBlob, digest: str) -> Layer:
    return Layer(blob.kind, digest, blob.size, blob.name)
