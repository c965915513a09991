"""Folders in which models are put together, and the step that gives the parts of one their places in the store.

A workspace is a folder below `working` in the store. The process that uses it holds the lock on a file in it, so that
what a process leaves that was killed can be told from what is in use.
"""

import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from sotto.errors import BrokenModelError
from sotto.paths import make_folder
from sotto.store.atomic_writing import sync_to_disk
from sotto.store.files import read_all
from sotto.store.removal import delete_unused_blobs
from sotto.store.sources.manifest import MANIFEST_LIMIT, Manifest, parse_manifest
from sotto.store.sources.ollama_layout import OllamaStore

WORKING = "working"
_LOCK = "lock"


@contextmanager
def workspace(root: Path) -> Iterator[Path]:
    """Yield a new folder on the disk of the store in `root`, which is deleted afterwards.

    Folders of processes that have ended are deleted first.

    Raises:
        OSError: The store cannot be written.
    """
    _delete_abandoned(root / WORKING)
    folder = root / WORKING / uuid.uuid4().hex
    make_folder(folder)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder)
        os.close(handle)
        with suppress(OSError):
            # Others may work beside it.
            folder.parent.rmdir()


def install(root: Path, manifest: Manifest, staged: Mapping[str, Path], manifest_file: Path, target: Path) -> None:
    """Move blobs into a store and then their manifest, so that the model is there as a whole or not at all.

    Blobs of a model that had this name before are deleted unless another manifest names them.

    Args:
        root: The store.
        manifest: The manifest of the model.
        staged: The files that become blobs, by digest, on the disk of the store. The other blobs are there already.
        manifest_file: The file of the manifest, on the same disk.
        target: The path that it gets below `manifests`.

    Raises:
        BrokenModelError: A blob is neither staged nor in the store.
        OSError: A file cannot be moved.
    """
    blobs, store = root / "blobs", OllamaStore(root)
    replaced = _read_if_intact(target)
    make_folder(blobs)
    for digest, path in staged.items():
        path.replace(blobs / f"sha256-{digest}")
    sync_to_disk(blobs)
    store.require_blobs(manifest)
    manifest_file.chmod(0o644)
    sync_to_disk(manifest_file)
    make_folder(target.parent)
    manifest_file.replace(target)
    sync_to_disk(target.parent)
    if replaced is not None:
        delete_unused_blobs(root, replaced.blobs)


def _read_if_intact(path: Path) -> Manifest | None:
    with suppress(BrokenModelError):
        return parse_manifest(read_all(path, MANIFEST_LIMIT, "a manifest"), path)
    return None


def _delete_abandoned(parent: Path) -> None:
    for folder in list(parent.iterdir()) if parent.is_dir() else ():
        if not _is_in_use(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_in_use(folder: Path) -> bool:
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        # Another process may be about to lock it; one that was killed leaves the folder empty.
        return not any(folder.iterdir())
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
