"""Writing a model that is made from another into Sotto's own store."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError, StoreError
from sotto.store.atomic_writing import sync_to_disk
from sotto.store.creating.layers import Assembly, assemble
from sotto.store.creating.model_base import Base
from sotto.store.creating.modelfile import Modelfile
from sotto.store.printable import format_size, printable, printable_path
from sotto.store.pull.disk_room import RESERVE, free_bytes
from sotto.store.pull.staging import Staging
from sotto.store.removal import lies_inside, own_store, require_own_store
from sotto.store.sources.manifest import Layer, Manifest, parse_manifest
from sotto.store.sources.model_names import ModelName
from sotto.store.sources.ollama_layout import OllamaStore
from sotto.store.upkeep.installing import install
from sotto.store.upkeep.linking import digest_of, share
from sotto.store.upkeep.workspaces import workspace


@dataclass(frozen=True, slots=True)
class Step:
    """What the making of a model is at.

    Attributes:
        status: What is done, in the words of Ollama's API, as its clients look for them.
        digest: The digest of the file that is read or written, 64 hex digits; empty if it has none yet.
        done: Bytes of it that have been read.
        total: Its size in bytes; 0 for a step without one.
    """

    status: str
    digest: str = ""
    done: int = 0
    total: int = 0


Report = Callable[[Step], None]
"""Called with every step, on the thread that works; raises CancelledError to end it."""


def make(name: ModelName, base: Base, model: Modelfile, report: Report) -> Manifest:
    """Write the model that a description makes of its base, in place of any model that has the name.

    Blobs that are in the store are shared. Others become second names of the files where they are, or else copies.

    Args:
        name: The name of the new model.
        base: What it is made from.
        model: What is different.
        report: Called with every step.

    Raises:
        StoreError: A file is damaged, there is no room, the name is being downloaded, or the store cannot be written.
        CancelledError: `report` raised it; nothing remains of the model.
    """
    root = own_store()
    require_own_store(root)
    staging = Staging(root, name)
    if not lies_inside(staging.target, root / "manifests"):
        raise StoreError(f"{printable_path(staging.target)} leads out of Sotto's own store; nothing is written there.")
    assembly = assemble(base, model, lambda done, total: report(Step("reading adapter", "", done, total)))
    manifest = parse_manifest(assembly.manifest, staging.target)
    try:
        with staging.lock(), workspace(root) as folder:
            staged = _gather(OllamaStore(root), folder, manifest, assembly, report)
            report(Step("writing manifest"))
            file = folder / "manifest"
            file.write_bytes(assembly.manifest)
            install(root, manifest, staged, file, staging.target)
    except OSError as error:
        raise StoreError(f"{printable(name.short)} cannot be written: {error.strerror}.") from error
    return manifest


def _gather(
    store: OllamaStore, folder: Path, manifest: Manifest, assembly: Assembly, report: Report
) -> dict[str, Path]:
    """Return those blobs of a model that are not in the store yet, as files in a folder on its disk."""
    missing = {digest: layer for digest, layer in manifest.blobs.items() if not _has(store, layer)}
    for layer in manifest.blobs.values():
        if layer.digest not in missing:
            _keep(store.blob(layer))
            report(Step(f"using existing layer sha256:{layer.digest}", layer.digest))
    staged = {}
    for digest, layer in missing.items():
        report(Step(f"creating new layer sha256:{digest}", digest))
        staged[digest] = folder / f"sha256-{digest}"
        if (content := assembly.contents.get(digest)) is not None:
            staged[digest].write_bytes(content)
            staged[digest].chmod(0o644)
            sync_to_disk(staged[digest])
        else:
            _take(assembly.files[digest], staged[digest], layer, report)
    return staged


def _keep(path: Path) -> None:
    """Make a blob new, so that it is not deleted as one that no model has named for long."""
    with contextlib.suppress(OSError):
        # The time of a file with more names would change in other stores, too.
        if path.stat().st_nlink == 1:
            os.utime(path)


def _has(store: OllamaStore, layer: Layer) -> bool:
    with contextlib.suppress(BrokenModelError):
        return store.blob(layer).is_file()
    return False


def _take(source: Path, target: Path, layer: Layer, report: Report) -> None:
    """Share the bytes of a file, or copy it and compare the copy with its digest."""
    real = Path(os.path.realpath(source))
    # A file that others may not read has to stay as it is, and so cannot be a blob.
    readable = real.stat().st_mode & 0o444 == 0o444
    if readable and share(real, target) is not None:
        return
    if layer.size + RESERVE > (free := free_bytes(target.parent)):
        raise StoreError(
            f"The disk of {printable_path(target.parent)} has {format_size(free)} free, and copying "
            f"{printable_path(source)} needs {format_size(layer.size)} and a reserve of {format_size(RESERVE)}; free "
            "some space first."
        )
    done = 0

    def read(count: int) -> None:
        nonlocal done
        done += count
        report(Step(f"copying sha256:{layer.digest}", layer.digest, done, layer.size))

    if digest_of(real, read, target) != layer.digest:
        target.unlink()
        raise BrokenModelError(
            f"{printable_path(source)} has another digest than its name or its manifest says; download the model again."
        )
