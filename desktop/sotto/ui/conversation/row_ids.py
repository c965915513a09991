"""Where conversations and messages are on the disk: numbers that come later than what needs them.

Only the thread of the conversations looks into them, where what gives a number comes before what needs it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sotto.chats.chat_records import Attachment
from sotto.errors import SottoError

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore


class ChatRowId:
    """A conversation that gets its number when something of it is kept first."""

    def __init__(self, number: int | None) -> None:
        """Be the conversation of this number; None for one that is not begun."""
        self._number = number

    def begun(self, store: "ChatStore") -> int:
        """Return its number; begin it if it has none yet."""
        if self._number is None:
            self._number = store.add_chat()
        return self._number

    def keep_draft(self, store: "ChatStore", text: str) -> None:
        """Keep what was typed and not sent; nothing is begun where there is none."""
        self._number = store.keep_draft(self._number, text)

    def keep_attachments(self, store: "ChatStore", attachments: Sequence[Attachment]) -> None:
        """Keep what is attached to the draft; nothing is begun where there is none."""
        self._number = store.keep_attachments(self._number, attachments)

    def choose(self, store: "ChatStore", system: str, options: Mapping[str, Any]) -> None:
        """Keep what was chosen."""
        store.change(self.begun(store), system=system, options=dict(options))


class MessageRowId:
    """Where a message is on the disk; its number may come later."""

    def __init__(self, number: int | None = None) -> None:
        """Be the message of this number; None for one that will get it."""
        self.number = number

    def known(self) -> int:
        """Return its number.

        Raises:
            SottoError: It could not be saved.
        """
        if self.number is None:
            raise SottoError("The message before this one could not be saved, so this one is not saved either.")
        return self.number
