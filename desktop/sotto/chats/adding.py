"""Adding imported conversations to the database, in steps, and none twice.

A conversation is already there if one with the same time of creation, which is not in the trash, begins with the same
message. Then only the messages that it lacks are added, as further branches: so a later export of the same
conversations brings what is new in them, and nothing is doubled.

Each step is a transaction with a bounded amount of text, so that whatever else is to be saved can be saved in between.
New conversations are pending until the last step, which lets all of them appear at once. After a failure, a
cancellation or a crash, `erase_some` of `pending_chats` erases them again; what a conversation that was there already
has got, it has got in one step, and keeps. So there are only ever whole conversations, and importing the same ones
again adds the rest.
"""

import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sotto.chats.chat_records import Attachment, Role, clean, title_from
from sotto.chats.database import Database
from sotto.chats.image_store import ImageStore
from sotto.chats.own_form import attachment_in_own_form
from sotto.chats.pending_chats import STEP, show, text_cost
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


class Adding:
    """Adds conversations, a step at a time.

    Attributes:
        added: What has been added so far.
        count: How many conversations have been dealt with so far.
        done: Whether that was the last step.
    """

    def __init__(self, database: Database, chats: Iterable[WholeChat]) -> None:
        """Look up what is there, and prepare to add `chats`, which are read as they are needed."""
        self._database = database
        self._images = ImageStore(database.path)
        self.added = Added()
        self.count, self.done = 0, False
        self._by_time: dict[float, list[int]] = defaultdict(list)
        rows = database.connection.execute("SELECT id, created FROM chats WHERE trashed IS NULL AND NOT pending")
        for number, created in rows:
            self._by_time[created].append(number)
        self._costs = self._add_all(chats)

    def step(self) -> None:
        """Add some conversations, or a part of a long one. After an error, no further step can follow.

        Raises:
            sqlite3.Error: Nothing of this step was added.
        """
        left = STEP
        with self._database.writing():
            for cost in self._costs:
                left -= cost
                if left <= 0:
                    return
            show(self._database, self.added.new)
            self.done = True

    def _add_all(self, chats: Iterable[WholeChat]) -> Iterator[int]:
        """Add everything, and yield the cost of each part, after which a step may end."""
        for chat in chats:
            known = self._known(chat)
            if known is None:
                yield from self._add_new(chat)
            else:
                yield self._grow(chat, *known)
            self.count += 1

    def _known(self, chat: WholeChat) -> "tuple[int, _Known] | None":
        """Return the number of a conversation that is there already, and its messages; None if it is not."""
        for number in self._by_time.get(chat.created, ()) if chat.created else ():
            # It may have been deleted between two steps.
            there = "SELECT 1 FROM chats WHERE id = ? AND trashed IS NULL"
            if self._database.connection.execute(there, (number,)).fetchone() is not None:
                messages = self._messages(number)
                if _is_same(chat, messages):
                    return number, messages
        return None

    def _add_new(self, chat: WholeChat) -> Iterator[int]:
        number = self._begin(chat)
        self._by_time[chat.created].append(number)
        self.added.new.append(number)
        self.added.lost += chat.lost
        yield text_cost(chat.draft, chat.attachments)
        yield from self._add_messages(number, chat, defaultdict(deque))

    def _grow(self, chat: WholeChat, number: int, messages: "_Known") -> int:
        """Add the messages that a conversation lacks, and return what it cost, including what was compared."""
        if sum(self._add_messages(number, chat, messages)):
            self.added.grown.append(number)
            self.added.lost += chat.lost
        else:
            self.added.known += 1
        return sum(text_cost(message.text, message.attachments) for message in chat.messages)

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
            pending=True,
        )
        self._attach(number, None, chat, chat.attachments)
        return number

    def _add_messages(self, number: int, chat: WholeChat, known: "_Known") -> Iterator[int]:
        """Add the messages that are not in `known`, yielding the cost of each, and bring the branch into view."""
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
                placed.append(self._add_message(number, parent, message, chat))
                fresh.add(placed[-1])
                yield text_cost(message.text, message.attachments)
        if fresh:
            leaf = placed[-1 if chat.leaf is None else chat.leaf]
            # A conversation that was continued here keeps its view, unless what is in view there is new.
            if leaf in fresh or is_new:
                self._database.connection.execute("UPDATE chats SET leaf = ? WHERE id = ?", (leaf, number))
            self._database.connection.execute(
                "UPDATE chats SET changed = max(changed, ?) WHERE id = ?", (chat.changed, number)
            )

    def _add_message(self, number: int, parent: int | None, message: WholeMessage, chat: WholeChat) -> int:
        added = self._database.insert(
            "messages",
            chat=number,
            parent=parent,
            role=message.role.value,
            text=clean(message.text),
            state=message.state.value,
            created=message.created,
            model=clean(message.model),
            figures=json.dumps(message.figures),
        )
        self._attach(number, added, chat, message.attachments)
        return added

    def _attach(self, number: int, message: int | None, chat: WholeChat, attachments: Iterable[Attachment]) -> None:
        """Add attachments; an image whose file is not there is lost."""
        for attachment in attachments:
            image = chat.images.get(attachment.image, b"") if attachment.image else b""
            if attachment.image and (not image or self._images.keep(image) != attachment.image):
                self.added.lost[Lost.IMAGE] += 1
            else:
                self._database.insert("attachments", chat=number, message=message, **attachment_in_own_form(attachment))


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
