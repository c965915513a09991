"""Copying everything that can be read of a damaged file of conversations into a new one."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sotto.chats.schema import TABLES


def salvage_rows(damaged: Path, target: sqlite3.Connection) -> tuple[int, int]:
    """Copy every row that can be read, and add conversations for messages that lost theirs.

    Args:
        damaged: The file; its log lies beside it.
        target: A connection to a file of this version, inside a transaction.

    Returns:
        The numbers of conversations and messages that were read.
    """
    target.execute("PRAGMA defer_foreign_keys = ON")
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_open(damaged)) as source:
        for table, wanted in TABLES.items():
            # A file of an older version lacks some columns, and some tables.
            there = {row[1] for row in source.execute(f"PRAGMA table_info({table})")}
            columns = tuple(column for column in wanted if column in there)
            places = ", ".join("?" * len(columns))
            for row in _rows(source, table, columns) if columns else ():
                # A row that violates a constraint is skipped.
                target.execute(f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({places})", row)
    _connect(target)
    counts = [target.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("chats", "messages")]
    return counts[0], counts[1]


def decode_text(raw: bytes) -> str:
    """Decode a text of the database, replacing bytes that are not valid UTF-8."""
    return raw.decode("utf-8", "replace")


def _open(damaged: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{damaged.resolve().as_uri()}?mode=ro", uri=True)
    connection.text_factory = decode_text
    return connection


def _rows(source: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows before the damage, then those after it from the end; some may come twice."""
    for order in ("ASC", "DESC"):
        try:
            yield from source.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id {order}")
        except sqlite3.Error:
            continue
        return


def _connect(target: sqlite3.Connection) -> None:
    """Add missing conversations, and remove references to rows that are lost."""
    target.execute(
        "INSERT OR IGNORE INTO chats (id, created, changed) SELECT chat, min(created), max(created) FROM messages "
        "WHERE chat NOT IN (SELECT id FROM chats) GROUP BY chat"
    )
    target.execute(
        "UPDATE messages SET parent = NULL WHERE parent IS NOT NULL AND parent NOT IN (SELECT id FROM messages)"
    )
    # Attachments are useless without their message.
    target.execute(
        "DELETE FROM attachments WHERE chat NOT IN (SELECT id FROM chats) "
        "OR (message IS NOT NULL AND message NOT IN (SELECT id FROM messages))"
    )
    target.execute("UPDATE chats SET folder = NULL WHERE folder IS NOT NULL AND folder NOT IN (SELECT id FROM folders)")
