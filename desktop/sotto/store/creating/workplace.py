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
    parent = root / WORKING
    for left in list(parent.iterdir()) if parent.is_dir() else ():
        _delete_if_abandoned(left)
    folder, handle = _locked_folder(parent)
    try:
        yield folder
    finally:
        _delete(folder)
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


def _locked_folder(parent: Path) -> tuple[Path, int]:
    """Create a folder with a locked file in it; return both."""
    while True:
        folder = parent / uuid.uuid4().hex
        make_folder(folder)
        path = folder / _LOCK
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return folder, handle
        except FileNotFoundError:
            # Another process took it for abandoned before it was locked.
            continue


def _delete_if_abandoned(folder: Path) -> None:
    """Delete a folder whose process has ended, holding its lock, so that no other process begins to use it."""
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        # Its process is about to lock it, or has just deleted it.
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _delete(folder)
    except BlockingIOError:
        return
    finally:
        os.close(handle)


def _delete(folder: Path) -> None:
    """Delete a folder, its lock last, so that what a killed process leaves of it is known as abandoned."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()
    shutil.rmtree(folder)
