"""Adding imported conversations to the database, all of them or none, and none twice.

A conversation is already there if one with the same time of creation, which is not in the trash, begins with the same
message. Then only the messages that it lacks are added, as further branches: so a later export of the same
conversations brings what is new in them, and nothing is doubled.
"""

import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sotto.chats.chat_records import Role, clean, title_from
from sotto.chats.database import Database
from sotto.chats.own_form import attachment_in_own_form
from sotto.chats.whole_chat import Lost, WholeChat, WholeMessage

_NO_TITLE = "Imported chat"
# The numbers of messages by what they follow, their author and their text.
_Known = defaultdict[tuple[int | None, str, str], deque[int]]


@dataclass
class Added:
    """What an import has added.

    Attributes:
        new: Numbers of the conversations that were not there before.
        grown: Numbers of those that were there, and have got further messages.
        known: How many were there already, with all their messages.
        lost: What could not be kept of the new and grown ones, and how often.
    """

    new: list[int] = field(default_factory=list)
    grown: list[int] = field(default_factory=list)
    known: int = 0
    lost: Counter[Lost] = field(default_factory=Counter)


def add_chats(
    database: Database, chats: Iterable[WholeChat], progress: Callable[[int], None] = lambda done: None
) -> Added:
    """Add conversations.

    Args:
        database: The database of conversations.
        chats: The conversations; an error while they are read leaves the database as it was.
        progress: Called with the number of conversations so far; an error that it raises stops the import.

    Raises:
        sqlite3.Error: Nothing was added.
    """
    added = Added()
    with database.writing():
        adding = _Adding(database)
        for number, chat in enumerate(chats, 1):
            adding.add(chat, added)
            progress(number)
    return added


class _Adding:
    """Adds conversations, inside a transaction."""

    def __init__(self, database: Database) -> None:
        """Look up what is there."""
        self._database = database
        self._by_time: dict[float, list[int]] = defaultdict(list)
        for number, created in database.connection.execute("SELECT id, created FROM chats WHERE trashed IS NULL"):
            self._by_time[created].append(number)

    def add(self, chat: WholeChat, added: Added) -> None:
        """Add a conversation, or what is new in it, and record that in `added`."""
        for number in self._by_time.get(chat.created, ()) if chat.created else ():
            messages = self._messages(number)
            if _is_same(chat, messages):
                fresh = self._add_messages(number, chat, messages)
                if not fresh:
                    added.known += 1
                    return
                added.grown.append(number)
                added.lost += chat.lost
                return
        number = self._begin(chat)
        self._add_messages(number, chat, defaultdict(deque))
        self._by_time[chat.created].append(number)
        added.new.append(number)
        added.lost += chat.lost

    def _messages(self, chat: int) -> "_Known":
        known: _Known = defaultdict(deque)
        rows = self._database.connection.execute(
            "SELECT id, parent, role, text FROM messages WHERE chat = ? ORDER BY id", (chat,)
        )
        for number, parent, role, text in rows:
            known[parent, role, text].append(number)
        return known

    def _begin(self, chat: WholeChat) -> int:
        number = self._database.insert(
            "chats",
            title=clean(chat.title) or (_title(chat) if chat.messages else ""),
            created=chat.created or time.time(),
            changed=chat.changed or chat.created or time.time(),
            pinned=chat.pinned,
            archived=chat.archived,
            model=clean(chat.model),
            draft=clean(chat.draft),
            system=clean(chat.system),
            options=json.dumps(chat.options),
            trims=chat.trims,
        )
        for attachment in chat.attachments:
            self._database.insert("attachments", chat=number, message=None, **attachment_in_own_form(attachment))
        return number

    def _add_messages(self, number: int, chat: WholeChat, known: "_Known") -> int:
        """Add the messages that are not in `known`, show the branch in view, and return how many were added."""
        placed: list[int] = []
        is_new = not known
        fresh = set()
        for message in chat.messages:
            parent = None if message.parent is None else placed[message.parent]
            key = (parent, message.role.value, clean(message.text))
            # Versions may have the same text: the first one is the first one, and so on.
            if known.get(key):
                placed.append(known[key].popleft())
            else:
                placed.append(self._add_message(number, parent, message))
                fresh.add(placed[-1])
        if fresh:
            leaf = placed[-1 if chat.leaf is None else chat.leaf]
            # A conversation that was continued here keeps its view, unless what is in view there is new.
            if leaf in fresh or is_new:
                self._database.connection.execute("UPDATE chats SET leaf = ? WHERE id = ?", (leaf, number))
            self._database.connection.execute(
                "UPDATE chats SET changed = max(changed, ?) WHERE id = ?", (chat.changed, number)
            )
        return len(fresh)

    def _add_message(self, chat: int, parent: int | None, message: WholeMessage) -> int:
        number = self._database.insert(
            "messages",
            chat=chat,
            parent=parent,
            role=message.role.value,
            text=clean(message.text),
            state=message.state.value,
            created=message.created,
            model=clean(message.model),
            figures=json.dumps(message.figures),
        )
        for attachment in message.attachments:
            self._database.insert("attachments", chat=chat, message=number, **attachment_in_own_form(attachment))
        return number


def _is_same(chat: WholeChat, messages: "_Known") -> bool:
    """Return whether a conversation begins like the one with these messages."""
    if not chat.messages:
        return not messages
    first = chat.messages[0]
    return (None, first.role.value, clean(first.text)) in messages


def _title(chat: WholeChat) -> str:
    """Return a title for a conversation that has none, since one without a title is not listed."""
    first = next((message for message in chat.messages if message.role is Role.USER), None)
    return (title_from(first.text, first.attachments) if first is not None else "") or _NO_TITLE
