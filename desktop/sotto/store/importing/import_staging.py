"""The staging folder of an import, which keeps finished blobs apart from the store until all of them are there.

It is the folder that a download of the same name would use, with the same lock, so that only one of them works at a
time. `source` says what is imported, and is there as long as the import can be resumed; `journal` has a line for each
finished blob. Blobs are named by their digests once they are complete; before that they have the suffix `.part`.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from sotto.store.atomic_writing import write_atomically
from sotto.store.files import read_all
from sotto.store.importing.import_plan import ImportPlan, compact
from sotto.store.pull.staging import IMPORT_SOURCE, LOCK, Staging
from sotto.store.removal import IMPORTED, delete_unused_blobs
from sotto.store.sources.manifest import Layer, Manifest, parse_manifest
from sotto.store.sources.model_names import ModelName
from sotto.store.upkeep.lock import adding

_JOURNAL = "journal"
# Far more than a line for each layer of the largest manifest.
_LIMIT = 32 << 20


class ImportStaging(Staging):
    """The staging folder of the import of one model."""

    def __init__(self, root: Path, name: ModelName) -> None:
        """Use the store in `root`; `lock` creates the folder."""
        super().__init__(root, name)
        self.manifest_file = self._folder / IMPORTED
        self._source = self._folder / IMPORT_SOURCE
        self._journal = self._folder / _JOURNAL

    @property
    def folder(self) -> Path:
        """The folder."""
        return self._folder

    def is_staged(self) -> bool:
        """Return whether there is an import to resume."""
        return self._source.exists()

    def resume(self, plan: ImportPlan) -> dict[str, Layer]:
        """Prepare the folder for an import, and return the blobs that an earlier run of the same import finished.

        Anything else is deleted: what another import or a download has left, and incomplete blobs.

        Returns:
            For each blob that is there, as far as sizes tell, its layer by the name in the journal.
        """
        source = _identity(plan)
        kept: dict[str, Layer] = {}
        if self.is_staged() and read_all(self._source, _LIMIT, "a note of an import") == source:
            kept = {label: layer for label, layer in self._journalled().items() if self.find_blob(layer)}
        else:
            self._source.unlink(missing_ok=True)
            self._clear(())
            write_atomically(self._source, source)
        self._clear((IMPORT_SOURCE, _JOURNAL, *(f"sha256-{layer.digest}" for layer in kept.values())))
        return kept

    def keep(self, label: str, part: Path, layer: Layer) -> None:
        """Give a complete blob its name, and note it down."""
        part.replace(self.blob_file(layer.digest))
        with self._journal.open("ab") as file:
            file.write(compact([label, layer.digest, layer.size]) + b"\n")

    def finish(self, data: bytes) -> None:
        """Move the blobs and a manifest that names them into the store; then there is nothing to resume.

        Raises:
            BrokenModelError: A blob is missing.
            OSError: A file cannot be moved; the next try finds those already moved.
        """
        manifest = parse_manifest(data, self.target)
        # From now on nobody deletes the blobs that are in the store already.
        with adding(self._root):
            write_atomically(self.manifest_file, data)
        self.install(manifest)
        self._source.unlink()

    def installed(self) -> Manifest | None:
        """Return the manifest of this name in the store, if its blobs are those of the import to resume."""
        manifest = self.stored_manifest()
        if manifest is None or not self.is_staged():
            return None
        digests = {layer.digest for layer in self._journalled().values()}
        return manifest if digests and digests == manifest.blobs.keys() else None

    def done_bytes(self) -> int:
        """Return the size of the blobs that are finished."""
        return sum(layer.size for layer in self._journalled().values())

    def discard(self) -> None:
        """Delete everything staged, and blobs already moved to the store that no other model uses."""
        digests = [layer.digest for layer in self._journalled().values()]
        self._source.unlink(missing_ok=True)
        self._remove()
        delete_unused_blobs(self._root, digests)

    def _journalled(self) -> dict[str, Layer]:
        """Return the layers in the journal by their labels; a line that was cut off does not count."""
        if not self._journal.exists():
            return {}
        layers = {}
        for line in read_all(self._journal, _LIMIT, "a journal of an import").splitlines(keepends=True):
            if line.endswith(b"\n"):
                label, digest, size = json.loads(line)
                layers[label] = Layer("", digest, size, "")
        return layers

    def _clear(self, kept: Iterable[str]) -> None:
        """Delete all files but the lock and those that are named."""
        names = {LOCK, *kept}
        for entry in list(os.scandir(self._folder)):
            if entry.name not in names:
                Path(entry.path).unlink()


def _identity(plan: ImportPlan) -> bytes:
    """Return what says whether two imports are the same, up to their names."""
    files = [[str(path), *facts] for path, facts in sorted(plan.files.items())]
    labels = [[blob.kind, blob.name, blob.size] for blob in plan.blobs]
    return compact(
        {
            "source": str(plan.source),
            "quantization": plan.quantization,
            "adapter": str(plan.adapter or ""),
            "files": files,
            "blobs": labels,
        }
    )
