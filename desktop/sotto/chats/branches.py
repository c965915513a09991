"""Which messages of a conversation are in view, as stored, and the model that answered last."""

import sqlite3

from sotto.chats.chat_records import State

# Puts all ancestors of a message on the branch in view.
_PASS_THROUGH = """
WITH RECURSIVE up (id, parent) AS (
    SELECT id, parent FROM messages WHERE id = ?
    UNION SELECT messages.id, messages.parent FROM messages JOIN up ON messages.id = up.parent
)
UPDATE messages SET viewed = (SELECT up.id FROM up WHERE up.parent = messages.id)
WHERE id IN (SELECT parent FROM up)
"""
# Names the model of the last answer, by number, that did not fail.
_LAST_MODEL = """
UPDATE chats SET model = coalesce((
    SELECT model FROM messages WHERE chat = ? AND model != '' AND state != ? ORDER BY id DESC LIMIT 1
), '')
WHERE id = ?
"""


def end_branch_with(connection: sqlite3.Connection, chat: int, leaf: int | None) -> None:
    """Bring the branch that ends with the message `leaf` into view; None for no message."""
    connection.execute("UPDATE chats SET leaf = ? WHERE id = ?", (leaf, chat))
    if leaf is not None:
        connection.execute(_PASS_THROUGH, (leaf,))


def update_model(connection: sqlite3.Connection, chat: int) -> None:
    """Set the model of a conversation to the last one that answered; one that failed does not count."""
    connection.execute(_LAST_MODEL, (chat, State.FAILED, chat))
