"""Database row numbers of conversations and messages that may not have been saved yet.

Callers can refer to a row before it exists. The numbers are only used on the chats' thread, which does its work in
order, so that a row has been inserted by the time that something needs its number.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sotto.chats.chat_records import Attachment
from sotto.errors import SottoError
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore


class ChatRowId:
    """The row of a conversation, which is inserted when something of it is first saved."""

    def __init__(self, number: int | None) -> None:
        """Refer to the conversation of this number; None for one that has no row yet."""
        self._number = number

    def ensure(self, store: "ChatStore") -> int:
        """Return the number, inserting the row if there is none."""
        if self._number is None:
            self._number = store.add_chat()
        return self._number

    def keep_draft(self, store: "ChatStore", text: str) -> None:
        """Save the text of the draft; for an empty one, no row is inserted."""
        self._number = store.keep_draft(self._number, text)

    def keep_attachments(self, store: "ChatStore", attachments: Sequence[Attachment]) -> None:
        """Save the attachments of the draft; without any, no row is inserted."""
        self._number = store.keep_attachments(self._number, attachments)

    def choose(self, store: "ChatStore", system: str, options: Mapping[str, Any]) -> None:
        """Save the system prompt and the answer options."""
        store.change(self.ensure(store), system=system, options=dict(options))


class MessageRowId:
    """The row of a message, whose number is set once it has been inserted."""

    def __init__(self, number: int | None = None) -> None:
        """Refer to the message of this number; None for one that has no row yet."""
        self.number = number

    def require(self) -> int:
        """Return the number.

        Raises:
            SottoError: The message could not be saved.
        """
        if self.number is None:
            raise SottoError(tr("The message before this one could not be saved, so this one is not saved either."))
        return self.number
