"""Conversations that an import is adding: they are in no list before it is complete, and are erased if it does not end.

So a conversation with a lot of text can be added, and erased, in several short steps.
"""

from collections.abc import Sequence

from sotto.chats.chat_records import Attachment
from sotto.chats.database import Database

STEP = 100_000
"""The cost of a step: about a twentieth of a second, mostly for indexing so much text."""
# What a message costs besides its text, in characters.
_ROW = 200
_NEWEST = "SELECT id FROM chats WHERE pending ORDER BY id DESC LIMIT 1"
# The last message of a conversation: messages take those that follow them along.
_LAST = """
SELECT id, length(text) + (SELECT total(length(text)) FROM attachments WHERE message = messages.id) FROM messages
WHERE chat = ? ORDER BY id DESC LIMIT 1
"""


def text_cost(text: str, attachments: Sequence[Attachment]) -> int:
    """Return what it costs to add, compare or erase a message or a draft."""
    # An image is written to a file of its own, which takes as long as much text.
    return _ROW + len(text) + sum(STEP if each.image else len(each.text) for each in attachments)


def show(database: Database, chats: Sequence[int]) -> None:
    """Let conversations appear in the lists, inside a transaction."""
    database.connection.executemany("UPDATE chats SET pending = 0 WHERE id = ?", [(chat,) for chat in chats])


def erase_some(database: Database) -> bool:
    """Erase as much of the pending conversations as fits into a step; return whether any of them is left.

    Raises:
        sqlite3.Error: Nothing of this step was erased.
    """
    connection, left = database.connection, STEP
    if (chat := connection.execute(_NEWEST).fetchone()) is None:
        return False
    with database.writing():
        while chat is not None and left > 0:
            last = connection.execute(_LAST, chat).fetchone()
            if last is None:
                connection.execute("DELETE FROM chats WHERE id = ?", chat)
                chat, left = connection.execute(_NEWEST).fetchone(), left - _ROW
            else:
                message, length = last
                connection.execute("DELETE FROM messages WHERE id = ?", (message,))
                left -= _ROW + int(length)
    return chat is not None
