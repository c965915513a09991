"""Export of conversations as Markdown, and as JSON with all branches, and import of that JSON."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sotto.chats.chat_records import Attachment, Chat, Role, State, Turn, clean
from sotto.chats.chat_store import attachment_columns
from sotto.chats.database import Database
from sotto.chats.row_reading import (
    CHAT_COLUMNS,
    MESSAGE_COLUMNS,
    attachments_by_message,
    branch_of,
    chat_of,
    drafted_attachments,
    mapping,
    seconds,
)
from sotto.chats.schema import TABLES
from sotto.errors import SottoError

FORMAT, VERSION = "sotto-chats", 1
_INTEGER_LIMIT = 2**63
_NAMES = {Role.USER: "You", Role.ASSISTANT: "Model"}
_CHAT_FIELDS = ("title", "created", "changed", "pinned", "archived", "model", "draft", "system", "trims")
_MESSAGE_FIELDS = ("role", "text", "state", "created", "model")
# Answers that were being written when they were exported are imported as interrupted.
_STATES = frozenset(State) - {State.STREAMING}


class InvalidExportError(SottoError):
    """A file is not an export of conversations, or cannot be read."""


def as_markdown(
    database: Database, chat: int, written_out: Callable[[Turn], str] = lambda turn: turn.content.strip()
) -> str:
    """Return the branch in view of a conversation as Markdown.

    Args:
        database: The database of the conversation.
        chat: Its number.
        written_out: Returns a turn as Markdown.
    """
    row = database.connection.execute(f"SELECT {CHAT_COLUMNS} FROM chats WHERE id = ?", (chat,)).fetchone()
    found = chat_of(row)
    parts = [f"# {' '.join(found.title.split()) or 'Conversation'}"]
    if found.system:
        parts.append(f"> {found.system}".replace("\n", "\n> "))
    for turn in branch_of(database.connection, chat).turns:
        said = datetime.fromtimestamp(turn.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
        parts += [f"## {turn.model or _NAMES[turn.role]} · {said}", written_out(turn)]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_json(database: Database, chats: tuple[int, ...] | None = None) -> str:
    """Return conversations with all their branches as JSON; `chats` None means all that are not in the trash."""
    connection = database.connection
    found = [chat_of(row) for row in connection.execute(f"SELECT {CHAT_COLUMNS} FROM chats ORDER BY id")]
    wanted = (
        [chat for chat in found if chat.id in chats]
        if chats is not None
        else [chat for chat in found if chat.trashed is None]
    )
    text = json.dumps(
        {"format": FORMAT, "version": VERSION, "chats": [_export(database, chat) for chat in wanted]},
        ensure_ascii=False,
        indent=1,
    )
    # Options and figures are stored unchecked, and a lone surrogate in them could not be written to a file.
    return clean(text)


def _export(database: Database, chat: Chat) -> dict[str, Any]:
    rows = database.connection.execute(f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE chat = ? ORDER BY id", (chat.id,))
    messages = [dict(zip(TABLES["messages"], row, strict=True)) for row in rows]
    # Renumbered, so that they reveal nothing about other conversations.
    numbers = {message["id"]: number for number, message in enumerate(messages)}
    attachments = attachments_by_message(database.connection, chat.id)
    (leaf,) = database.connection.execute("SELECT leaf FROM chats WHERE id = ?", (chat.id,)).fetchone()
    return {
        **{name: getattr(chat, name) for name in _CHAT_FIELDS},
        "options": dict(chat.options),
        "leaf": numbers.get(leaf),
        "attachments": [
            attachment_columns(attachment) for attachment in drafted_attachments(database.connection, chat.id)
        ],
        "messages": [
            {
                **{name: message[name] for name in _MESSAGE_FIELDS},
                "figures": mapping(message["figures"]),
                "parent": numbers.get(message["parent"]),
                "attachments": [attachment_columns(attachment) for attachment in attachments.get(message["id"], ())],
            }
            for message in messages
        ],
    }


@dataclass(frozen=True, slots=True)
class _Field:
    """An object of the imported file, and its path in it for error messages."""

    name: str
    values: Mapping[str, Any]

    def get(self, key: str, kind: type | tuple[type, ...], default: Any) -> Any:
        """Return the value of `key`, or `default` if it is missing.

        Raises:
            InvalidExportError: It is not of type `kind`.
        """
        value = self.values.get(key, default)
        # In Python, but not in JSON, a Boolean is also a number.
        if value is not default and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            raise InvalidExportError(f"{self.name}.{key} is {json.dumps(value)[:40]}; it must be {_named(kind)}.")
        return clean(value) if isinstance(value, str) else value

    def number(self, key: str) -> int:
        """Return a count; 0 if it is missing, negative or too large for the database."""
        found: int = self.get(key, int, 0)
        return found if 0 <= found < _INTEGER_LIMIT else 0

    def time(self, key: str) -> float:
        """Return seconds since 1970; 0 if they are missing or out of range."""
        return seconds(self.get(key, (int, float), 0.0))


def import_json(database: Database, text: str) -> tuple[int, ...]:
    """Import all conversations of an export or, on an error, none; return their numbers.

    Raises:
        InvalidExportError: The text is not a valid export; nothing was imported.
    """
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidExportError(f"The file is not JSON ({error}); choose one that Sotto has exported.") from error
    if not isinstance(read, dict) or read.get("format") != FORMAT or not isinstance(read.get("chats"), list):
        raise InvalidExportError(
            f'The file is not an export of Sotto\'s: it must say "format": "{FORMAT}" and have chats.'
        )
    if read.get("version") != VERSION:
        raise InvalidExportError(
            f"The file is of version {json.dumps(read.get('version'))[:40]} of exports, and this Sotto reads version "
            f"{VERSION}: export it again, or use a newer Sotto."
        )
    with database.writing():
        return tuple(_import(database, _object(chat, f"chats[{n}]")) for n, chat in enumerate(read["chats"]))


def _import(database: Database, chat: _Field) -> int:
    number = database.insert(
        "chats",
        title=chat.get("title", str, ""),
        created=chat.time("created"),
        changed=chat.time("changed"),
        pinned=chat.get("pinned", bool, False),
        archived=chat.get("archived", bool, False),
        model=chat.get("model", str, ""),
        draft=chat.get("draft", str, ""),
        system=chat.get("system", str, ""),
        options=json.dumps(chat.get("options", dict, {})),
        trims=chat.get("trims", bool, False),
    )
    _attach(database, number, None, chat)
    placed: list[int] = []
    for index, item in enumerate(chat.get("messages", list, [])):
        message = _object(item, f"{chat.name}.messages[{index}]")
        role, state = message.get("role", str, ""), message.get("state", str, State.COMPLETE.value)
        if role not in set(Role):
            raise InvalidExportError(f"{message.name}.role is {role[:40]!r}; it must be user or assistant.")
        placed.append(
            database.insert(
                "messages",
                chat=number,
                parent=_place(message, "parent", placed),
                role=role,
                text=message.get("text", str, ""),
                state=state if state in _STATES else State.INTERRUPTED.value,
                created=message.time("created"),
                model=message.get("model", str, ""),
                figures=json.dumps(message.get("figures", dict, {})),
            )
        )
        _attach(database, number, placed[-1], message)
    leaf = _place(chat, "leaf", placed)
    database.connection.execute("UPDATE chats SET leaf = ? WHERE id = ?", (leaf, number))
    return number


def _attach(database: Database, chat: int, message: int | None, field: _Field) -> None:
    """Import the attachments of a message, or of the draft if `message` is None."""
    for index, item in enumerate(field.get("attachments", list, [])):
        found = _object(item, f"{field.name}.attachments[{index}]")
        name, text = found.get("name", str, ""), found.get("text", str, "")
        begins, ends, size, tokens = (found.number(key) for key in ("begins", "ends", "size", "tokens"))
        if not begins < ends <= len(text):
            begins, ends = 0, len(text)
        read = Attachment(name, text, size, begins, ends, tokens)
        database.insert("attachments", chat=chat, message=message, **attachment_columns(read))


def _place(field: _Field, key: str, placed: list[int]) -> int | None:
    """Return the number in the database of the earlier message that `key` refers to; None for none."""
    index: int | None = field.get(key, int, None)
    if index is None:
        return None
    if not 0 <= index < len(placed):
        raise InvalidExportError(f"{field.name}.{key} is {index}; it must be the number of a message in front of it.")
    return placed[index]


def _object(value: Any, name: str) -> _Field:
    if not isinstance(value, dict):
        raise InvalidExportError(f"{name} is {json.dumps(value)[:40]}; it must be an object.")
    return _Field(name, value)


def _named(kind: type | tuple[type, ...]) -> str:
    words = {str: "a text", bool: "true or false", dict: "an object", list: "a list", int: "a whole number"}
    return "a number" if isinstance(kind, tuple) else words[kind]
