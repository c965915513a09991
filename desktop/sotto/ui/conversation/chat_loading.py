"""What is read from the disk when a conversation is opened."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sotto.chats.chat_records import Attachment, Branch, Chat
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore


@dataclass(frozen=True, slots=True)
class LoadedChat:
    """A conversation as it is on the disk.

    Attributes:
        number: Its number.
        chat: What is known of it; None where there is none of that number.
        attachments: What goes along with its draft.
        branch: What was said.
    """

    number: int
    chat: Chat | None
    attachments: tuple[Attachment, ...]
    branch: Branch

    @property
    def problem(self) -> Problem | None:
        """What to say where not all of it could be read."""
        if not self.branch.unreadable:
            return None
        count = wording.count(self.branch.unreadable)
        what = "1 message" if self.branch.unreadable == 1 else f"{count} messages"
        why = f"{what} of this conversation cannot be read any more; everything else is here."
        return Problem("Not everything could be read", why)


def read_chat(store: "ChatStore", chat: int) -> LoadedChat:
    """Read a conversation on the branch that was in view last."""
    return LoadedChat(chat, store.chat(chat), store.drafted(chat), store.branch(chat))


def read_unbegun(store: "ChatStore") -> LoadedChat | None:
    """Read the conversation of which there is nothing but a draft; None where there is none."""
    found = store.unbegun()
    return read_chat(store, found.id) if found is not None else None
