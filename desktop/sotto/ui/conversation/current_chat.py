"""The conversation that a window or panel shows."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, Slot

from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_sessions import ChatSessions
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.conversation.summary import draft_with_summary


class CurrentChat(QObject):
    """Holds the conversation in view, which is always one of the open ones.

    Signals:
        changed: Another conversation has come into view (`ChatSession`).

    Attributes:
        session: The conversation in view.
    """

    changed = Signal(object)

    def __init__(self, sessions: ChatSessions, parent: QObject | None = None) -> None:
        """Begin with a new conversation among `sessions`."""
        super().__init__(parent)
        self._sessions = sessions
        # The conversation that comes into view once it has been read; any other that is still being read does not.
        self._opening: int | None = None
        self.session = sessions.new()
        self._enter()

    def begin(self) -> None:
        """Show the conversation in which nothing was sent yet, if there is one."""
        self._show_unsent(lambda session: True)

    def new_chat(self) -> None:
        """Begin an empty conversation; an answer under way continues."""
        self.show(self._sessions.new())

    def write_new(self) -> None:
        """Begin a conversation; if words or files wait in one in which nothing was sent yet, show that one instead."""
        if not self.session.turns and self.session.draft.begun:
            return
        self.new_chat()
        self._show_unsent(lambda session: session.draft.begun)

    def open(self, chat: int, message: int | None = None) -> None:
        """Bring a conversation into view; an answer under way in the current one continues.

        Args:
            chat: Its number.
            message: The message to scroll to, on any branch; None to keep the position.
        """
        self._opening = chat

        def opened(session: ChatSession) -> None:
            if self._opening == chat:
                self.show(session)
                if message is not None:
                    session.branches.find(message)

        def failed() -> None:
            if self._opening == chat:
                self.new_chat()

        self._sessions.open(chat, opened, failed)

    def show(self, session: ChatSession) -> None:
        """Bring an open conversation into view."""
        self._opening = None
        if session is self.session:
            return
        before, self.session = self.session, session
        self._summary.close()
        self._enter()
        self._sessions.leave(before)
        self.changed.emit(session)

    def forget(self, chat: int) -> None:
        """Show a new conversation in place of the one with this number, if that is in view."""
        if chat == self.session.chat:
            self.new_chat()

    def close(self) -> None:
        """Leave the conversation in view, at the end."""
        self._summary.close()
        self._sessions.leave(self.session)

    def _show_unsent(self, is_wanted: Callable[[ChatSession], bool]) -> None:
        """Show the conversation in which nothing was sent yet in place of an empty one, once it has been read."""
        new = self.session

        def opened(session: ChatSession) -> None:
            is_unused = self.session is new and not (new.turns or new.draft.begun)
            if is_unused and self._opening is None and is_wanted(session):
                self.show(session)

        self._sessions.open_unsent(opened)

    def _enter(self) -> None:
        self._sessions.enter(self.session)
        self._summary = Subscription((self.session.summarized, self._begin_with))

    @Slot(str)
    def _begin_with(self, summary: str) -> None:
        """Begin a conversation with the summary of the one in view, and move its draft there."""
        text, attachments = self.session.draft.take()
        self.new_chat()
        self.session.draft.replace_draft(draft_with_summary(summary, text), attachments)
