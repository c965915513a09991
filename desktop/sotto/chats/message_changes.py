"""Changes to the messages of a conversation: edited answers, new conversations from old ones, and deletions.

Each function makes its change whole or not at all, and everything is on the disk when it returns.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.chats.branches import end_branch_with, update_model
from sotto.chats.chat_records import Role, State, clean
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.row_reading import CHAT_COLUMNS, MESSAGE_COLUMNS, chat_of, mapping, versions_of
from sotto.chats.schema import TABLES
from sotto.errors import SottoError

# What stays true of an answer when its text is edited: its format, and how long its thoughts took.
_KEPT_FIGURES = ("format", "thoughts")
_BRANCH = re.compile(r"Branch(?: (\d+))? of ")
_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Deleted:
    """Messages that were deleted, with all that is needed to put them back.

    Attributes:
        chat: The number of their conversation.
        messages: Their rows, oldest first.
        attachments: The rows of their attachments.
        adopted: The messages that followed them, and the deleted message that each of them followed.
        leaf: The last message in view before the deletion.
    """

    chat: int
    messages: tuple[Mapping[str, Any], ...]
    attachments: tuple[Mapping[str, Any], ...]
    adopted: Mapping[int, int]
    leaf: int | None

    def count(self, role: Role) -> int:
        """Return how many of the messages are of an author."""
        return sum(message["role"] == role for message in self.messages)


def edit_answer(store: ChatStore, answer: int, text: str) -> None:
    """Add a version of an answer with another text, and bring it into view.

    Copies of the messages that follow the answer in view follow the new version, so that both versions are complete.
    This ends the edit of the answer; the open edits of the messages that follow move on to the copies.

    Raises:
        SottoError: The answer no longer exists.
    """
    database = store.database
    with database.writing():
        row = _message(database, answer)
        path = versions_of(database.connection, row["chat"]).path()
        following = path[path.index(answer) + 1 :] if answer in path else []
        figures = mapping(row["figures"])
        kept = {name: figures[name] for name in _KEPT_FIGURES if name in figures} | {"edited": True}
        edited = row | {"text": clean(text), "state": State.COMPLETE, "figures": json.dumps(kept), "edit": ""}
        last = _copy(database, [edited, *(_message(database, number) for number in following)], row["parent"])
        for number in (answer, *following):
            database.connection.execute("UPDATE messages SET edit = '' WHERE id = ?", (number,))
        end_branch_with(database.connection, row["chat"], last)


def branch_off(store: ChatStore, message: int) -> int:
    """Begin a conversation with copies of a message and of those before it, and return its number.

    It has the settings and the folder of the old conversation, and none of its drafts and open edits.

    Args:
        store: The conversations.
        message: The last message to copy.

    Raises:
        SottoError: The message no longer exists.
    """
    database = store.database
    with database.writing():
        number = _message(database, message)["chat"]
        before, path = versions_of(database.connection, number).parents, [message]
        # A parent is always older; if the file says otherwise, the path ends.
        while (parent := before.get(path[-1])) is not None and parent < path[-1]:
            path.append(parent)
        row = database.connection.execute(f"SELECT {CHAT_COLUMNS} FROM chats WHERE id = ?", (number,)).fetchone()
        old = chat_of(row)
        values = {"system": old.system, "options": json.dumps(dict(old.options)), "trims": old.trims}
        title, now = _branch_title(old.title, [chat.title for chat in store.chats()]), store.now()
        chat = database.insert("chats", title=title, created=now, changed=now, folder=old.folder, **values)
        rows = [_message(database, number) | {"chat": chat, "edit": ""} for number in reversed(path)]
        end_branch_with(database.connection, chat, _copy(database, rows, None))
        update_model(database.connection, chat)
        return chat


def delete_exchange(store: ChatStore, message: int) -> Deleted:
    """Delete a question and its answers, of which `message` is one.

    What follows them stays, and follows what was before them. An answer without a question, or a question without
    answers, is deleted alone.

    Raises:
        SottoError: The message no longer exists.
    """
    database, connection = store.database, store.database.connection
    with database.writing():
        row = _message(database, message)
        first, chat = _first_of_exchange(database, row), row["chat"]
        versions = versions_of(connection, chat)
        gone = [first["id"], *(number for number in _answers(database, first))]
        followers = {child: number for number in gone for child in versions.children.get(number, ())}
        adopted = {child: parent for child, parent in followers.items() if child not in gone}
        places = ", ".join("?" * len(gone))
        attached = connection.execute(f"SELECT * FROM attachments WHERE message IN ({places}) ORDER BY id", gone)
        names = [column[0] for column in attached.description]
        deleted = Deleted(
            chat,
            tuple(_message(database, number) for number in sorted(gone)),
            tuple(dict(zip(names, values, strict=True)) for values in attached),
            adopted,
            versions.leaf,
        )
        for child in adopted:
            connection.execute("UPDATE messages SET parent = ? WHERE id = ?", (first["parent"], child))
        connection.execute(f"DELETE FROM messages WHERE id IN ({places})", gone)
        left = versions_of(connection, chat)
        leaf = left.leaf
        if leaf not in left.parents:
            # The end of the branch was deleted: another version comes into view, or the end of what was before.
            others = left.children.get(first["parent"], ())
            nearest = min(others, key=lambda other: abs(other - first["id"]), default=None)
            leaf = left.end_of(nearest) if nearest is not None else first["parent"]
        end_branch_with(connection, chat, leaf)
        update_model(connection, chat)
        return deleted


def restore(store: ChatStore, deleted: Deleted) -> None:
    """Put messages back that were deleted; what was written since stays, if need be as another version.

    Raises:
        SottoError: Their conversation no longer exists.
    """
    database, connection = store.database, store.database.connection
    with database.writing():
        if connection.execute("SELECT 1 FROM chats WHERE id = ?", (deleted.chat,)).fetchone() is None:
            raise SottoError("The chat of these messages was deleted meanwhile, so they cannot be put back.")
        # A number is used again only if no message with a higher one was left, so nothing followed the one that had it.
        numbers: dict[int, int] = {}
        for message in deleted.messages:
            free = not _exists(database, message["id"])
            parent = numbers.get(message["parent"], message["parent"])
            known = parent is not None and _exists(database, parent)
            values = {name: value for name, value in message.items() if free or name != "id"}
            numbers[message["id"]] = database.insert("messages", **values | {"parent": parent if known else None})
        for attachment in deleted.attachments:
            values = {name: value for name, value in attachment.items() if name != "id"}
            database.insert("attachments", **values | {"message": numbers[attachment["message"]]})
        for child, parent in deleted.adopted.items():
            connection.execute("UPDATE messages SET parent = ? WHERE id = ?", (numbers[parent], child))
        now = versions_of(connection, deleted.chat)
        leaf = numbers.get(deleted.leaf, now.leaf) if deleted.leaf is not None else now.leaf
        end_branch_with(connection, deleted.chat, leaf)
        update_model(connection, deleted.chat)


def _first_of_exchange(database: Database, row: _Row) -> _Row:
    """Return the question of an answer; the message itself if it is a question, or an answer without one."""
    if row["role"] == Role.ASSISTANT and row["parent"] is not None:
        before = _message(database, row["parent"])
        return before if before["role"] == Role.USER else row
    return row


def _answers(database: Database, first: _Row) -> list[int]:
    """Return the numbers of the answers to a question."""
    if first["role"] != Role.USER:
        return []
    found = database.connection.execute(
        "SELECT id FROM messages WHERE parent = ? AND role = ?", (first["id"], Role.ASSISTANT)
    )
    return [number for (number,) in found]


def _copy(database: Database, rows: Iterable[_Row], parent: int | None) -> int | None:
    """Add copies of messages with their attachments, each after the one before; return the number of the last one."""
    for row in rows:
        values = {name: value for name, value in row.items() if name not in ("id", "viewed")}
        copied = database.insert("messages", **values | {"parent": parent})
        columns = ", ".join(name for name in TABLES["attachments"] if name not in ("id", "chat", "message"))
        database.connection.execute(
            f"INSERT INTO attachments (chat, message, {columns}) SELECT ?, ?, {columns} FROM attachments "
            "WHERE message = ? ORDER BY id",
            (row["chat"], copied, row["id"]),
        )
        parent = copied
    return parent


def _message(database: Database, number: int) -> _Row:
    row = database.connection.execute(f"SELECT {MESSAGE_COLUMNS} FROM messages WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise SottoError("The message is no longer in the chat database, so it cannot be changed.")
    return dict(zip(TABLES["messages"], row, strict=True))


def _exists(database: Database, number: int) -> bool:
    found = database.connection.execute("SELECT 1 FROM messages WHERE id = ?", (number,)).fetchone()
    return found is not None


def _branch_title(title: str, others: Sequence[str]) -> str:
    """Return the title of a branch: `Branch of Rice`, then `Branch 2 of Rice`, also for a branch of a branch."""
    root = _BRANCH.sub("", title, count=1) if _BRANCH.match(title) else title
    taken = [int(match[1] or 1) for other in others if (match := _BRANCH.match(other)) and other[match.end() :] == root]
    number = max(taken, default=0) + 1
    return f"Branch {number} of {root}" if number > 1 else f"Branch of {root}"
