"""Full-text search over everything that was said, on all branches."""

import re
import sqlite3
from collections.abc import Iterator

from sotto.chats.records import FOUND, Hit, clean

_EXCERPT_WORDS = 12
_WORDS = re.compile(r"\w+", re.UNICODE)


def search(connection: sqlite3.Connection, text: str, most: int = 50) -> tuple[Hit, ...]:
    """Return messages that have all words of `text`, the last one maybe unfinished, the best ones first.

    Conversations in the trash are left out. Nothing in `text` has a meaning of its own.

    Args:
        connection: To the database.
        text: What a person typed.
        most: How many messages to return.
    """
    words = _WORDS.findall(clean(text))
    if not words:
        return ()
    # A word in quotes is a word, whatever it is elsewhere in the language of queries.
    query = " ".join(f'"{word}"' for word in words) + "*"
    return tuple(_hits(connection, query, most))


def titled(connection: sqlite3.Connection, text: str, most: int = 50) -> tuple[int, ...]:
    """Return the conversations whose titles have `text` in them, the last changed first."""
    pattern = re.sub(r"([%_\\])", r"\\\1", clean(text).strip())
    rows = connection.execute(
        "SELECT id FROM chats WHERE trashed IS NULL AND title LIKE ? ESCAPE '\\' ORDER BY changed DESC LIMIT ?",
        (f"%{pattern}%", most),
    )
    return tuple(number for (number,) in rows)


def _hits(connection: sqlite3.Connection, query: str, most: int) -> Iterator[Hit]:
    rows = connection.execute(
        "SELECT messages.chat, messages.id, chats.title, snippet(found, 0, ?, ?, '…', ?) FROM found "
        "JOIN messages ON messages.id = found.rowid JOIN chats ON chats.id = messages.chat "
        "WHERE found MATCH ? AND chats.trashed IS NULL ORDER BY found.rank, messages.id DESC LIMIT ?",
        (*FOUND, _EXCERPT_WORDS, query, most),
    )
    for chat, message, title, excerpt in rows:
        yield Hit(chat, message, str(title), excerpt)
