"""The disk tier's budget over all its folders: least recently used entries are evicted first, leaves before parents."""

import heapq
import logging
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from sotto.engine.caches.disk_file import DamagedEntryError
from sotto.engine.caches.disk_folder import INDEX, LOCK, PARTIAL, Lock, files, is_entry, remove, survey
from sotto.engine.caches.disk_format import is_id, read_head
from sotto.store.printable import printable_path

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of the disk the tier uses.

    Attributes:
        nbytes: Total size of its files in bytes.
        entries: Number of entries.
    """

    nbytes: int
    entries: int


@dataclass(frozen=True, slots=True)
class _File:
    """An entry that could be evicted: `nbytes` is the size of its file, `used` is in nanoseconds since 1970."""

    path: Path
    nbytes: int
    used: int


def folders(root: Path) -> Iterator[Path]:
    """Yield the folders of all keys; nothing if there is no root."""
    try:
        found = sorted(root.iterdir())
    except FileNotFoundError:
        return
    yield from (path for path in found if is_id(path.name) and path.is_dir() and not path.is_symlink())


def usage(root: Path) -> Usage:
    """Return how much all folders under `root` use, including those of other processes.

    Raises:
        OSError: They cannot be read.
    """
    found = [(path, status) for folder in folders(root) for path, status in files(folder)]
    return Usage(sum(status.st_size for _, status in found), sum(is_entry(*file) for file in found))


def wipe(root: Path) -> bool:
    """Remove all entries of all folders, including those of other processes, and return whether all are gone."""
    gone = True
    try:
        for folder in folders(root):
            # The index goes last, because without it another process would have to open every remaining entry.
            for path, _ in sorted(files(folder), key=lambda file: file[0].name == INDEX):
                gone &= remove(path)
            remove_empty(folder)
    except OSError as error:
        _log.warning("%s cannot be emptied: %s", printable_path(root), error.strerror)
        return False
    return gone


def remove_empty(folder: Path) -> None:
    """Remove a folder that holds no entry, unless another process has it open."""
    lock = Lock(folder)
    try:
        left = [path for path, _ in files(folder)]
        if lock.alone and all(path.name == INDEX for path in left):
            for path in [*left, folder / LOCK]:
                path.unlink()
            folder.rmdir()
    finally:
        lock.release()


def tidy(root: Path, own: Path) -> None:
    """Remove leftovers from the folders that nobody has open: unfinished, damaged and foreign files, empty folders."""
    for folder in folders(root):
        if folder == own:
            continue
        lock = Lock(folder)
        try:
            empty = lock.alone and not survey(folder, alone=True)[0]
        finally:
            lock.release()
        if empty:
            remove_empty(folder)


class Budget:
    """The bytes that all folders may use together, and what must stay free on their disk.

    Attributes:
        limit: Bytes for all folders together.
    """

    def __init__(self, own: Path, limit: int, reserve: int, evicted: Callable[[str], None]) -> None:
        """Record the bounds.

        Args:
            own: The folder that is written to; the others are its siblings.
            limit: Bytes for all folders together.
            reserve: Bytes that must stay free on the disk.
            evicted: Called with the id of each entry of `own` that was removed.
        """
        self.limit = limit
        self._own = own
        self._reserve = reserve
        self._evicted = evicted
        self._parents: dict[Path, str] = {}

    def make_room(self, needed: int, parent: str) -> bool:
        """Remove entries until `needed` more bytes can be written, and return whether they can.

        If removing everything possible would not suffice, nothing is removed.

        Args:
            needed: Bytes; 0 to return to the bounds as far as possible.
            parent: The entry that the new one continues; it and its ancestors stay. May be empty.
        """
        entries, total = self._scan()
        free = shutil.disk_usage(self._own).free
        excess = max(total + needed - self.limit, self._reserve + needed - free)
        if excess <= 0:
            return True
        parents = {path: self._parent(path) for path in entries}
        stays = _with_ancestors(self._path(parent), parents)
        removable = sum(entry.nbytes for path, entry in entries.items() if path not in stays)
        if needed and removable < excess:
            return False
        return self._evict(entries, parents, stays, excess)

    def _evict(self, entries: dict[Path, _File], parents: dict[Path, Path], stays: Set[Path], excess: int) -> bool:
        """Remove the least recently used leaves until `excess` bytes are gone; return whether they are.

        Args:
            entries: All entries by path.
            parents: The path of each entry's parent.
            stays: The entries to keep.
            excess: In bytes.
        """
        children = Counter(parents.values())
        leaves = [(entry.used, path) for path, entry in entries.items() if not children[path] and path not in stays]
        heapq.heapify(leaves)
        while excess > 0 and leaves:
            _, path = heapq.heappop(leaves)
            if not remove(path):
                continue
            excess -= entries[path].nbytes
            self._parents.pop(path, None)
            if path.parent == self._own:
                self._evicted(path.stem)
            above = parents[path]
            children[above] -= 1
            if above in entries and not children[above] and above not in stays:
                heapq.heappush(leaves, (entries[above].used, above))
        return excess <= 0

    def _scan(self) -> tuple[dict[Path, _File], int]:
        """Return all entries by path, and the total size in bytes of all files."""
        entries, total = {}, 0
        for folder in folders(self._own.parent):
            for path, status in files(folder):
                total += status.st_size
                if is_entry(path, status):
                    entries[path] = _File(path, status.st_size, status.st_mtime_ns)
        return entries, total

    def _parent(self, path: Path) -> Path:
        """Return the path of an entry's parent; if it has none, a path where there is no entry."""
        if path not in self._parents:
            try:
                self._parents[path] = read_head(path, path.parent.name)[0].parent
            except (OSError, DamagedEntryError) as error:
                _log.warning("An entry of the disk tier cannot be read and is the first to go: %s", error)
                self._parents[path] = ""
        return path.with_stem(self._parents[path] or PARTIAL)

    def _path(self, id: str) -> Path:  # noqa: A002
        return (self._own / (id or PARTIAL)).with_suffix(".safetensors")


def _with_ancestors(path: Path, parents: dict[Path, Path]) -> Set[Path]:
    """Return the path of an entry and of all its ancestors."""
    found = set()
    while path in parents and path not in found:
        found.add(path)
        path = parents[path]
    return found
