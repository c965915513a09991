"""Chats of Ollama's desktop app, from its database `db.sqlite`.

Source: `app/store/database.go` of Ollama (https://github.com/ollama/ollama), which creates the tables and migrates them
from version 1 to 18. Tables and columns that an older version lacks count as empty. Times are texts, as the driver
go-sqlite3 writes them. What was written last may be in a log beside the file, so both are copied, and only the copy is
opened: the app may be running, and its file is never changed.
"""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sotto.chats.chat_records import Role
from sotto.chats.imports.message_parts import MessageParts
from sotto.chats.imports.message_tree import MOST_MESSAGES, Node, chain
from sotto.chats.imports.untyped_values import between, text_in, time_in
from sotto.chats.whole_chat import Lost, UnreadableChatError, WholeChat
from sotto.images.image_kinds import image_kind

MAGIC = b"SQLite format 3\x00"
_LOG = "-wal"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_NEEDED = {"chats": {"id"}, "messages": {"chat_id", "role", "content"}}
_COLUMNS = {
    "chats": ("id", "title", "created_at"),
    "messages": (
        *("id", "role", "content", "thinking", "model_name", "created_at", "updated_at"),
        *("thinking_time_start", "thinking_time_end"),
    ),
    "attachments": ("filename", "data"),
    "tool_calls": ("function_name",),
}
_LARGEST_ATTACHMENT = 16 * 1000**2
_Row = Mapping[str, Any]


def copy_database(path: Path, folder: Path) -> Path:
    """Copy a database, with the log beside it, into a folder.

    Raises:
        OSError: It cannot be copied.
    """
    copy = folder / "db.sqlite"
    shutil.copyfile(path, copy)
    # The log may disappear at any time, because then its contents are in the file.
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(path.with_name(path.name + _LOG), copy.with_name(copy.name + _LOG))
    return copy


class OllamaApp:
    """Reads a copy of the database."""

    def __init__(self, path: Path) -> None:
        """Open a copy, which this may change.

        Raises:
            sqlite3.Error: It is damaged.
        """
        self._connection = sqlite3.connect(path)
        self._connection.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
            self._columns = {table: self._columns_of(table) for table in _COLUMNS}
        except sqlite3.Error:
            self._connection.close()
            raise

    @property
    def is_recognized(self) -> bool:
        """Whether the database is that of Ollama's app."""
        return all(needed <= self._columns[table] for table, needed in _NEEDED.items())

    def close(self) -> None:
        """Close the copy."""
        self._connection.close()

    def parts(self) -> Iterable[_Row]:
        """Return the rows of all chats.

        Raises:
            sqlite3.Error: The database is damaged.
        """
        return self._rows("chats", "1 = ?", 1)

    def chat(self, part: _Row) -> WholeChat:
        """Return the chat of a row.

        Raises:
            UnreadableChatError: It is damaged, or too large.
        """
        try:
            messages = self._rows("messages", "chat_id = ? ORDER BY id", part["id"])
            nodes = [self._node(message) for message in messages]
        except sqlite3.Error as error:
            raise UnreadableChatError(f"It is damaged: {error}.") from error
        tree = chain(nodes)
        changed = [time_in(message["updated_at"]) or time_in(message["created_at"]) for message in messages]
        models = [message.model for message in tree.messages if message.model]
        return WholeChat(
            title=text_in(part["title"]),
            created=time_in(part["created_at"]),
            changed=max(changed, default=0.0),
            messages=tree.messages,
            leaf=tree.leaf,
            model=models[-1] if models else "",
            images=tree.images,
            lost=tree.lost,
        )

    def _node(self, message: _Row) -> Node:
        role = _ROLES.get(text_in(message["role"]))
        parts = MessageParts(created=time_in(message["created_at"]), model=text_in(message["model_name"]))
        seconds = between(message["thinking_time_start"], message["thinking_time_end"])
        parts.add_thought(text_in(message["thinking"]), seconds)
        parts.add_text(text_in(message["content"]))
        for _ in self._rows("tool_calls", "message_id = ?", message["id"]):
            parts.lose(Lost.TOOL_CALL)
        for file in self._rows("attachments", "message_id = ? ORDER BY id", message["id"]):
            _attach(parts, text_in(file["filename"]), file["data"])
        return Node(str(message["id"]), None, role, parts)

    def _columns_of(self, table: str) -> set[str]:
        return {name for _, name, *_ in self._connection.execute(f"PRAGMA table_info({table})")}

    def _rows(self, table: str, where: str, value: Any) -> list[_Row]:
        """Return rows with all columns that are read; what the table lacks is None."""
        known = self._columns[table]
        if not known:
            return []
        columns = ", ".join(name if name in known else f"NULL AS {name}" for name in _COLUMNS[table])
        found = self._connection.execute(f"SELECT {columns} FROM {table} WHERE {where} LIMIT {MOST_MESSAGES}", (value,))
        return [dict(zip(_COLUMNS[table], row, strict=True)) for row in found]


def _attach(parts: MessageParts, name: str, data: Any) -> None:
    """Add an attached image, or file with its text, or record that it is lost."""
    if isinstance(data, bytes) and image_kind(data) not in ("", "image/svg+xml"):
        parts.attach_image(name, data)
        return
    if not isinstance(data, bytes) or len(data) > _LARGEST_ATTACHMENT or b"\x00" in data:
        parts.lose_file(name)
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        parts.lose_file(name)
    else:
        parts.attach(name, text)
