"""Export of conversations as Markdown, and as JSON with all branches; `own_form` describes the latter."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sotto.chats.chat_records import Chat, Role, Turn, clean, written_content
from sotto.chats.database import Database
from sotto.chats.own_form import CHAT_FIELDS, FORMAT, IMAGE_FORMAT, MESSAGE_FIELDS, VERSION, attachment_in_own_form
from sotto.chats.row_reading import (
    CHAT_COLUMNS,
    MESSAGE_COLUMNS,
    attachments_by_message,
    branch_of,
    chat_of,
    drafted_attachments,
    mapping,
)
from sotto.chats.schema import TABLES


@dataclass(frozen=True, slots=True)
class Names:
    """What an exported conversation calls its author, a model without a name, and itself without a title."""

    user: str = "You"
    model: str = "Model"
    conversation: str = "Conversation"


_NAMES = Names()


def as_markdown(
    database: Database,
    chat: int,
    written_out: Callable[[Turn], str] = lambda turn: written_content(turn.content, lambda picture: picture.name),
    names: Names = _NAMES,
) -> str:
    """Return the branch in view of a conversation as Markdown.

    Args:
        database: The database of the conversation.
        chat: Its number.
        written_out: Returns a turn as Markdown.
        names: What has no name of its own is called.
    """
    row = database.connection.execute(f"SELECT {CHAT_COLUMNS} FROM chats WHERE id = ?", (chat,)).fetchone()
    found = chat_of(row)
    parts = [f"# {' '.join(found.title.split()) or names.conversation}"]
    if found.system:
        parts.append(f"> {found.system}".replace("\n", "\n> "))
    for turn in branch_of(database.connection, chat).turns:
        said = datetime.fromtimestamp(turn.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
        parts += [
            f"## {names.user if turn.role is Role.USER else turn.model or names.model} · {said}",
            written_out(turn),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_json(database: Database, chats: tuple[int, ...] | None = None) -> str:
    """Return conversations with all their branches as JSON; `chats` None means all that are not in the trash."""
    wanted = [_export(database, chat) for chat in _wanted(database, chats)]
    text = json.dumps(
        {"format": FORMAT, "version": VERSION, "chats": wanted},
        ensure_ascii=False,
        indent=1,
    )
    # Options and figures are stored unchecked, and a lone surrogate in them could not be written to a file.
    return clean(text)


def images_in(database: Database, chats: tuple[int, ...] | None = None) -> tuple[str, ...]:
    """Return the digests of the images in conversations, which an export has in front of what `as_json` returns."""
    return tuple(
        dict.fromkeys(
            digest
            for chat in _wanted(database, chats)
            for (digest,) in database.connection.execute(
                "SELECT image FROM attachments WHERE chat = ? AND image <> '' ORDER BY id", (chat.id,)
            )
        )
    )


def image_as_json(data: bytes) -> str:
    """Return an image as an object for an export."""
    return json.dumps({"format": IMAGE_FORMAT, "version": VERSION, "data": base64.b64encode(data).decode()})


def _wanted(database: Database, chats: tuple[int, ...] | None) -> list[Chat]:
    rows = database.connection.execute(f"SELECT {CHAT_COLUMNS} FROM chats WHERE NOT pending ORDER BY id")
    found = [chat_of(row) for row in rows]
    if chats is not None:
        return [chat for chat in found if chat.id in chats]
    return [chat for chat in found if chat.trashed is None]


def _export(database: Database, chat: Chat) -> dict[str, Any]:
    rows = database.connection.execute(f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE chat = ? ORDER BY id", (chat.id,))
    messages = [dict(zip(TABLES["messages"], row, strict=True)) for row in rows]
    # Renumbered, so that they reveal nothing about other conversations.
    numbers = {message["id"]: number for number, message in enumerate(messages)}
    attachments = attachments_by_message(database.connection, chat.id)
    (leaf,) = database.connection.execute("SELECT leaf FROM chats WHERE id = ?", (chat.id,)).fetchone()
    return {
        **{name: getattr(chat, name) for name in CHAT_FIELDS},
        "options": dict(chat.options),
        "leaf": numbers.get(leaf),
        "attachments": [
            attachment_in_own_form(attachment) for attachment in drafted_attachments(database.connection, chat.id)
        ],
        "messages": [
            {
                **{name: message[name] for name in MESSAGE_FIELDS},
                "figures": mapping(message["figures"]),
                "parent": numbers.get(message["parent"]),
                "attachments": [
                    attachment_in_own_form(attachment) for attachment in attachments.get(message["id"], ())
                ],
            }
            for message in messages
        ],
    }
