"""Full-text search over everything that was said, on all branches."""

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
    """Return messages that have all words of `text`, the last one maybe unfinished, the best ones first.

    Those in which the words were said come before those that a document with the words is attached to. Nothing in
    `text` has a meaning of its own.

    Args:
        connection: To the database.
        text: What a person typed.
        most: How many messages of either kind to return.
        shelf: Where to look; None for everywhere but the trash.
    """
    words = _WORDS.findall(clean(text))
    if not words:
        return ()
    # A word in quotes is a word, whatever it is elsewhere in the language of queries.
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
    """Return the conversations whose titles have `text` in them, the last changed first; see `search`."""
    pattern = re.sub(r"([%_\\])", r"\\\1", clean(text).strip())
    rows = connection.execute(
        f"SELECT id FROM chats WHERE {_on(shelf)} AND title LIKE ? ESCAPE '\\' ORDER BY changed DESC LIMIT ?",
        (f"%{pattern}%", most),
    )
    return tuple(number for (number,) in rows)


def _on(shelf: Shelf | None) -> str:
    return "chats.trashed IS NULL" if shelf is None else _ON[shelf]
