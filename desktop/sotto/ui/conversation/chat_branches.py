"""Switches between the branches of a conversation, and changes the messages that are in it, on disk.

What is in view changes once the change is on disk. While anything is under way in the conversation, its branch in view
stays; a change that cannot wait is made as soon as nothing is.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from sotto.chats.chat_records import Branch
from sotto.ui.conversation.answer_text import answer_text, with_text
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.chat_writer import ChatWriter
from sotto.ui.conversation.open_edits import OpenEdits
from sotto.ui.conversation.row_ids import ChatRowId

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore
    from sotto.chats.message_changes import Deleted


def put_back(store: "ChatStore", deleted: "Deleted") -> None:
    """Put deleted messages back on disk."""
    from sotto.chats.message_changes import restore

    restore(store, deleted)


class ChatBranches(QObject):
    """Reads and changes the tree of messages of one conversation.

    Signals:
        read: A branch was read, to be shown (a tuple of `Turn`).
        found: The message that `find` looked for is in the conversation (its number).
        deleted: Messages were deleted (`Deleted`).
        branched: Another conversation was begun with messages of this one (its number).
    """

    read = Signal(object)
    found = Signal(int)
    deleted = Signal(object)
    branched = Signal(int)

    def __init__(
        self,
        chats: ChatThread,
        row_id: ChatRowId,
        writer: ChatWriter,
        edits: OpenEdits,
        is_busy: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        """Change a conversation.

        Args:
            chats: Stores it.
            row_id: The conversation's row on disk, which may not exist yet.
            writer: The turns in view.
            edits: The open edits, which changes of messages move or remove.
            is_busy: Returns whether anything is under way in the conversation.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self._chats, self._row_id, self._writer, self._edits, self._is_busy = chats, row_id, writer, edits, is_busy
        # Changes that wait until nothing is under way.
        self._waiting: list[Callable[[ChatStore], None]] = []

    def show_version(self, message: int) -> None:
        """Bring a version of a message into view, with the messages that follow it."""
        if not self._is_busy():
            self._change(lambda store: store.view(message))

    def find(self, message: int) -> None:
        """Emit `found`, bringing a branch with the message into view first unless anything is under way."""
        if self._writer.index_of(message) is None and not self._is_busy():
            self._change(lambda store: store.show(message), lambda _: self.found.emit(message))
        else:
            self.found.emit(message)

    def edit_answer(self, message: int, text: str) -> None:
        """Change the text of an answer, which stays as a version; what follows it follows the new version, too."""
        index = self._writer.index_of(message)
        if index is None or self._is_busy():
            return
        answer = self._writer.turns[index]
        if not text.strip() or text == answer_text(answer.text):
            return
        stored = with_text(answer.text, text)

        def work(store: "ChatStore") -> None:
            from sotto.chats.message_changes import edit_answer

            edit_answer(store, message, stored)

        self._change(work)

    def delete(self, message: int) -> None:
        """Delete a question and its answers; what follows them stays."""
        if self._is_busy():
            return

        def work(store: "ChatStore") -> "Deleted":
            from sotto.chats.message_changes import delete_exchange

            return delete_exchange(store, message)

        self._change(work, self.deleted.emit)

    def restore(self, deleted: "Deleted") -> None:
        """Put deleted messages back, at once or as soon as nothing is under way."""
        self._waiting.append(lambda store: put_back(store, deleted))
        self.catch_up()

    def branch_off(self, message: int) -> None:
        """Begin another conversation with copies of a message and of those before it."""

        def work(store: "ChatStore") -> int:
            from sotto.chats.message_changes import branch_off

            return branch_off(store, message)

        self._chats.do(work, self.branched.emit)

    def catch_up(self) -> None:
        """Make the changes that wait, if nothing is under way any more."""
        if self._waiting and not self._is_busy():
            waiting, self._waiting = self._waiting, []
            for change in waiting:
                self._change(change)

    def _change(self, work: Callable[["ChatStore"], Any], then: Callable[[Any], None] | None = None) -> None:
        """Make a change, show the branch that is in view afterwards, and call `then` with the result of `work`."""
        row_id = self._row_id
        self._edits.save()

        def change(store: "ChatStore") -> tuple[Any, Branch, dict[int, str]]:
            result, chat = work(store), row_id.ensure(store)
            return result, store.branch(chat), store.edits(chat)

        def changed(done: tuple[Any, Branch, dict[int, str]]) -> None:
            self._edits.take_over(done[2])
            if self._is_busy():
                # A question asked in the meantime belongs to the branch that was in view before.
                self._waiting.append(lambda store: None)
            else:
                self.read.emit(done[1].turns)
            if then is not None:
                then(done[0])

        self._chats.do(change, changed)
