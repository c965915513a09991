"""Full-text search over all messages and attachments, on all branches."""

import re
import sqlite3

from sotto.chats.chat_records import FOUND, Hit, Shelf, clean

_EXCERPT_WORDS = 12
_WORDS = re.compile(r"\w+", re.UNICODE)
_ON = {
    Shelf.CURRENT: "chats.trashed IS NULL AND NOT chats.archived",
    Shelf.ARCHIVED: "chats.trashed IS NULL AND chats.archived",
    Shelf.TRASH: "chats.trashed IS NOT NULL",
}
_SAID = """
SELECT messages.chat, messages.id, chats.title, snippet(found, 0, ?, ?, '…', ?) FROM found
JOIN messages ON messages.id = found.rowid JOIN chats ON chats.id = messages.chat
WHERE found MATCH ? AND {on} ORDER BY found.rank, messages.id DESC LIMIT ?
"""
_ATTACHED = """
SELECT attachments.chat, attachments.message, chats.title, snippet(found_attached, -1, ?, ?, '…', ?)
FROM found_attached JOIN attachments ON attachments.id = found_attached.rowid JOIN chats ON chats.id = attachments.chat
WHERE found_attached MATCH ? AND {on} ORDER BY found_attached.rank, attachments.id DESC LIMIT ?
"""


def search(connection: sqlite3.Connection, text: str, most: int = 50, shelf: Shelf | None = None) -> tuple[Hit, ...]:
    """Return the messages that contain all words of `text`, the last of which may be unfinished; best matches first.

    Matches in messages come before those in attachments. `text` has no query syntax.

    Args:
        connection: To the database.
        text: The words as typed.
        most: Maximum number of matches in messages, and in attachments.
        shelf: Where to search; None for everywhere but the trash.
    """
    words = _WORDS.findall(clean(text))
    if not words:
        return ()
    # Quoted, so that no word is an operator of FTS5.
    query = " ".join(f'"{word}"' for word in words) + "*"
    return tuple(
        Hit(chat, message, str(title), excerpt)
        for looking in (_SAID, _ATTACHED)
        for chat, message, title, excerpt in connection.execute(
            looking.format(on=_on(shelf)), (*FOUND, _EXCERPT_WORDS, query, most)
        )
    )


def search_titles(
    connection: sqlite3.Connection, text: str, most: int = 50, shelf: Shelf | None = None
) -> tuple[int, ...]:
    """Return the conversations whose titles contain `text`, last changed first; see `search`."""
    pattern = re.sub(r"([%_\\])", r"\\\1", clean(text).strip())
    rows = connection.execute(
        f"SELECT id FROM chats WHERE {_on(shelf)} AND title LIKE ? ESCAPE '\\' ORDER BY changed DESC LIMIT ?",
        (f"%{pattern}%", most),
    )
    return tuple(number for (number,) in rows)


def _on(shelf: Shelf | None) -> str:
    return f"NOT chats.pending AND {'chats.trashed IS NULL' if shelf is None else _ON[shelf]}"
