"""Rows of the database as values. A row that nobody can read costs that row and nothing else."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.chats.chat_records import Attachment, Branch, Chat, Role, State, Turn
from sotto.chats.schema import TABLES

CHAT_COLUMNS = ", ".join(TABLES["chats"])
MESSAGE_COLUMNS = ", ".join(TABLES["messages"])
ATTACHMENT_COLUMNS = ", ".join(TABLES["attachments"])
# Variables of one statement; SQLite takes at least 999.
_AT_ONCE = 900
_LAST_DATE = 253_402_300_799  # the end of the year 9999


@dataclass(frozen=True, slots=True)
class Versions:
    """Which message follows which in one conversation.

    Attributes:
        parents: What each message follows, oldest message first; None for a first one.
        children: What follows each, oldest first; under None the first ones.
        viewed: What followed each when it was in view last; may be anything.
        leaf: The last message in view, as it is written down.
    """

    parents: Mapping[int, int | None]
    children: Mapping[int | None, Sequence[int]]
    viewed: Mapping[int, Any]
    leaf: int | None

    def end_of(self, message: int) -> int:
        """Return the last message of the branch behind `message` that was in view last."""
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
            # Nobody follows what came later; where that is written, the path ends.
            last = parent if parent is not None and parent < last else None
        return path[::-1]


def chat_of(row: Sequence[Any]) -> Chat:
    """Return a conversation for a row with the columns of `TABLES["chats"]`; what cannot be read has its default."""
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
    """Return an attachment for a row with the columns of `TABLES["attachments"]`; what makes no sense is not said."""
    values = dict(zip(TABLES["attachments"], row, strict=True))
    text = _text(values["text"])
    begins, ends, size, tokens = (
        value if isinstance(value := values[name], int) and not isinstance(value, bool) and value >= 0 else 0
        for name in ("begins", "ends", "size", "tokens")
    )
    if not begins < ends <= len(text):
        begins, ends = 0, len(text)
    return Attachment(_text(values["name"]), text, size, begins, ends, tokens)


def drafted_attachments(connection: sqlite3.Connection, chat: int) -> tuple[Attachment, ...]:
    """Return what is attached to the draft of a conversation."""
    rows = connection.execute(
        f"SELECT {ATTACHMENT_COLUMNS} FROM attachments WHERE chat = ? AND message IS NULL ORDER BY id", (chat,)
    )
    return tuple(attachment_of(row) for row in rows)


def attachments_by_message(connection: sqlite3.Connection, chat: int) -> Mapping[int, tuple[Attachment, ...]]:
    """Return what is attached to the messages of a conversation, by their numbers."""
    found: dict[int, tuple[Attachment, ...]] = {}
    rows = connection.execute(
        f"SELECT message, {ATTACHMENT_COLUMNS} FROM attachments WHERE chat = ? AND message IS NOT NULL ORDER BY id",
        (chat,),
    )
    for message, *row in rows:
        found[message] = (*found.get(message, ()), attachment_of(row))
    return found


def versions_of(connection: sqlite3.Connection, chat: int) -> Versions:
    """Return how the messages of a conversation follow each other."""
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
    """Return what is in view of a conversation."""
    versions = versions_of(connection, chat)
    path = versions.path()
    rows: dict[int, Sequence[Any]] = {}
    for first in range(0, len(path), _AT_ONCE):
        part = path[first : first + _AT_ONCE]
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
    """Return seconds since 1970; 0 for what is no number, or more than there are dates."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= _LAST_DATE else 0.0


def mapping(value: Any) -> Mapping[str, Any]:
    """Return what is kept of options or figures; nothing where that is no JSON object."""
    try:
        found = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
