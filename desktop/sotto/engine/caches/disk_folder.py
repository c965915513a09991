"""One folder of the disk tier: the entries of one model in one layout of caches, and an index of them.

The index saves opening every file when the folder is opened. It is only a cache: what it does not know, or knows in
another size, is read from the files themselves, and it is written anew when it is missing or damaged.

Several processes may have a folder open, each with a shared lock on it. A process that gets an exclusive one is alone,
and then what is left over, of writers that were killed and of conversations whose beginning is gone, is nobody's.
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

_INDEX_LIMIT = 1 << 30
_TABLE = ".table"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry that is on disk.

    Attributes:
        head: What it holds.
        nbytes: Bytes of its file.
        used: When it was last used, in nanoseconds since 1970, as known when the folder was read.
    """

    head: EntryHead
    nbytes: int
    used: int


class Lock:
    """A lock on a folder, which ends with the process at the latest.

    Attributes:
        alone: Whether no other had the folder open when this lock was taken; then nobody gets in before `share`.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder if it is missing and take the lock; OSError where that is not possible."""
        # The process that was alone before may have removed the whole folder between its opening and its locking here.
        while not self._take(folder):
            pass

    def share(self) -> None:
        """Let others in."""
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def release(self) -> None:
        """Give the folder back."""
        os.close(self._file)

    def is_current(self) -> bool:
        """Return whether what is locked is still in the folder; OSError where that cannot be told."""
        try:
            return os.path.samestat(os.fstat(self._file), self._path.stat(follow_symlinks=False))
        except FileNotFoundError:
            return False

    def _take(self, folder: Path) -> bool:
        """Lock the file that is there now, and return whether it still is there then."""
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
    """Return where an entry lies."""
    return folder / f"{id}{SUFFIX}"


def files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield what lies in a folder except its lock, links as links; nothing where there is no folder."""
    try:
        found = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for each in found:
        try:
            if each.name != LOCK:
                yield Path(each.path), each.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue


def is_entry(path: Path, status: os.stat_result) -> bool:
    """Return whether a file is named like an entry."""
    return stat.S_ISREG(status.st_mode) and path.suffix == SUFFIX and is_id(path.stem)


def survey(folder: Path, *, alone: bool) -> tuple[dict[str, StoredEntry], bool]:
    """Return a folder's entries by id, parents before what continues them, and whether its index has just these.

    What is no entry is removed.

    Args:
        folder: The folder; its name is the key that its entries must have.
        alone: Whether files that others may be writing, or be about to continue, can be removed as well.
    """
    found: dict[str, StoredEntry] = {}
    indexed = _read_index(folder)
    for path, status in files(folder):
        if path.name == INDEX or (path.suffix == PARTIAL and not alone):
            continue
        if not is_entry(path, status):
            discard(damage_error(path, "is left over" if path.suffix == PARTIAL else "is none of ours"), path)
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
    return kept, {each.head.id: (each.head, each.nbytes) for each in kept.values()} == indexed


def _connected_entries(folder: Path, found: dict[str, StoredEntry], alone: bool) -> dict[str, StoredEntry]:
    """Return the entries that begin with one that starts at 0; remove the others."""
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
    """Return the file of an index in parts, all but its checksum."""
    heads = [stored.head for stored in entries.values()]
    rows = [[head.parent, head.start, head.end, head.note, entries[head.id].nbytes] for head in heads]
    table = json.dumps({"rows": rows}, separators=(",", ":")).encode()
    tokens = b"".join(head.tokens for head in heads)
    arrays: dict[str, Array] = {_TABLE: ("U8", (len(table),), table), TOKENS: ("U32", (len(tokens) // 4,), tokens)}
    return pack({"format": "sotto-prefix-index", "version": VERSION, "key": folder.name}, arrays)


def _read_index(folder: Path) -> dict[str, tuple[EntryHead, int]]:
    """Return heads and sizes by id as the index has them; nothing, and no index any more, where it cannot be used."""
    path = folder / INDEX
    found = {}
    try:
        header, content = read_verified(path, _INDEX_LIMIT)
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
    """Remove a file and log why; a folder, or what may not be removed, stays."""
    _log.warning("%s It is removed, and computed again when it is needed.", error.message)
    remove(path)


def remove(path: Path) -> bool:
    """Remove a file and return whether it is gone; why it is not is logged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s cannot be removed: %s", printable_path(path), error.strerror)
        return False
    return True
