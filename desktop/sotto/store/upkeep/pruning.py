"""Pruning Sotto's own store: what no model needs is deleted once it is older than an hour.

That are models in the trash, blobs that no manifest names, and what processes have left that were killed while they put
a model together. Unfinished downloads stay, and so does everything that running processes use.
"""

import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sotto.errors import BrokenModelError, StoreError
from sotto.store.printable import printable_path
from sotto.store.removal import (
    TRASH,
    delete_blob,
    read_manifest,
    remove_empty_folders,
    require_own_store,
    trash_folders,
    used_digests,
)
from sotto.store.upkeep.lock import deleting
from sotto.store.upkeep.workspaces import WORKING, abandoned_workspaces

_log = logging.getLogger(__name__)

GRACE_SECONDS = 3600
_BLOB = re.compile(r"sha256[:-]([0-9a-fA-F]{64})")


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted, or would be.

    Attributes:
        deletions: How many deletions in the trash became final.
        blobs: How many blobs were deleted.
        freed: Bytes of disk space freed.
    """

    deletions: int
    blobs: int
    freed: int


def prune(root: Path, *, whole_trash: bool = False, dry_run: bool = False) -> Pruned:
    """Delete what no model in Sotto's own store needs.

    Args:
        root: The store.
        whole_trash: Whether to erase what was deleted within the last hour, too.
        dry_run: Whether to delete nothing, and to return what would be deleted.

    Raises:
        StoreError: A manifest cannot be read, so that it may name any blob, or a file cannot be deleted.
    """
    require_own_store(root)
    if not root.is_dir():
        return Pruned(0, 0, 0)
    try:
        with deleting(root):
            return _prune(root, time.time() - GRACE_SECONDS, whole_trash=whole_trash, dry_run=dry_run)
    except BrokenModelError as error:
        raise StoreError(
            f"Nothing was pruned, as an unreadable manifest may name any file: {error.message.rstrip('.')}; delete its "
            "model, or download it again."
        ) from error
    except OSError as error:
        raise StoreError(f"{printable_path(root)} cannot be pruned: {error.strerror}.") from error


def prune_regularly(root: Path, ended: threading.Event) -> None:
    """Prune a store now and once an hour, until `ended` is set; failures are logged."""
    while True:
        try:
            prune(root)
        except StoreError as error:
            _log.warning("The store was not pruned: %s", error)
        if ended.wait(GRACE_SECONDS):
            return


def _prune(root: Path, limit: float, *, whole_trash: bool, dry_run: bool) -> Pruned:
    """Delete what last changed before the time `limit`."""
    expired = [folder for folder in trash_folders(root) if whole_trash or folder.stat().st_mtime < limit]
    # Read before anything is deleted, because an unreadable manifest keeps everything.
    kept = used_digests(root, without=expired)
    once_used = {digest for folder in expired for digest in _named_below(folder)}
    blobs = [path for path, digest in _blobs(root) if digest not in kept and (digest in once_used or _old(path, limit))]
    abandoned = [folder for folder in abandoned_workspaces(root) if _old(folder, limit)]
    freed = sum(_size(path) for path in (*blobs, *_files_in(abandoned)))
    if not dry_run:
        for folder in (*expired, *abandoned):
            shutil.rmtree(folder)
        for path in blobs:
            delete_blob(path)
        _remove_empty(root)
    return Pruned(len(expired), len(blobs), freed)


def _blobs(root: Path) -> list[tuple[Path, str]]:
    """Return the blobs of a store with their digests; anything else in their folder belongs to somebody else."""
    folder = root / "blobs"
    if not folder.is_dir():
        return []
    found = ((path, _BLOB.fullmatch(path.name)) for path in sorted(folder.iterdir()))
    return [(path, match[1].lower()) for path, match in found if match and (path.is_symlink() or path.is_file())]


def _named_below(folder: Path) -> set[str]:
    digests: set[str] = set()
    for path in _files_in([folder]):
        # An unreadable manifest that was deleted names nothing any more.
        with suppress(BrokenModelError):
            digests |= read_manifest(path).blobs.keys()
    return digests


def _files_in(folders: Iterable[Path]) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def _old(path: Path, limit: float) -> bool:
    return path.lstat().st_mtime < limit


def _size(path: Path) -> int:
    """Return how many bytes deleting a file frees: none if it has other names."""
    status = path.lstat()
    return status.st_size if status.st_nlink == 1 else 0


def _remove_empty(root: Path) -> None:
    for top in (root / "manifests", root / TRASH, root / WORKING):
        for folder, _, _ in os.walk(top, topdown=False):
            if folder != str(top):
                remove_empty_folders(Path(folder), top)
