"""One folder of the disk tier: the entries of one model in one layout of caches, and an index of them.

The index saves opening every file when the folder is opened. It is only a cache: an entry that it does not list, or
lists with another size, is read from its own file. It is rewritten if it is missing or damaged.

Several processes may have a folder open, each with a shared lock on it. A process that gets an exclusive lock is alone.
Only then may it remove what killed writers left behind, and entries whose parent is gone.
"""

import fcntl
import json
import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sotto.engine.caches.disk_file import Array, DamagedEntryError, damage_error, pack, read_verified
from sotto.engine.caches.disk_format import SUFFIX, TOKENS, VERSION, EntryHead, is_id, read_head
from sotto.errors import StoreError
from sotto.paths import private_folder
from sotto.store.bounded_json import parse_object
from sotto.store.printable import printable_path

INDEX, LOCK, PARTIAL = "index", "lock", ".partial"

_MAX_INDEX_BYTES = 1 << 30
_TABLE = ".table"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry that is on disk.

    Attributes:
        head: Which tokens it holds.
        nbytes: Size of its file in bytes.
        used: When it was last used, in nanoseconds since 1970, as of when the folder was read.
    """

    head: EntryHead
    nbytes: int
    used: int


class Lock:
    """A lock on a folder, which ends with the process at the latest.

    Attributes:
        alone: Whether no other process had the folder open when this lock was taken; if so, none can open it before
            `share`.
    """

    def __init__(self, folder: Path) -> None:
        """Create the folder if it is missing, and take the lock.

        Raises:
            OSError: That is not possible.
        """
        # Another process may have removed the whole folder between opening and locking the file here.
        while not self._take(folder):
            pass

    def share(self) -> None:
        """Let other processes open the folder."""
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)

    def is_current(self) -> bool:
        """Return whether the locked file is still in the folder; OSError if that cannot be determined."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat(follow_symlinks=False))
        except FileNotFoundError:
            return False

    def _take(self, folder: Path) -> bool:
        """Lock the lock file, and return whether it is still in the folder afterwards."""
        private_folder(folder)
        self._path = folder / LOCK
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            return False
        try:
            self.alone = self._exclusive()
            if not self.alone:
                fcntl.flock(self._file, fcntl.LOCK_SH)
            current = self.is_current()
        except OSError:
            os.close(self._file)
            raise
        if not current:
            os.close(self._file)
        return current

    def _exclusive(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def entry_path(folder: Path, id: str) -> Path:  # noqa: A002
    """Return the path of an entry's file."""
    return folder / f"{id}{SUFFIX}"


def files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield what is in a folder except its lock, without following links; nothing if there is no folder."""
    try:
        found = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for item in found:
        try:
            if item.name != LOCK:
                yield Path(item.path), item.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue


def is_entry(path: Path, status: os.stat_result) -> bool:
    """Return whether a file is regular and named like an entry."""
    return stat.S_ISREG(status.st_mode) and path.suffix == SUFFIX and is_id(path.stem)


def survey(folder: Path, *, alone: bool) -> tuple[dict[str, StoredEntry], bool]:
    """Return a folder's entries by id, parents before children, and whether its index lists exactly these.

    Everything that is not an entry is removed.

    Args:
        folder: The folder; its name is the key that its entries must have.
        alone: Whether no other process has it open; then unfinished files and entries without a parent are removed too.
    """
    found: dict[str, StoredEntry] = {}
    indexed = _read_index(folder)
    for path, status in files(folder):
        if path.name == INDEX or (path.suffix == PARTIAL and not alone):
            continue
        if not is_entry(path, status):
            discard(damage_error(path, "is left over" if path.suffix == PARTIAL else "is not an entry"), path)
            continue
        head, size = indexed.get(path.stem, (None, 0))
        try:
            if head is None or size != status.st_size:
                head, size = read_head(path, folder.name)
        except FileNotFoundError:
            continue
        except DamagedEntryError as error:
            discard(error, path)
            continue
        except OSError as error:
            _log.warning("%s is left out: %s", printable_path(path), error.strerror)
            continue
        found[head.id] = StoredEntry(head, size, status.st_mtime_ns)
    kept = _connected_entries(folder, found, alone)
    return kept, {entry: (stored.head, stored.nbytes) for entry, stored in kept.items()} == indexed


def _connected_entries(folder: Path, found: dict[str, StoredEntry], alone: bool) -> dict[str, StoredEntry]:
    """Return the entries whose chain of parents reaches token 0; remove the others."""
    kept: dict[str, StoredEntry] = {}
    for id, stored in sorted(found.items(), key=lambda item: item[1].head.start):  # noqa: A001
        parent = kept.get(stored.head.parent)
        if stored.head.start == (parent.head.end if parent else 0):
            kept[id] = stored
        elif parent is not None or alone:
            path = entry_path(folder, id)
            discard(damage_error(path, "continues an entry that is not there"), path)
    return kept


def pack_index(folder: Path, entries: dict[str, StoredEntry]) -> list[memoryview]:
    """Return the parts of an index file except its checksum."""
    heads = [stored.head for stored in entries.values()]
    rows = [[head.parent, head.start, head.end, head.note, entries[head.id].nbytes] for head in heads]
    table = json.dumps({"rows": rows}, separators=(",", ":")).encode()
    tokens = b"".join(head.tokens for head in heads)
    arrays: dict[str, Array] = {_TABLE: ("U8", (len(table),), table), TOKENS: ("U32", (len(tokens) // 4,), tokens)}
    return pack({"format": "sotto-prefix-index", "version": VERSION, "key": folder.name}, arrays)


def _read_index(folder: Path) -> dict[str, tuple[EntryHead, int]]:
    """Return the index's heads and file sizes by id; if it cannot be used, remove it and return nothing."""
    path = folder / INDEX
    found = {}
    try:
        header, content = read_verified(path, _MAX_INDEX_BYTES)
        if header.metadata != {"format": "sotto-prefix-index", "version": VERSION, "key": folder.name}:
            raise ValueError("it was made for another folder or by another version")
        table, tokens = header.tensors[_TABLE], header.tensors[TOKENS]
        packed_tokens, at = bytes(content[tokens.start : tokens.end]), 0
        rows = parse_object(bytes(content[table.start : table.end]), path, strict=True)["rows"]
        for parent, start, end, note, nbytes in rows:
            head = EntryHead(start, end, packed_tokens[at : at + 4 * (end - start)], parent, note)
            at += 4 * (end - start)
            found[head.id] = (head, nbytes)
    except FileNotFoundError:
        return {}
    except (OSError, StoreError, ValueError, TypeError, KeyError, AttributeError) as error:
        discard(damage_error(path, f"cannot be used ({error})"), path)
        return {}
    return found


def discard(error: DamagedEntryError, path: Path) -> None:
    """Remove a file and log why; folders and what cannot be removed stay."""
    _log.warning("%s It is removed, and computed again when it is needed.", error.message)
    remove(path)


def remove(path: Path) -> bool:
    """Remove a file and return whether it is gone; a failure is logged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s cannot be removed: %s", printable_path(path), error.strerror)
        return False
    return True
