"""The texts in the open editors of messages, and how they are saved."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, QTimer, Slot

from sotto.ui.conversation.chat_thread import ChatThread

_PAUSE_MS = 500


class OpenEdits(QObject):
    """The open edits of one conversation, on all its branches.

    Attributes:
        texts: The text of each edit, by the number of its message; the same mapping as long as the conversation is
            open.
    """

    def __init__(self, chats: ChatThread, saved: Mapping[int, str], parent: QObject | None = None) -> None:
        """Continue the edits `saved` in `chats`, which saves all further ones."""
        super().__init__(parent)
        self._chats = chats
        self.texts = dict(saved)
        # What is on the disk, as far as is known.
        self._saved = dict(saved)
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._timer.timeout.connect(self.save)

    def set_text(self, message: int, text: str) -> None:
        """Change the text in the editor of a message, which is saved soon; empty ends the edit."""
        _put(self.texts, message, text)
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def save(self) -> None:
        """Save what is not saved yet."""
        self._timer.stop()
        for message in self._unsaved():
            self._save_one(message, self.texts.get(message, ""))

    def take_over(self, found: Mapping[int, str]) -> None:
        """Take over edits read from the disk, which a change of messages has moved or removed.

        What has been typed since then stays.
        """
        newer = {message: self.texts.get(message, "") for message in self._unsaved()}
        self._saved = dict(found)
        self.texts.clear()
        self.texts.update(found)
        for message, text in newer.items():
            _put(self.texts, message, text)

    def _unsaved(self) -> list[int]:
        messages = self.texts.keys() | self._saved.keys()
        return [message for message in messages if self.texts.get(message) != self._saved.get(message)]

    def _save_one(self, message: int, text: str) -> None:
        # Until it is done, it counts as unsaved, so that older edits read in front of it do not replace it.
        self._chats.do(lambda store: store.keep_edit(message, text), lambda _: _put(self._saved, message, text))


def _put(texts: dict[int, str], message: int, text: str) -> None:
    if text:
        texts[message] = text
    else:
        texts.pop(message, None)
