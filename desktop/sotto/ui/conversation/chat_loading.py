"""Reads a conversation from disk when it is opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sotto.chats.chat_records import Attachment, Branch, Chat
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore


@dataclass(frozen=True, slots=True)
class LoadedChat:
    """A conversation as read from disk.

    Attributes:
        number: The number of the conversation.
        chat: Its metadata; None if there is no conversation of this number.
        attachments: The attachments of its draft.
        edits: The texts in the open editors of its messages, by the number of the message.
        branch: The turns of the branch in view.
    """

    number: int
    chat: Chat | None
    attachments: tuple[Attachment, ...]
    edits: Mapping[int, str]
    branch: Branch

    @property
    def problem(self) -> Problem | None:
        """The problem to report if some messages could not be read; None if all could."""
        lost = self.branch.unreadable
        if not lost:
            return None
        why = tr(
            "1 message of this chat can no longer be read; everything else is here.|"
            "{count} messages of this chat can no longer be read; everything else is here.",
            "",
            lost,
        )
        return Problem(tr("Not everything could be read"), why.format(count=wording.count(lost)))


def read_chat(store: "ChatStore", chat: int) -> LoadedChat:
    """Read a conversation, on the branch that was last in view."""
    return LoadedChat(chat, store.chat(chat), store.drafted(chat), store.edits(chat), store.branch(chat))


def read_unsent(store: "ChatStore") -> LoadedChat | None:
    """Read the conversation that has only a draft; None if there is none."""
    found = store.unbegun()
    return read_chat(store, found.id) if found is not None else None
