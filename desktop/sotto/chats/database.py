"""The file of conversations: opening, migrating and repairing it, so that no fault ends in an empty list.

- Before a file of an older version is migrated, a copy of it is kept beside it.
- A file of a newer version, or one that cannot be written, is only read. Not one byte of a newer one changes.
- The file, and those beside it, can be read by their owner only.
- A damaged file is renamed, and everything that can be read of it is copied into a new one.

A `Notice` tells the user of a newer version, of a file that cannot be written and of a damaged one.
"""

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sotto.chats.salvage import decode_text, salvage_rows
from sotto.chats.schema import STEPS, TABLES, VERSION
from sotto.paths import close_beside, private_file, private_folder

_BUSY_MILLISECONDS = 5000
_RETRY_SECONDS = 0.01
_CONNECTION = (
    f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cell_size_check = ON",
)
_WRITING = (
    "PRAGMA journal_mode = WAL",
    # A question is on the disk, not only in the system's cache, before a model sees it.
    "PRAGMA synchronous = FULL",
)
_MAGIC = b"SQLite format 3\x00"
# Where the file says which version has written it.
_VERSION_BEGINS, _VERSION_ENDS = 60, 64
# What only a damaged file has.
_NO_VERSION = 1 << 16
_BESIDE = ("-wal", "-shm")
_READ_ONLY, _READ_ONLY_ALONE = "?mode=ro", "?mode=ro&immutable=1"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the user should know about the file of conversations.

    Attributes:
        text: One sentence.
        kept: The damaged file that was renamed; None for none.
    """

    text: str
    kept: Path | None = None


class Database:
    """An open file of conversations, for one thread.

    Attributes:
        path: The file.
        connection: In autocommit mode; transactions are explicit.
        refusal: Why nothing can be saved, in one sentence; empty if everything can.
        notices: What the user should know about the file.
    """

    def __init__(self, path: Path) -> None:
        """Open `path`, which need not exist yet and may be damaged."""
        self.path = path
        self.notices: list[Notice] = []
        self.refusal = ""
        self.connection = self._open()

    @property
    def writable(self) -> bool:
        """Whether anything can be saved."""
        return not self.refusal

    @property
    def damaged_files(self) -> list[Path]:
        """The damaged files that were kept, of which more might be read some day."""
        return list(self.path.parent.glob(f"{self.path.stem}.damaged-*"))

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """Return a transaction: all changes inside it are made or none, and are on the disk at its end.

        Raises:
            sqlite3.Error: Nothing was changed.
        """
        return _transaction(self.connection)

    def insert(self, table: str, **values: Any) -> int:
        """Add a row, inside `writing`, and return its number."""
        places = ", ".join("?" * len(values))
        number = self.connection.execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", tuple(values.values())
        ).lastrowid
        assert number is not None
        return number

    def close(self) -> None:
        """Write everything into the one file, and close it."""
        self.connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            private_folder(self.path.parent)
            # SQLite gives the files that it writes beside a database the mode of the database.
            private_file(self.path)
            close_beside(self.path)
            _check_beginning(self.path)
            if self._is_newer():
                return self._newer()
            return self._ready(self._connect())
        except (OSError, sqlite3.OperationalError) as error:
            return self._unwritable(error)
        except sqlite3.DatabaseError:
            return self._renew()

    def _connect(self, *, options: str = "") -> sqlite3.Connection:
        uri = f"{self.path.resolve().as_uri()}{options}"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
        connection.text_factory = decode_text
        try:
            for pragma in _CONNECTION:
                connection.execute(pragma)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _ready(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Check the file, migrate it to this version, and return its connection."""
        try:
            version, empty = _beginning(connection)
            for pragma in _WRITING:
                _set(connection, pragma)
            if not empty:
                _check(connection, version)
            if 0 < version < VERSION:
                self._keep_copy(connection, version)
            _migrate(connection)
            _check_columns(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_newer(self) -> bool:
        """Return whether a newer version has written the file, which is found out without changing anything.

        Raises:
            sqlite3.DatabaseError: The file is damaged, as far as can be seen.
        """
        with self.path.open("rb") as file:
            if VERSION < int.from_bytes(file.read(_VERSION_ENDS)[_VERSION_BEGINS:], "big") < _NO_VERSION:
                return True
        if not self._has_log:
            return False
        with contextlib.closing(self._connect(options=_READ_ONLY)) as connection:
            return _version(connection) > VERSION

    @property
    def _has_log(self) -> bool:
        """Whether a process that was killed has left changes beside the file, which belong to it."""
        log = self.path.with_name(f"{self.path.name}-wal")
        return log.exists() and log.stat().st_size > 0

    def _newer(self) -> sqlite3.Connection:
        """Return a read-only connection to a file of a newer version, or to an empty one if this cannot read it."""
        self.refusal = (
            f"{self.path} was written by a newer version of Sotto: its conversations can be read, and nothing is saved "
            "until that version opens it again."
        )
        try:
            # Otherwise, reading would leave an empty log beside the file.
            connection = self._connect(options=_READ_ONLY if self._has_log else _READ_ONLY_ALONE)
            try:
                _check_columns(connection)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error:
            self.refusal = (
                f"{self.path} was written by a newer version of Sotto, and this one cannot read it: use that version; "
                "the file stays as it is, and nothing is saved."
            )
            connection = _empty()
        self._notice(self.refusal)
        return connection

    def _keep_copy(self, connection: sqlite3.Connection, version: int) -> None:
        kept = self.path.with_name(f"{self.path.stem}.version-{version}{self.path.suffix}")
        partial = kept.with_name(f"{kept.name}.partial")
        partial.unlink(missing_ok=True)
        private_file(partial)
        with contextlib.closing(sqlite3.connect(partial)) as copy:
            connection.backup(copy)
        partial.replace(kept)

    def _renew(self) -> sqlite3.Connection:
        """Rename a damaged file, and return a connection to a new one with everything that can be read of it."""
        kept = self.path.with_name(f"{self.path.stem}.damaged-{_digest(self.path)}{self.path.suffix}")
        for suffix in ("", *_BESIDE):
            part = self.path.with_name(self.path.name + suffix)
            if part.exists():
                part.replace(kept.with_name(kept.name + suffix))
        private_file(self.path)
        connection = self._ready(self._connect())
        with _transaction(connection):
            chats, messages = salvage_rows(kept, connection)
        self._notice(
            f"{self.path} was damaged: {chats} conversations with {messages} messages could be read and are here, and "
            f"the damaged file is kept as {kept}.",
            kept,
        )
        return connection

    def _unwritable(self, error: Exception) -> sqlite3.Connection:
        """Return a read-only connection, for a file that cannot be written."""
        try:
            # In a read-only folder, the log beside the file cannot be written either, so read without one.
            connection = self._connect(options=_READ_ONLY_ALONE)
            version = _version(connection)
            _check(connection, version)
            try:
                _check_columns(connection)
            except sqlite3.DatabaseError:
                connection = _renewed_in_memory(connection)
        except (OSError, sqlite3.Error):
            connection = _empty()
        self.refusal = (
            f"{self.path} cannot be written ({error}): conversations that are there can be read, and nothing is saved; "
            f"allow writing to {self.path.parent} and start Sotto again."
        )
        self._notice(self.refusal)
        return connection

    def _notice(self, text: str, kept: Path | None = None) -> None:
        self.notices.append(Notice(text, kept))


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # Some errors end the transaction themselves.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _set(connection: sqlite3.Connection, pragma: str) -> None:
    """Execute a pragma, retrying while another process writes: SQLite itself does not wait to change the journal."""
    until = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute(pragma)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
        time.sleep(_RETRY_SECONDS)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _check_beginning(path: Path) -> None:
    """Check that a file, if it exists, begins with SQLite's magic: SQLite takes a very short file for a new one.

    Raises:
        sqlite3.DatabaseError: It begins with something else.
    """
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        beginning = file.read(len(_MAGIC))
        if beginning and beginning != _MAGIC:
            raise sqlite3.DatabaseError("file is not a database")


def _check(connection: sqlite3.Connection, version: int) -> None:
    """Check a file that is not new for damage.

    Raises:
        sqlite3.DatabaseError: It is damaged.
    """
    if version < 1:
        raise sqlite3.DatabaseError(f"there is no version {version}")
    found = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found is None or found[0] != "ok":
        raise sqlite3.DatabaseError(found[0] if found else "nothing could be checked")


def _empty() -> sqlite3.Connection:
    """Return a connection to a new file in memory, in which nothing is kept."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _migrate(connection)
    connection.execute("PRAGMA query_only = ON")
    return connection


def _renewed_in_memory(older: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy in memory, migrated to this version, of a file that cannot be written."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.text_factory = decode_text
    with contextlib.closing(older):
        older.backup(copy)
    _migrate(copy)
    _check_columns(copy)
    copy.execute("PRAGMA query_only = ON")
    return copy


def _check_columns(connection: sqlite3.Connection) -> None:
    """Check that a file of this version has all columns.

    Raises:
        sqlite3.DatabaseError: A column is missing.
    """
    for table, columns in TABLES.items():
        # Fails if a column is missing; reads no rows.
        try:
            connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")
        except sqlite3.OperationalError as error:
            raise sqlite3.DatabaseError(str(error)) from error


def _beginning(connection: sqlite3.Connection) -> tuple[int, bool]:
    """Return the version of a file and whether it is empty, at the same moment: another process may create it."""
    connection.execute("BEGIN")
    try:
        return _version(connection), connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    finally:
        connection.execute("COMMIT")


def _migrate(connection: sqlite3.Connection) -> None:
    """Migrate a file to this version: apply all steps that it lacks, or none."""
    if _version(connection) == VERSION:
        return
    with _transaction(connection):
        # Read the version again, now that no other process can change it.
        for step in STEPS[_version(connection) :]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script, as `executescript` would end the transaction."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \n;"):
                yield statement
            statement = ""


def _digest(path: Path) -> str:
    """Return a digest for the name of a damaged file, so that the same one is not kept twice."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
