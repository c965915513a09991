"""The file that conversations are kept in: opened, brought to this version, and never answered by an empty list.

- A version older than this one is kept as a copy beside the file before it is changed.
- A file of a newer version, or one that cannot be written, is read and not written.
- Nobody but its owner can read it, or what lies beside it.
- A damaged file is set aside under a name of its own, and what can be read of it goes into a new one.

Each of these says so once, in a `Notice`.
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
_LOOK_SECONDS = 0.01
_CONNECTION = (
    f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cell_size_check = ON",
)
_WRITING = (
    "PRAGMA journal_mode = WAL",
    # A question is on the disk, and not only with the system, before a model sees it.
    "PRAGMA synchronous = FULL",
)
_MAGIC = b"SQLite format 3\x00"
_BESIDE = ("-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person should know about the file of conversations.

    Attributes:
        text: One sentence.
        kept: The copy that was kept, or the file that was set aside; None for none.
    """

    text: str
    kept: Path | None = None


class Database:
    """An open file of conversations, for one thread.

    Attributes:
        path: The file.
        connection: To it; without transactions of its own making.
        writable: Whether anything can be saved.
        notices: What a person should know about it.
    """

    def __init__(self, path: Path) -> None:
        """Open `path`, which need not exist yet, whatever state it is in."""
        self.path = path
        self.notices: list[Notice] = []
        self.writable = True
        self.connection = self._open()

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """Make several changes, all of them or none, and on the disk at the end.

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
        """Write everything into the one file, and let go of it."""
        self.connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            private_folder(self.path.parent)
            # SQLite gives what it writes beside a file the mode of that.
            private_file(self.path)
            close_beside(self.path)
            _check_beginning(self.path)
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
        """Return a connection to a file of this version, once it is seen to be sound."""
        try:
            version, empty = _beginning(connection)
            if version > VERSION:
                self.writable = False
                self._notice(
                    f"{self.path} was written by a newer version of Sotto: its conversations can be read, and nothing "
                    "is saved until that version opens it again."
                )
                connection.execute("PRAGMA query_only = ON")
                return connection
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

    def _keep_copy(self, connection: sqlite3.Connection, version: int) -> None:
        kept = self.path.with_name(f"{self.path.stem}.version-{version}{self.path.suffix}")
        partial = kept.with_name(f"{kept.name}.partial")
        partial.unlink(missing_ok=True)
        private_file(partial)
        with contextlib.closing(sqlite3.connect(partial)) as copy:
            connection.backup(copy)
        partial.replace(kept)

    def _renew(self) -> sqlite3.Connection:
        """Set a damaged file aside, and return a connection to a new one with what can be read of it."""
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
        """Return a connection to what can be read, where nothing can be written."""
        self.writable = False
        try:
            # Where the folder cannot be written, neither can the log beside the file, so it is read without one.
            connection = self._connect(options="?mode=ro&immutable=1")
            version = _version(connection)
            _check(connection, version)
            try:
                _check_columns(connection)
            except sqlite3.DatabaseError:
                connection = _renewed_in_memory(connection)
        except (OSError, sqlite3.Error):
            connection = sqlite3.connect(":memory:", isolation_level=None)
            _migrate(connection)
        self._notice(
            f"{self.path} cannot be written ({error}): conversations that are there can be read, and nothing is saved; "
            f"allow writing to {self.path.parent} and start Sotto again."
        )
        return connection

    def _notice(self, text: str, kept: Path | None = None) -> None:
        self.notices.append(Notice(text, kept))


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # Some errors have ended the transaction already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _set(connection: sqlite3.Connection, pragma: str) -> None:
    """Execute a pragma; where somebody else writes, SQLite would not wait for him to change the journal."""
    until = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute(pragma)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
        time.sleep(_LOOK_SECONDS)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _check_beginning(path: Path) -> None:
    """See that a file, if there is one, begins as a database does: SQLite takes a very short one for a new one.

    Raises:
        sqlite3.DatabaseError: It begins otherwise.
    """
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        beginning = file.read(len(_MAGIC))
        if beginning and beginning != _MAGIC:
            raise sqlite3.DatabaseError("file is not a database")


def _check(connection: sqlite3.Connection, version: int) -> None:
    """See that a file that is not new is sound.

    Raises:
        sqlite3.DatabaseError: It is not.
    """
    if version < 1:
        raise sqlite3.DatabaseError(f"there is no version {version}")
    found = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found is None or found[0] != "ok":
        raise sqlite3.DatabaseError(found[0] if found else "nothing could be checked")


def _renewed_in_memory(older: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of an older version that is of this one, where the file itself must stay as it is."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.text_factory = decode_text
    with contextlib.closing(older):
        older.backup(copy)
    _migrate(copy)
    _check_columns(copy)
    return copy


def _check_columns(connection: sqlite3.Connection) -> None:
    """See that a file of this version has the columns that are read.

    Raises:
        sqlite3.DatabaseError: It has not.
    """
    for table, columns in TABLES.items():
        # What is selected must be there; nothing is read.
        try:
            connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")
        except sqlite3.OperationalError as error:
            raise sqlite3.DatabaseError(str(error)) from error


def _beginning(connection: sqlite3.Connection) -> tuple[int, bool]:
    """Return the version of a file, and whether it is still empty: of one moment, whoever else is making it."""
    connection.execute("BEGIN")
    try:
        return _version(connection), connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    finally:
        connection.execute("COMMIT")


def _migrate(connection: sqlite3.Connection) -> None:
    """Make a file one of this version: all steps that it lacks, or none."""
    if _version(connection) == VERSION:
        return
    with _transaction(connection):
        # Asked again now that nobody else can be at it.
        for step in STEPS[_version(connection) :]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script: one that is run as a whole would end the transaction."""
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \n;"):
                yield statement
            statement = ""


def _digest(path: Path) -> str:
    """Return what tells one damaged file from another, so that the same one is not set aside twice."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
