"""Rows of the database as values; a row that cannot be read does not affect the others."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.chats.chat_records import Attachment, Branch, Chat, Role, State, Turn, is_digest
from sotto.chats.schema import TABLES

CHAT_COLUMNS = ", ".join(TABLES["chats"])
MESSAGE_COLUMNS = ", ".join(TABLES["messages"])
ATTACHMENT_COLUMNS = ", ".join(TABLES["attachments"])
# SQLite allows at least 999 variables in a statement.
_MAX_VARIABLES = 900
_LAST_DATE = 253_402_300_799  # the end of the year 9999


@dataclass(frozen=True, slots=True)
class Versions:
    """The tree of messages of a conversation.

    Attributes:
        parents: The parent of each message, oldest message first; None for a first message.
        children: The children of each message, oldest first; the first messages under None.
        viewed: The child of each message that was last in view, as stored; may be any value.
        leaf: The last message in view, as stored.
    """

    parents: Mapping[int, int | None]
    children: Mapping[int | None, Sequence[int]]
    viewed: Mapping[int, Any]
    leaf: int | None

    def end_of(self, message: int) -> int:
        """Return the last message of the branch after `message` that was last in view."""
        last = message
        while following := [child for child in self.children.get(last, ()) if child > last]:
            last = self.viewed[last] if self.viewed[last] in following else following[-1]
        return last

    def path(self) -> list[int]:
        """Return the messages in view, the first one first."""
        last = self.leaf if self.leaf in self.parents else max(self.parents, default=None)
        path: list[int] = []
        while last is not None and last in self.parents:
            path.append(last)
            parent = self.parents[last]
            # A parent is always older; if the file says otherwise, the path ends.
            last = parent if parent is not None and parent < last else None
        return path[::-1]


def chat_of(row: Sequence[Any]) -> Chat:
    """Return the conversation of a row with the columns of `TABLES["chats"]`; invalid values become defaults."""
    values = dict(zip(TABLES["chats"], row, strict=True))
    return Chat(
        id=values["id"],
        title=_text(values["title"]),
        created=seconds(values["created"]),
        changed=seconds(values["changed"]),
        folder=values["folder"] if isinstance(values["folder"], int) else None,
        pinned=bool(values["pinned"]),
        archived=bool(values["archived"]),
        trashed=None if values["trashed"] is None else seconds(values["trashed"]),
        model=_text(values["model"]),
        draft=_text(values["draft"]),
        system=_text(values["system"]),
        options=mapping(values["options"]),
        trims=bool(values["trims"]),
    )


def attachment_of(row: Sequence[Any]) -> Attachment:
    """Return the attachment of a row with the columns of `TABLES["attachments"]`; invalid values become defaults."""
    values = dict(zip(TABLES["attachments"], row, strict=True))
    text = _text(values["text"])
    begins, ends, size, tokens = (
        value if isinstance(value := values[name], int) and not isinstance(value, bool) and value >= 0 else 0
        for name in ("begins", "ends", "size", "tokens")
    )
    if not begins < ends <= len(text):
        begins, ends = 0, len(text)
    image = values["image"] if is_digest(values["image"]) else ""
    return Attachment(_text(values["name"]), text, size, begins, ends, tokens, image)


def drafted_attachments(connection: sqlite3.Connection, chat: int) -> tuple[Attachment, ...]:
    """Return the attachments of a conversation's draft."""
    rows = connection.execute(
        f"SELECT {ATTACHMENT_COLUMNS} FROM attachments WHERE chat = ? AND message IS NULL ORDER BY id", (chat,)
    )
    return tuple(attachment_of(row) for row in rows)


def attachments_by_message(connection: sqlite3.Connection, chat: int) -> Mapping[int, tuple[Attachment, ...]]:
    """Return the attachments of a conversation's messages, by the number of the message."""
    found: dict[int, tuple[Attachment, ...]] = {}
    rows = connection.execute(
        f"SELECT message, {ATTACHMENT_COLUMNS} FROM attachments WHERE chat = ? AND message IS NOT NULL ORDER BY id",
        (chat,),
    )
    for message, *row in rows:
        found[message] = (*found.get(message, ()), attachment_of(row))
    return found


def versions_of(connection: sqlite3.Connection, chat: int) -> Versions:
    """Return the tree of messages of a conversation."""
    parents: dict[int, int | None] = {}
    children: dict[int | None, list[int]] = {}
    viewed: dict[int, Any] = {}
    rows = connection.execute("SELECT id, parent, viewed FROM messages WHERE chat = ? ORDER BY id", (chat,))
    for number, parent, following in rows:
        viewed[number] = following
        parents[number] = parent if isinstance(parent, int) else None
        children.setdefault(parents[number], []).append(number)
    row = connection.execute("SELECT leaf FROM chats WHERE id = ?", (chat,)).fetchone()
    return Versions(parents, children, viewed, row[0] if row and isinstance(row[0], int) else None)


def branch_of(connection: sqlite3.Connection, chat: int) -> Branch:
    """Return the branch of a conversation that is in view."""
    versions = versions_of(connection, chat)
    path = versions.path()
    rows: dict[int, Sequence[Any]] = {}
    for first in range(0, len(path), _MAX_VARIABLES):
        part = path[first : first + _MAX_VARIABLES]
        places = ", ".join("?" * len(part))
        for row in connection.execute(f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE id IN ({places})", part):
            rows[row[0]] = row
    attached = attachments_by_message(connection, chat)
    turns = [_turn_of(rows[number], versions, attached.get(number, ())) for number in path]
    return Branch(tuple(turn for turn in turns if turn is not None), turns.count(None))


def _turn_of(row: Sequence[Any], versions: Versions, attachments: tuple[Attachment, ...]) -> Turn | None:
    values = dict(zip(TABLES["messages"], row, strict=True))
    try:
        role, state = Role(values["role"]), State(values["state"])
    except ValueError:
        return None
    if not isinstance(values["text"], str):
        return None
    parent = versions.parents[values["id"]]
    return Turn(
        id=values["id"],
        parent=parent,
        role=role,
        text=values["text"],
        state=state,
        created=seconds(values["created"]),
        model=_text(values["model"]),
        figures=mapping(values["figures"]),
        versions=tuple(versions.children[parent]),
        attachments=attachments,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def seconds(value: Any) -> float:
    """Return seconds since 1970; 0 if `value` is not a number or out of range."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= _LAST_DATE else 0.0


def mapping(value: Any) -> Mapping[str, Any]:
    """Parse stored options or figures; return an empty mapping if they are not a JSON object."""
    try:
        found = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
